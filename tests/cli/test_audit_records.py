"""``negotiator audit why`` without a job, ``who`` and ``changes``, as auditors call them, after a cycle and a reload."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.audit.log import AuditLog
from negotiator.audit.values import instant
from negotiator.cli import main
from pools import job, slot, write_ads

DAY = 86400


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The log of one cycle now (one match of ada, one denial of bob), after changes of ten and twenty days ago."""
    monkeypatch.chdir(tmp_path)
    times = [time.time() - days * DAY for days in (20, 10)]
    with AuditLog.open(tmp_path / "log", rotate_bytes=10**6) as opened:
        common = {"time": instant(times[0]), "bundle": "a" * 64}
        opened.append(
            [
                {"kind": "reload", **common, "trigger": "sue", "accepted": True, "new_bundle": "b" * 64},
                {
                    "kind": "admin",
                    "time": instant(times[1]),
                    "bundle": "b" * 64,
                    "user": "sue",
                    "action": "move",
                    "application": "s#7",
                    "queue": "root.x",
                    "ok": False,
                    "text": "no right",
                },
            ]
        )
    owners = ["ada", "bob"]
    jobs = [job(n, Owner=f'"{name}"', User=f'"{name}@d"') for n, name in enumerate(owners)]
    write_ads(tmp_path / "pool.ads", slot(0), *jobs)
    done = CliRunner().invoke(main, ["run", "pool.ads", "--audit-log", "log"])
    assert done.exit_code == 0, done.output
    return tmp_path / "log"


def ask(command, *words):
    return CliRunner().invoke(main, ["audit", command, "--audit-log", "log", *words])


@pytest.mark.parametrize("name", ["s0@h", "1.0", "ada", "ada@d"])
@pytest.mark.usefixtures("log")
def test_who_prints_the_matches_of_a_slot_a_job_or_a_user(name):
    (record,) = [json.loads(line) for line in ask("who", name, "--json").output.splitlines()]
    assert (record["kind"], record["job"], record["slot"], record["user"]) == ("match", "1.0", "s0@h", "ada")


@pytest.mark.usefixtures("log")
def test_the_table_has_the_decisive_reason_of_a_denial():
    lines = ask("why", "--kind", "denial").output.splitlines()
    assert lines[1].split() == ["TIME", "KIND", "WHO", "WHAT", "WHY", "BUNDLE"]
    assert lines[2].split()[2:4] == ["denial", "bob"]
    assert "1 job got no slot in root.default: 1.1" in lines[2]
    assert "the slot was granted to an earlier request" in lines[2]


@pytest.mark.usefixtures("log")
def test_changes_have_who_what_and_the_bundle():
    first, second = ask("changes").output.splitlines()[2:4]
    assert first.split()[2:4] == ["admin", "sue"]
    assert "move s#7 root.x: refused" in first
    assert "no right" in first
    assert "bundle bbbbbbbbbbbb loaded (sue)" in second
    assert second.split()[-1] == "b" * 12


@pytest.mark.parametrize(
    ("since", "kinds"),
    [
        ("15d", ["admin"]),
        ("300h", ["admin"]),
        ("100000m", ["admin", "reload"]),
        ("12 days ago, an instant", ["admin"]),
        ("25 days ago, a date", ["admin", "reload"]),
    ],
)
@pytest.mark.usefixtures("log")
def test_times_are_dates_instants_or_ago(since, kinds):
    days, _, form = since.partition(" days ago, ")
    if form:
        since = instant(time.time() - int(days) * DAY)[: 10 if form == "a date" else None]
    found = [
        json.loads(line)["kind"] for line in ask("changes", "--since", since, "--json").output.splitlines()
    ]
    assert found == kinds


@pytest.mark.usefixtures("log")
def test_a_limit_that_was_reached_is_said():
    done = ask("why", "--limit", "1")
    assert "there may be more: use --limit, --since or --until" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["who", "nobody"], 1, "no such record in log"),
        (
            ["changes", "--since", "2090-01-01"],
            1,
            "no change by an administrator, and no reload of the bundle, in log",
        ),
        (["why", "--audit-log", "elsewhere"], 3, "read the folder of the audit log"),
        (["why", "--since", "yesterday"], 2, "'yesterday' is not a time: use 2026-11-20"),
        (["why", "--job", "x"], 2, "'x' is not the id of a job"),
        (["why", "--limit", "0"], 2, "--limit"),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_is_not_there_or_wrong_is_said(words, code, message):
    done = ask(*words)
    assert (done.exit_code, message in done.output) == (code, True), done.output


@pytest.mark.usefixtures("log")
def test_names_from_ads_are_printed_without_control_characters():
    with AuditLog.open(Path("log"), rotate_bytes=10**6) as opened:
        opened.append([{"kind": "admin", "user": "e\x1b[31mvil", "text": "x"}])
    assert "\x1b" not in ask("changes").output
