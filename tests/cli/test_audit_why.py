"""``negotiator audit why``: what the log alone has about a job or a slot, folded, with the text of the rules at that time."""

import json

import pytest
from click.testing import CliRunner

from negotiator.audit.bundles import bundle_file, store_bundle
from negotiator.audit.log import AuditLog
from negotiator.audit.values import instant
from negotiator.bundle.archive import digest_of
from negotiator.cli import main
from terminals import on_terminal

RULES = "policies:\n  - name: small\n    expression: {text}\n    description: few\n  - name: other\n"
OLD, NEW = ({"pool.yaml": RULES.format(text=text).encode()} for text in ("MY.Size > 9", "MY.Size > 5"))
BEGUN = 1_700_000_000


def reason(rule="small", source="pool.yaml:3:17", plugin="expressions", verdict="denied"):
    place = {"station": "match", "plugin": plugin, "rule": rule, "source": source}
    return {"verdict": verdict, "code": rule, "text": f"{rule} says no", "provenance": place}


def record(kind, cycle, files=NEW, schedd="submit1", **fields):
    common = {"kind": kind, "cycle": cycle, "time": instant(BEGUN + cycle * 60), "bundle": digest_of(files)}
    return {**common, "user": "sue", "schedd": schedd, "queue": "root.a", **fields}


def denial(cycle, files=NEW, given=(), **fields):
    ids = {"first_job": "12.0", "job_ids": ["12.0-9"], "jobs": 10}
    found = {"reasons": list(given) or [reason()], "decisive": 0}
    return record("denial", cycle, files, **{**ids, **found, **fields})


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Job 12.7 was denied 200 times under an old text of a rule and 12 times under a new one, and then got a slot."""
    monkeypatch.chdir(tmp_path)
    records = [
        *(denial(cycle, OLD) for cycle in range(200)),
        *(denial(cycle) for cycle in range(200, 212)),
        denial(212, reasons=[], decisive=None),
        record("match", 213, job="12.7", slot="slot1@node", reason=reason("rank", None, "negotiator", "")),
        record("match", 214, job="13.0", slot="slot1@node", reason=reason("rank", None, "negotiator", "")),
        record(
            "discard", 215, ads="startd", count=1, examples=["slot1@node"], reason=reason("old", None, "p")
        ),
    ]
    with AuditLog.open(tmp_path / "log", rotate_bytes=10**6) as opened:
        opened.append(records)
    for files in (OLD, NEW):
        store_bundle(tmp_path / "log", digest_of(files), files)
    return tmp_path / "log"


def ask(*words):
    return CliRunner().invoke(main, ["audit", "why", "--audit-log", "log", *words])


@pytest.mark.usefixtures("log")
def test_decisions_by_one_rule_of_one_bundle_are_one_line_and_the_newest_comes_first():
    lines = ask("12.7").output.splitlines()
    assert lines[0] == "Job 12.7 of sue, in root.a"
    assert lines[1].startswith("Matched to slot1@node in cycle 213, 2023-11-15 01:46:20: ")
    rows = [line.split() for line in lines[5:9]]
    assert [row[:2] for row in rows] == [
        ["matched", "1"],
        ["waiting", "1"],
        ["denied", "12"],
        ["denied", "200"],
    ]
    assert rows[3][2:6] == ["2023-11-14", "22:13:20", "2023-11-15", "01:32:20"]
    assert "small says no (small at pool.yaml:3:17)" in lines[8]
    assert rows[3][-1] == digest_of(OLD)[:12]
    assert "other jobs got the last slots" in lines[6]


@pytest.mark.usefixtures("log")
def test_the_text_of_a_rule_is_that_of_the_bundle_of_the_decision():
    """The entry of the list that the place is in, and not the next one."""
    text = ask("12.7").output
    new, old = (text.index(f"pool.yaml:3 in bundle {digest_of(files)[:12]}") for files in (NEW, OLD))
    assert text[new:old].splitlines()[1:] == [
        "      2 |   - name: small",
        "  >   3 |     expression: MY.Size > 5",
        "      4 |     description: few",
    ]
    assert ">   3 |     expression: MY.Size > 9" in text[old:]


@pytest.mark.usefixtures("log")
def test_a_slot_has_the_users_of_its_jobs_and_why_it_was_set_aside():
    lines = ask("slot1@node").output.splitlines()
    assert lines[:2] == ["Slot slot1@node", "Set aside in cycle 215, 2023-11-15 01:48:20: old says no (old)"]
    rows = [line.split() for line in lines[5:7]]
    assert [row[:3] for row in rows] == [["set", "aside", "1"], ["matched", "2", "2023-11-15"]]
    assert "jobs of sue in root.a: the last one was 13.0" in lines[6]


@pytest.mark.usefixtures("log")
def test_the_time_is_bounded():
    found = json.loads(
        ask("12.7", "--since", "2023-11-15T01:30Z", "--until", "2023-11-15T01:45Z", "--json").output
    )
    assert [(each["decision"], each["times"]) for each in found["periods"]] == [("denied", 12), ("denied", 3)]
    assert found["is_complete"]
    assert found["periods"][0]["text"]["lines"][1] == "    expression: MY.Size > 5"


def test_a_text_that_is_missing_or_was_changed_is_not_shown(log):
    bundle_file(log, digest_of(OLD)).unlink()
    bundle_file(log, digest_of(NEW)).write_bytes(b"{}")
    lines = ask("12.7").output.splitlines()
    assert any(f"not shown: log: no copy of bundle {digest_of(OLD)}" in line for line in lines)
    assert any("not shown: log/bundles" in line for line in lines)


def test_of_many_rules_a_screen_is_printed(log):
    with AuditLog.open(log, rotate_bytes=10**6) as opened:
        opened.append([denial(300 + n, given=[reason(f"rule{n}", f"pool.yaml:{n}:1")]) for n in range(1, 40)])
    short = on_terminal("audit", "why", "12.7", "--audit-log", "log", cwd=log.parent)
    piped, full = (ask("12.7", *words).output.splitlines() for words in ((), ("--full",)))
    assert len(short) < 45 < len(full)
    assert any("and 38 more rules: use --full" in line for line in short)
    assert piped == full
    assert any("not shown: pool.yaml has fewer than 39 lines" in line for line in full)


def test_a_job_of_several_schedds_is_ambiguous(log):
    with AuditLog.open(log, rotate_bytes=10**6) as opened:
        opened.append([denial(300, schedd="submit2", given=[reason("there")])])
    done = ask("12.7")
    assert (done.exit_code, "write submit2#12.7, submit1#12.7" in done.output) == (2, True)
    assert "there says no" in ask("Submit2#12.7").output
    assert "there says no" not in ask("submit1#12").output


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["99.0"], 1, "no decision in log names '99.0'"),
        (["slot9@node"], 1, "no decision in log names 'slot9@node'"),
        (["12.7", "--audit-log", "elsewhere"], 3, "read the folder of the audit log"),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_is_not_there_is_said(words, code, message):
    done = ask(*words)
    assert (done.exit_code, message in done.output) == (code, True), done.output


def test_escape_sequences_of_names_are_not_printed(log):
    with AuditLog.open(log, rotate_bytes=10**6) as opened:
        opened.append([denial(300, user="e\x1b[31m", given=[reason("x\x1b[31m")])])
    assert "\x1b" not in ask("12.7").output


@pytest.mark.usefixtures("log")
def test_filters_select_among_the_decisions_about_a_job():
    """The heading, the counts and the texts of the rules are those of the selected decisions."""
    for words, decisions in (
        (("--kind", "match"), [("matched", 1)]),
        (("--kind", "denial", "--until", "2023-11-15T01:33Z"), [("denied", 200)]),
        (("--slot", "slot1@node"), [("matched", 1)]),
        (("--user", "sue", "--queue", "root.a", "--text", "MALL SAYS"), [("denied", 12), ("denied", 200)]),
        (("--limit", "3"), [("matched", 1), ("waiting", 1), ("denied", 1)]),
    ):
        found = json.loads(ask("12.7", *words, "--json").stdout)
        assert [(each["decision"], each["times"]) for each in found["periods"]] == decisions, words
    for words in (("--user", "ann"), ("--queue", "root.b"), ("--kind", "admin"), ("--slot", "slot2@node")):
        assert ask("12.7", *words).exit_code == 1, words


@pytest.mark.usefixtures("log")
def test_a_limit_that_was_reached_is_said():
    done = ask("12.7", "--limit", "3")
    assert done.output.splitlines()[1].startswith("Matched to slot1@node in cycle 213")
    assert "there may be more: use --limit, --since or --until" in done.stderr


@pytest.mark.usefixtures("log")
def test_the_records_are_those_that_are_added_up_the_oldest_first():
    """One JSON object a line, from the whole log; filters and a limit count too."""
    for words, cycles in (
        (("12.7",), [*range(214)]),
        (("SUBMIT1#12.7", "--kind", "match"), [213]),
        (("submit2#12.7",), []),
        (("12.7", "--kind", "denial", "--limit", "2"), [211, 212]),
        (("slot1@node",), [213, 214, 215]),
        (("slot1@node", "--kind", "discard"), [215]),
        (("slot1@node", "--job", "13"), [214]),
        (("--kind", "match"), [213, 214]),
    ):
        done = ask(*words, "--records")
        assert [json.loads(line)["cycle"] for line in done.stdout.splitlines()] == cycles, words
        assert done.exit_code == (0 if cycles else 1)
        assert done.stderr == ("" if cycles else "no such record in log\n")


@pytest.mark.parametrize(
    ("words", "other"),
    [(("12.7", "--job", "12.8"), "12.8"), (("slot1@node", "--slot", "slot2@node"), "slot2@node")],
)
@pytest.mark.parametrize("more", [(), ("--records",)])
@pytest.mark.usefixtures("log")
def test_two_jobs_or_two_slots_are_refused(words, other, more):
    done = ask(*words, *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{words[0]} and {other} are both given: use one of them" in done.stderr


@pytest.mark.usefixtures("log")
def test_the_log_is_that_of_the_environment_and_of_the_file_of_the_service(tmp_path):
    (tmp_path / "service.yaml").write_text("audit_log: log\n")
    with_file, with_variable = (
        CliRunner().invoke(main, ["audit", "why", "12.7", *words], env=variables)
        for words, variables in ((("--config", "service.yaml"), {}), ((), {"NEGOTIATOR_AUDIT_LOG": "log"}))
    )
    assert with_file.exit_code == 0
    assert with_file.output == with_variable.output == ask("12.7").output
