"""``negotiator audit sql`` and ``export``, as auditors call them."""

import json
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from negotiator.audit.log import AuditLog
from negotiator.cli import main
from negotiator.exit_codes import ExitCode
from terminals import on_terminal

#: Runs a command, and prints a line when DuckDB is about to run the query.
SLOW = """
import signal
from negotiator.audit.sql import LogTables
from negotiator.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)
run = LogTables._run

def shown(*arguments):
    print("running", flush=True)
    return run(*arguments)

LogTables._run = shown
main()
"""


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    """A log of 60 matches, of which one names a user who wrote an escape sequence."""
    monkeypatch.chdir(tmp_path)
    common = {"kind": "match", "time": "2026-11-20T14:30:00.000Z"}
    with AuditLog.open(tmp_path / "log", rotate_bytes=10**6) as opened:
        opened.append([{**common, "user": "e\x1b[31mve" if n == 0 else f"u{n}"} for n in range(60)])


def ask(command, *words):
    return CliRunner().invoke(main, ["audit", command, "--audit-log", "log", *words])


def test_a_table_has_all_rows_in_a_pipe_and_on_a_terminal_those_that_fit(tmp_path):
    done = ask("sql", "SELECT seq, user FROM records ORDER BY seq")
    title, headers, first, *_ = done.stdout.splitlines()
    assert (done.exit_code, title, headers.split()) == (0, "60 rows", ["SEQ", "USER"])
    assert "\x1b" not in first
    assert len(done.stdout.rstrip("\n").splitlines()) == 62
    assert done.stderr == ""
    shown = on_terminal(
        "audit", "sql", "SELECT seq, user FROM records ORDER BY seq", "--audit-log", "log", cwd=tmp_path
    )
    assert len(shown) < 24
    assert shown[-1] == "Details: --limit, --csv or --json"
    ten = ask("sql", "SELECT seq, user FROM records ORDER BY seq", "--limit", "10")
    assert len(ten.stdout.rstrip("\n").splitlines()) == 12
    assert "and 50 more rows: use --limit, --csv or --json" in ten.stderr


def test_csv_and_json_have_all_rows():
    lines = ask("sql", "SELECT seq, user FROM records ORDER BY seq", "--csv").stdout.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("seq,user", "60,u59", 61)
    objects = ask("sql", "SELECT seq, NULL AS x FROM records ORDER BY seq", "--json").stdout.splitlines()
    assert (json.loads(objects[0]), len(objects)) == ({"seq": 1, "x": None}, 60)


def test_exported_records_are_queried_like_the_log():
    assert ask("export", "x.parquet").stdout == "x.parquet: 60 records\n"
    assert (
        ask("sql", "SELECT count(*) AS n FROM records", "--audit-log", "x.parquet", "--csv").stdout
        == "n\n60\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["sql", "DROP VIEW records"], 1, "only one SELECT is permitted"),
        (["sql", "SELECT x FROM records"], 1, 'Referenced column "x" not found'),
        (["sql", "SELECT 1", "--audit-log", "nowhere"], 3, "read the folder of the audit log"),
        (["sql", "SELECT 1", "--csv", "--json"], 2, "exclude each other"),
        (["sql", "SELECT 1", "--timeout", "0"], 2, "--timeout"),
        (["export", "missing/x"], 3, "missing/x: cannot write"),
    ],
)
def test_what_cannot_be_answered_is_said(words, code, message):
    done = ask(*words)
    assert (done.exit_code, message in done.output) == (code, True), done.output


def test_ctrl_c_ends_a_query(tmp_path):
    """Without a traceback, and with the exit code of an interrupted command."""
    endless = "SELECT count(*) FROM range(10000000000) a, range(1000) b"
    start = [
        sys.executable,
        "-c",
        SLOW,
        "audit",
        "sql",
        endless,
        "--audit-log",
        str(tmp_path / "log"),
        "--timeout",
        "600",
    ]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "running\n"
        time.sleep(0.5)  # mostly the query has begun; Ctrl-C before it ends the command alike
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (ExitCode.INTERRUPTED, "interrupted\n")
