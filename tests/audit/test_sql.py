"""The audit log as tables in SQL: what they have, and that a query reaches nothing else."""

import builtins
import json
import os
import stat
from pathlib import Path

import pytest

from negotiator.audit import sql
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.sql import LogTables, QueryError, RowForm
from negotiator.audit.sql_tables import REASONS, RECORDS
from negotiator.errors import CommandError

DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"
TIME = "2026-11-20T14:30:00.250Z"


def reason(rule, **fields):
    origin = {"station": "match", "plugin": "limits", "rule": rule, "source": f"{rule}.yaml:3:5"}
    return {
        "verdict": "waiting",
        "code": rule,
        "text": f"{rule} says no",
        "numbers": {"needed": 2, "used": 7, "limit": 8.5},
        "provenance": origin,
        **fields,
    }


def match(number, user="ada", **fields):
    decided = {"code": "best_rank", "text": "ranks best", "provenance": {"rule": "rank", "source": None}}
    common = {"kind": "match", "cycle": number, "time": TIME, "bundle": "b" * 64, "user": user}
    return {**common, "job": f"{number}.0", "slot": "s1@h", "rank": "inf", "reason": decided, **fields}


DENIAL = {
    "kind": "denial",
    "cycle": 2,
    "time": TIME,
    "bundle": "b" * 64,
    "plugins": ["as earlier versions wrote them"],
    "user": "bob",
    "jobs": 3,
    "first_job": "12.4",
    "reasons": [reason("first", removed=9, rejected=11), reason("second", removed=1, rejected=1)],
    "decisive": 1,
}


def write(folder, *records, rotate_bytes=10**6):
    with AuditLog.open(folder, rotate_bytes=rotate_bytes) as log:
        for record in records:
            log.append([record])
    return folder


@pytest.fixture
def folder(tmp_path):
    """A log of two files, in a folder whose name has what patterns and texts of SQL have."""
    warned = match(1, warnings=[reason("soft", mode="warn")])
    write(tmp_path / "it's 1 other", match(9, "eve"))
    return write(tmp_path / "it's [1]*?", warned, DENIAL, match(3), rotate_bytes=1500)


def ask(folder, text, **limits):
    with LogTables(folder) as tables:
        tables.query(text, **limits)
        return list(tables.rows(RowForm.TEXTS))


def test_a_record_is_a_row_with_the_reason_that_decided(folder):
    assert len(list(folder.glob("audit-*"))) > 1
    time = "2026-11-20 14:30:00.25"
    query = "SELECT time, job, jobs, slot, rank, code, reason, rule, source, needed, used, limit_amount FROM records"
    found = ask(folder, f"{query} ORDER BY seq")
    best = (time, "1.0", "1", "s1@h", "inf", "best_rank", "ranks best", "rank", *[None] * 4)
    denied = ("second", "second says no", "second", "second.yaml:3:5", "2.0", "7.0", "8.5")
    assert found[:2] == [best, (time, "12.4", "3", None, None, *denied)]


def test_each_reason_of_a_denial_and_each_warning_is_a_row_of_its_own(folder):
    found = ask(folder, "SELECT seq, mode, rule, decisive, removed, rejected FROM reasons ORDER BY ALL")
    assert found == [
        ("1", "warn", "soft", "false", None, None),
        ("2", None, "first", "false", "9", "11"),
        ("2", None, "second", "true", "1", "1"),
    ]


def test_the_record_of_a_placement_has_its_last_step_and_that_of_an_administrator_its_answer(tmp_path):
    steps = [{"rule": "user", "text": "x"}, {"rule": "fixed", "source": "queues.yaml:2:1", "text": "fits"}]
    placed = {"kind": "placement", "time": TIME, "jobs": 4, "first_job": "7.0", "steps": steps, "code": "ok"}
    asked = {"kind": "admin", "time": TIME, "user": "sue", "action": "move", "ok": False, "text": "no right"}
    write(tmp_path / "log", placed, asked)
    found = ask(tmp_path / "log", "SELECT jobs, job, code, reason, rule, source, action, ok FROM records")
    assert found == [
        ("4", "7.0", "ok", "fits", "fixed", "queues.yaml:2:1", None, None),
        (None, None, None, "no right", None, None, "move", "false"),
    ]


def test_whole_records_are_there_as_json(folder):
    (record,) = ask(folder, "SELECT record FROM log WHERE seq = 2")
    assert DENIAL.items() <= json.loads(record[0]).items()


def test_an_unfinished_last_line_is_left_out(folder):
    """A negotiator that writes a record leaves it for a moment."""
    last = max(folder.glob("audit-*"))
    with last.open("ab") as opened:
        opened.write(b'{"seq":4,"prev":"0","kind":"match","us')
    assert ask(folder, "SELECT max(seq), count(*) FROM records") == [("3", "3")]


@pytest.mark.parametrize(("place", "line"), [(0, b'{"seq":4,"prev"\n'), (-1, b"x\n"), (0, b'{"seq":4')])
def test_any_other_line_that_is_not_a_record_is_named(folder, place, line):
    file = sorted(folder.glob("audit-*"))[place]
    number = file.read_bytes().count(b"\n") + 1
    file.write_bytes(file.read_bytes() + line)
    with pytest.raises(AuditError, match=rf"{file.name}:{number}: not a record"):
        ask(folder, "SELECT * FROM records")


def test_a_user_cannot_hide_records_by_bytes_that_are_not_utf_8(tmp_path):
    """The log has them as lone surrogates, which are no JSON for DuckDB."""
    names = ["eve\udcff", "\ud83d", "plain", "smile \U0001f600", "back\\ud800slash"]
    write(tmp_path / "log", *(match(number, name) for number, name in enumerate(names, 1)))
    shown = ["eve?", "?", *names[2:]]
    assert ask(tmp_path / "log", "SELECT user FROM records ORDER BY seq") == [(name,) for name in shown]
    assert ask(tmp_path / "log", "SELECT count(*) FROM log") == [("5",)]


@pytest.mark.parametrize(
    "text",
    [
        "COPY records TO '{new}'",
        "COPY (SELECT 1) TO '{log}'",
        "EXPORT DATABASE '{new}'",
        "ATTACH '{new}'",
        "ATTACH ':memory:' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "PRAGMA enable_profiling",
        "PRAGMA version",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "CALL pragma_version()",
        "CREATE TABLE x (a int)",
        "DROP VIEW records",
        "INSERT INTO corrected_lines VALUES ('{{}}')",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY records TO '{new}'",
        "SELECT 1) ; COPY (SELECT 1) TO '{new}' --",
        "SELECT 1) UNION (SELECT 2",
        "",
        "SELECT",
        "SELECT '\udcff'",
    ],
)
def test_only_one_select_is_permitted(folder, text, tmp_path):
    log = min(folder.glob("audit-*"))
    before = log.read_bytes()
    with pytest.raises(QueryError, match=r"only one SELECT is permitted|invalid SQL"):
        ask(folder, text.format(new=tmp_path / "new", log=str(log).replace("'", "''")))
    assert not (tmp_path / "new").exists()
    assert log.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        "FROM read_csv('/etc/passwd')",
        "FROM read_text('/etc/passwd')",
        "FROM read_blob('/proc/self/environ')",
        "FROM sniff_csv('/etc/passwd')",
        "FROM parquet_metadata('/etc/passwd')",
        "FROM '/etc/passwd'",
        "FROM '{other}'",
        "FROM read_json('{other}')",
        "FROM glob('/etc/*')",
        "FROM read_text('{bundles}/*')",
        "FROM read_csv('https://192.0.2.1/x.csv')",
        "FROM query('COPY (SELECT 1) TO ''{new}''')",
        "FROM enable_profiling(save_location := '{new}')",
        "FROM enable_logging(storage := 'file', storage_path := '{new}')",
        "FROM sqlite_scan('{new}', 'x')",
        "WITH x AS (DELETE FROM corrected_lines RETURNING *) FROM x",
        "SELECT getenv('HOME')",
        "FROM tables",
    ],
)
def test_a_select_reads_no_other_file_and_writes_none(folder, text, tmp_path):
    """Neither variables of the environment nor of the program."""
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}')
    (folder / "bundles").mkdir()
    bundles = str(folder / "bundles").replace("'", "''")
    before = set(tmp_path.rglob("*"))
    with pytest.raises(CommandError):
        ask(folder, text.format(other=other, bundles=bundles, new=tmp_path / "new"))
    assert set(tmp_path.rglob("*")) == before


def test_a_query_is_stopped_after_its_time(folder):
    with pytest.raises(QueryError, match=r"stopped after 0.2 s.*--timeout"):
        ask(folder, "SELECT sum(hash(i)) FROM range(1000000000000) t(i)", seconds=0.2)


def test_a_query_is_stopped_above_its_memory(folder, monkeypatch):
    monkeypatch.setitem(sql._CONFIGURATION, "memory_limit", "50MB")
    with pytest.raises(QueryError, match="the query takes more than 2GB of memory"):
        ask(folder, "SELECT list(i) FROM range(1000000000000) t(i)")


def test_rows_are_also_json_objects(folder):
    with LogTables(folder) as tables:
        found = tables.query("SELECT seq, user FROM records ORDER BY seq DESC")
        rows = [json.loads(text) for (text,) in tables.rows(RowForm.JSON, limit=2)]
    assert [(column.name, column.is_number) for column in found.columns] == [("seq", True), ("user", False)]
    assert (found.count, rows) == (3, [{"seq": 3, "user": "ada"}, {"seq": 2, "user": "bob"}])


def test_exported_records_are_the_same_table(folder, tmp_path):
    file = tmp_path / "records.parquet"
    os.umask(before := os.umask(0o022))
    with LogTables(folder) as tables:
        assert tables.export(file) == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o640 & ~before
    assert ask(file, "FROM records ORDER BY seq") == ask(folder, "FROM records ORDER BY seq")
    types = dict(ask(file, "SELECT column_name, column_type FROM (DESCRIBE records)"))
    assert (types["time"], types["seq"], types["used"]) == ("TIMESTAMP", "BIGINT", "DOUBLE")
    assert {each.name for each in tmp_path.iterdir()} == {file.name, folder.name, "it's 1 other"}


def test_records_of_a_time_are_exported(tmp_path):
    times = [f"2026-11-{day}T00:00:00.000Z" for day in (19, 20, 21)]
    write(tmp_path / "log", *(match(number, time=time) for number, time in enumerate(times)))
    with LogTables(tmp_path / "log") as tables:
        assert tables.export(tmp_path / "x.parquet", since=1795132800.0, until=1795219200.0) == 1
    assert ask(tmp_path / "x.parquet", "SELECT time FROM records") == [("2026-11-20 00:00:00",)]


def test_a_file_that_cannot_be_written_is_named(folder, tmp_path):
    with (
        LogTables(folder) as tables,
        pytest.raises(AuditError, match=r"missing.x: cannot write the exported"),
    ):
        tables.export(tmp_path / "missing" / "x")


def test_without_duckdb_the_error_names_the_extra(folder, monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "duckdb":
            raise ImportError("No module named 'duckdb'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(CommandError, match=r"needs DuckDB.*pip install 'pool-negotiator\[sql\]'"):
        LogTables(folder)


def test_a_folder_without_a_log_is_an_error(tmp_path):
    with pytest.raises(AuditError, match="no audit log"):
        LogTables(tmp_path)


def test_every_column_is_documented():
    text = DOCUMENT.read_text(encoding="utf-8")
    section = text[text.index("### SQL") : text.index("### The policy that was in force")]
    assert [each.name for each in (*RECORDS, *REASONS) if f"`{each.name}`" not in section] == []
