"""What ``check`` says of the reuse of claims, and what ``export`` writes for startds and schedds."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.classad import evaluate, parse, parse_ad, parse_old
from negotiator.cli import main
from pools import ad, job, slot, write_ads

LINE = "START = ($(START)) && (NegotiatorMatchExprPolicy =!= false)"
PE = "NEGOTIATOR_PE_JOB_ONLY_EXPR: Blocked =?= true\nNEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Big =!= true\n"
TESTING = "(true) && (NegotiatorMatchExprPolicy =!= false)"
SET = "{\n name per_user\n enabled TRUE\n limit users {*} to slots=2\n}\n"
CAN = "can be bypassed by further jobs of a claim: "
TRICKY = r"""policies:
  - name: notes
    applies_to: job
    expression: 'Note == "a$(HOME) \"q\" c:\\d"'
    description: 'no "notes" with $(HOME) \'
  - name: memory
    applies_to: match
    expression: 'MY.Big =!= true || TARGET.Memory > 9'
  - name: dollars
    applies_to: match
    expression: 'TARGET.Site != "$(X)" || MY.A'
  - {name: prio, applies_to: match, expression: MY.SubmitterUserPrio > 1}
  - {name: slots, applies_to: startd, expression: Mips < 10}
  - {name: schedds, applies_to: schedd, expression: Busy}
  - {name: tried, applies_to: job, expression: Tried, mode: warn}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function: the output of a command over a bundle."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bundle").mkdir()

    def call(text, *words, **files):
        (tmp_path / "bundle" / "pool.yaml").write_text(text)
        for name, content in files.items():
            (tmp_path / "bundle" / name.replace("_", ".")).write_text(content)
        done = CliRunner().invoke(main, [*words])
        assert done.exit_code == 0, done.output
        return done.output

    return call


def checked(run, text, starts=("true",), version="25.14.1", **files):
    """Return what check prints of reuse over a pool with these slots and a schedd of this version."""
    slots = [
        slot(place, MyType='"Machine"', Requirements="Start", Start=each) for place, each in enumerate(starts)
    ]
    schedd = {
        "MyType": '"Scheduler"',
        "Name": '"s"',
        "CondorVersion": f'"$CondorVersion: {version} 2026-01-01 $"',
    }
    write_ads(Path("pool.ads"), *slots, ad(**schedd), job(1, MyType='"Job"'))
    lines = run(text, "check", "bundle", "--pool", "pool.ads", **files).splitlines()
    return [each for each in lines if CAN in each or "claim is for one job" in each or "match: fill" in each]


def test_check_says_where_claims_are_for_one_job(run):
    [line] = checked(run, PE, ("true", TESTING, "true"))
    assert line.startswith("2 of 3 slots: each claim is for one job, since START does not test the policy")
    assert checked(run, PE, (TESTING, TESTING)) == []
    assert checked(run, "NEGOTIATOR_PE_STARTD_ONLY_EXPR: Mips < 10\n") == []


@pytest.mark.parametrize(
    "more", ["TARGET.Urgent =?= true", "Urgent =?= true", "MY.Urgent =?= true", 'eval("Urgent") =?= true']
)
def test_a_line_with_an_alternative_that_a_job_could_use_does_not_count(run, more):
    [line] = checked(run, PE, (f"(true) && (NegotiatorMatchExprPolicy =!= false || {more})", TESTING))
    assert line.startswith("1 of 2 slots: each claim is for one job")


def test_check_names_the_rules_that_can_be_bypassed_each_with_its_place(run):
    assert checked(run, PE + "reuse: allow\n") == [
        f"{CAN}expressions: NEGOTIATOR_PE_RESOURCE_EXPR (pool.yaml:2:30): reuse: allow is written",
        f"{CAN}expressions: NEGOTIATOR_PE_JOB_ONLY_EXPR (pool.yaml:1:30): reuse: allow is written",
    ]
    [line] = checked(run, "", slots_rqs=SET)
    assert line.startswith(f"{CAN}quotasets: per_user/1 (slots.rqs:4:2): it depends on what the pool uses")
    assert checked(run, "reuse: never\n") == ["1 of 1 slot: each claim is for one job"]


def test_check_prints_the_same_for_programs(run):
    output = json.loads(run(PE + "reuse: allow\n", "check", "bundle", "--format", "json"))
    assert output["bypassed"][1] == {
        "rule": "expressions: NEGOTIATOR_PE_JOB_ONLY_EXPR",
        "place": "pool.yaml:1:30",
        "why": "reuse: allow is written",
    }
    assert (output["one_job_slots"], output["reuse"]) == (0, [])


def test_check_names_schedds_that_use_a_claim_whatever_the_match_says(run):
    """They do not where the slots test the policy."""
    old = [each for each in checked(run, PE, version="10.2.9") if CAN in each]
    assert len(old) == 2
    assert all(
        "schedd s use a claim for further jobs whatever the match says: HTCondor 10.3" in each for each in old
    )
    assert not checked(run, PE, (TESTING,), version="10.2.9")


def test_check_without_a_pool_says_what_is_known_from_the_bundle_alone(run):
    policy = "policies: [{name: p, applies_to: match, expression: MY.A, reuse: allow}]\n"
    place = "expressions: p (pool.yaml:1:53): "
    assert f"{CAN}{place}reuse: allow is written" in run(policy, "check", "bundle")
    assert CAN not in run(PE, "check", "bundle")
    prio = "policies: [{name: p, applies_to: match, expression: MY.SubmitterUserPrio > 1}]\n"
    output = run(prio, "check", "bundle")
    assert f"each claim is for one job: {place}it reads submitteruserprio, which" in output


def test_check_says_that_slots_are_not_filled(run):
    assert any("match: fill has no effect" in each for each in checked(run, PE + "match: fill\n"))


def values(text, name):
    """Return the values of a macro that a text of configuration sets, with dollar signs."""
    found = re.findall(rf"^{re.escape(name)} = (.*)$", text, re.MULTILINE)
    return [each.replace("$(DOLLAR)", "$") for each in found]


def permits(text, slot_ad, job_ad):
    """Return whether all parts of START of a text permit a job on a slot."""
    parts = [each.removeprefix("($(START)) && ") for each in values(text, "START")]
    return all(evaluate(parse_old(each), parse_ad(slot_ad), parse_ad(job_ad)) is True for each in parts)


def test_start_permits_what_the_rules_do_and_any_slot_without_a_job(run):
    text = run(TRICKY, "export", "startd", "--bundle", "bundle")
    assert LINE in text.splitlines()
    slots = '[Memory = 100; Mips = 100; Site = "here"]'
    for given, permitted in (
        ("[ClusterId = 1; A = true]", True),
        (r'[ClusterId = 1; A = true; Note = "a$(HOME) \"q\" c:\\d"]', False),
        ("[ClusterId = 1; A = true; Big = true]", True),
        ("[]", True),
    ):
        assert permits(text, slots, given) is permitted
    assert not permits(text, "[Memory = 100; Mips = 1]", "[ClusterId = 1; A = true]")
    # A part of a partitionable slot is tested with what the whole slot has.
    part = "[DynamicSlot = true; Memory = 1; TotalSlotMemory = {}; Mips = 100]"
    big = "[ClusterId = 1; A = true; Big = true]"
    assert permits(text, part.format(100), big)
    assert not permits(text, part.format(5), big)


def test_each_line_has_its_rule_and_place_before_it_and_no_comment_swallows_the_next_line(run):
    lines = run(TRICKY, "export", "startd", "--bundle", "bundle").splitlines()
    for before, line in itertools.pairwise(lines):
        assert not before.endswith("\\")
        if line.startswith("START = ") and line != LINE:
            assert re.match(r"# expressions: \w+ \(pool.yaml:\d+:\d+\): ", before)


def test_submit_requirements_have_the_reason_and_transforms_the_rules_with_the_two_ads_exchanged(run):
    text = run(TRICKY, "export", "schedd", "--bundle", "bundle")
    [requirement] = values(text, "SUBMIT_REQUIREMENT_NegotiatorPolicy1")
    [reason] = values(text, "SUBMIT_REQUIREMENT_NegotiatorPolicy1_REASON")
    assert evaluate(parse(reason)) == 'no "notes" with $(HOME) \\'
    note = parse_ad(r'[Note = "a$(HOME) \"q\" c:\\d"]')
    assert evaluate(parse(requirement), parse_ad("[]"), note) is False
    assert evaluate(parse(requirement), note, parse_ad("[]")) is True
    assert (
        "   SET Requirements ($(MY.Requirements)) && ((MY.Big =!= true || TARGET.Memory > 9) =?= true)"
        in text
    )


@pytest.mark.parametrize(
    ("command", "left_out"),
    [
        ("startd", {"prio": "it reads submitteruserprio", "schedds": "it tests schedds"}),
        (
            "schedd",
            {
                "prio": "it reads",
                "schedds": "it tests",
                "slots": "it tests slots",
                "dollars": "its text has a dollar",
            },
        ),
    ],
)
def test_what_cannot_be_written_is_listed_at_the_end(run, command, left_out):
    text = run(TRICKY, "export", command, "--bundle", "bundle", slots_rqs=SET)
    listed = text.partition("# Not written here")[2].splitlines()
    found = {
        match[1]: match[2]
        for each in listed
        if (match := re.match(r"# expressions: (\w+) \(\S+\): (.*)", each))
    }
    assert {name: found[name][: len(why)] for name, why in left_out.items()} == left_out
    assert any(each.startswith("# quotasets: per_user/1 (slots.rqs:4:2): it depends") for each in listed)
    assert listed[-1].startswith("# shares and preemption of order: submitters")


def test_htcondor_reads_what_is_written(run, tmp_path):
    """Its own parser of configuration: the macros, dollar signs and comments with backslashes at their ends."""
    pytest.importorskip("htcondor2", reason="HTCondor's own library is not installed")
    lines = [run(TRICKY, "export", each, "--bundle", "bundle") for each in ("startd", "schedd")]
    (tmp_path / "config").write_text("START = true\nLOCAL_DIR = /nowhere\n" + "\n".join(lines))
    names = [
        "START",
        "SUBMIT_REQUIREMENT_NAMES",
        "SUBMIT_REQUIREMENT_NegotiatorPolicy1",
        "JOB_TRANSFORM_NAMES",
    ]
    code = f"import htcondor2, json; print(json.dumps([htcondor2.param[each] for each in {names}]))"
    environment = {**os.environ, "CONDOR_CONFIG": str(tmp_path / "config")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    start, requirements, notes, transforms = json.loads(done.stdout)
    assert start.count("NegotiatorMatchExprPolicy") == 1
    assert r'TARGET.Note == "a$(HOME) \"q\" c:\d"' in start
    assert requirements.split() == ["NegotiatorPolicy1"]
    assert notes == r'(TARGET.Note == "a$(HOME) \"q\" c:\\d") isnt true'
    assert transforms.split() == ["NegotiatorPolicy2"]


def test_check_warns_where_startds_grant_no_retirement_to_a_job_that_is_to_end(run):
    """What is left of a job's retirement counts only beyond the time in which the machine may be vacated."""
    kind = {"MyType": '"Machine"'}
    short = {**kind, "MaxJobRetirementTime": "300", "MachineMaxVacateTime": "10 * 60"}
    long = {**kind, "MaxJobRetirementTime": "300", "MachineMaxVacateTime": "10"}
    slots = [slot(0, **long), slot(1, **short), slot(2, **short), slot(3, **kind, MaxJobRetirementTime="0")]
    write_ads(Path("pool.ads"), *slots)
    words = ("check", "bundle", "--pool", "pool.ads")
    assert "s1@h and 1 more: a job that overruns: vacate ends gets no retirement" in run(
        "overruns: vacate\n", *words
    )
    assert "retirement" not in run("overruns: remove\n", *words)
