"""The records that the audit log has of a cycle's result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from negotiator.audit.chain import MAX_LINE
from negotiator.audit.log import AuditLog
from negotiator.audit.records import intent_records, outcome_records
from negotiator.audit.verify import verify
from negotiator.bundle.model import AuditSettings, DecisionSelection
from negotiator.classad import Ad, parse
from negotiator.cycle.result import (
    CycleCounts,
    CycleResult,
    DiscardedAds,
    InUseCount,
    Removal,
    RequestOutcome,
)
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import Expression
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.overruns import Eviction, EvictionOutcome, Overrun, OverrunAction
from negotiator.hooks.records import Match, Request
from negotiator.records import Mode, Provenance, Reason, Source, Station, Verdict

SECRET = "<10.0.0.1:9618>#1700000000#1#secret"  # noqa: S105 - a claim id nobody has
COUNTS = CycleCounts(schedds=1, submitters=1, slots=9, jobs=5, admitted_slots=8, admitted_jobs=4, requests=2)


def reason(rule="small", *, mode=Mode.ENFORCE, text="the machine is too small", **more):
    where = Provenance(Station.MATCH, "expressions", "1.2", rule, Source("pool.yaml", 12, 3))
    return Reason(Verdict.DENIED, "job_constraint", text, where, mode, **more)


def a_match(number=1, **changes):
    values = {
        "id": f"7.{number}",
        "submitter": "ada@pool",
        "schedd": "submit1",
        "job": f"12.{number}",
        "slot": f"slot{number}@node",
        "job_ad": Ad([("Owner", "ada"), ("Priority", number), ("ClaimId", SECRET)]),
        "slot_ad": Ad([("Name", f"slot{number}@node"), ("Mips", 100 * number), ("Capability", SECRET)]),
        "rank": 2.5,
        "queue": "root.a",
    }
    return Match(**(values | changes))


def an_outcome(*matches, jobs=1, removals=(), owner="ada"):
    request = Request("ada@pool", "submit1", Ad([("Owner", owner)]), jobs, "12.1", "root.a")
    first = f"12.{len(matches) + 1}" if jobs > len(matches) else ""
    return RequestOutcome(request, matches, first, 3, tuple(removals))


def an_overrun(number=0, **changed):
    """Return a running job that a rule would deny."""
    own = {"job": f"12.{number}", "schedd": "submit1", "user": "ada", "slot": f"slot{number}@node"}
    return Overrun(
        **({"reason": reason(), "subject": "job 12.0 of ada on slot1@node", "since": 7.0} | own | changed)
    )


def an_exceeded_limit(subject="user ada in root"):
    numbers = {"resource": "vcore", "used": 3000, "limit": 2000, "counter": ("user", "ada", "root", "vcore")}
    return Overrun(reason=reason(), subject=subject, since=7.0, **numbers)


def a_result(*outcomes, **changes):
    values = {
        "number": 7,
        "now": 1700000000.25,
        "digest": "d1",
        "plugins": ("expressions 1.2", "calendar 3"),
        "counts": COUNTS,
        "discarded": (),
        "outcomes": outcomes,
        "failures": (),
    }
    return CycleResult(**(values | changes))


def records_of(result, kind=None, **settings):
    return [
        each for each in intent_records(result, AuditSettings(**settings)) if kind in {None, each["kind"]}
    ]


def expression(text):
    return Expression(parse(text), text)


def test_a_match_has_job_slot_and_reason():
    """With the digest of the bundle."""
    (record,) = records_of(a_result(an_outcome(a_match())), "match")
    assert record == {
        "kind": "match",
        "cycle": 7,
        "time": "2023-11-14T22:13:20.250Z",
        "bundle": "d1",
        "id": "7.1",
        "user": "",
        "submitter": "ada@pool",
        "schedd": "submit1",
        "job": "12.1",
        "slot": "slot1@node",
        "queue": "root.a",
        "rank": 2.5,
        "candidates": 3,
        "reason": {
            "code": "best_rank",
            "text": "ranks among the best of the slots that no rule removed",
            "provenance": record["reason"]["provenance"],
        },
        "warnings": [],
    }
    assert record["reason"]["provenance"]["station"] == "match"


def test_a_warning_has_its_provenance():
    """A match that a warning would have forbidden names the rule, its plugin and its place."""
    soft = reason("soft", mode=Mode.WARN)
    removals = [Removal(soft, 2, 2), Removal(reason("hard"), 1, 1)]
    (record,) = records_of(a_result(an_outcome(a_match(warnings=(soft,)), removals=removals)), "match")
    (warning,) = record["warnings"]
    assert (warning["provenance"]["rule"], warning["mode"]) == ("soft", "warn")
    assert warning["provenance"]["plugin"] == "expressions"
    assert warning["provenance"]["source"] == "pool.yaml:12:3"


def test_only_the_record_of_the_cycle_has_its_plugins():
    """They are the same for all its records, and took a sixth of each."""
    result = a_result(an_outcome(a_match(), jobs=2), discarded=(DiscardedAds(AdKind.JOB, reason(), 1, ()),))
    records = [*records_of(result), *outcome_records(result, [], {})]
    assert {record["kind"]: record.get("plugins") for record in records} == {
        "match": None,
        "denial": None,
        "discard": None,
        "cycle": ["expressions 1.2", "calendar 3"],
        "outcome": None,
    }


def test_the_record_of_a_cycle_has_the_users_and_queues_with_most_jobs_in_use():
    """Thirty of each, and the number of all jobs."""
    found = [InUseCount(f"u{n}", f"root.q{n % 2}", n) for n in range(40)]
    found.append(InUseCount("u3", "root.q0", 100))
    (record,) = records_of(a_result(in_use=tuple(found)), "cycle")
    in_use = record["in_use"]
    assert (in_use["jobs"], in_use["queues"]) == (880, {"root.q0": 480, "root.q1": 400})
    assert list(in_use["users"].items())[:2] == [("u3", 103), ("u39", 39)]
    assert len(in_use["users"]) == 30


def test_the_unmatched_jobs_of_a_request_are_one_record():
    """It has their number, the first of them, and every reason with its numbers and provenance."""
    removing = reason(numbers={"needed": 128, "limit": 64.5, "unit": "MiB"})
    outcome = an_outcome(a_match(), jobs=5, removals=[Removal(removing, 2, 6)])
    (record,) = records_of(a_result(outcome), "denial")
    reasons = record.pop("reasons")
    assert record == {
        "kind": "denial",
        "cycle": 7,
        "time": "2023-11-14T22:13:20.250Z",
        "bundle": "d1",
        "user": "",
        "submitter": "ada@pool",
        "schedd": "submit1",
        "jobs": 4,
        "first_job": "12.2",
        "queue": "root.a",
        "matched": 1,
        "candidates": 3,
        "decisive": 0,
        "reasons_left_out": 0,
        "job_ids": [],
        "job_ids_left_out": 0,
    }
    assert reasons == [
        {
            "verdict": "denied",
            "mode": "enforce",
            "code": "job_constraint",
            "text": "the machine is too small",
            "numbers": {"needed": 128, "limit": 64.5, "unit": "MiB"},
            "provenance": {
                "station": "match",
                "plugin": "expressions",
                "version": "1.2",
                "rule": "small",
                "source": "pool.yaml:12:3",
            },
            "removed": 2,
            "rejected": 6,
        }
    ]


def test_a_request_with_all_jobs_matched_has_no_denial():
    """No job was denied."""
    assert records_of(a_result(an_outcome(a_match())), "denial") == []


def test_discarded_ads_and_failed_plugins_are_recorded():
    """There is one record for each kind of ads and reason, and one for each failure."""
    result = a_result(
        discarded=(DiscardedAds(AdKind.STARTD, reason("slow"), 12, ("slot1@a", "slot2@a")),),
        failures=(
            HookFailure("calendar", "3", "negotiator_filter_slots", "plugin calendar raised KeyError"),
        ),
    )
    (discard,) = records_of(result, "discard")
    assert (discard["ads"], discard["count"], discard["examples"]) == ("startd", 12, ["slot1@a", "slot2@a"])
    assert discard["reason"]["provenance"]["rule"] == "slow"
    (failure,) = records_of(result, "failure")
    assert failure["plugin"] == "calendar"
    assert failure["message"] == "plugin calendar raised KeyError"


def test_the_cycle_record_is_last_and_counts_all_others():
    """It has the time in both forms, the sizes, and how many matches and denials were made and recorded."""
    result = a_result(an_outcome(a_match(1), a_match(2), jobs=3), an_outcome(jobs=2))
    record = records_of(result, matches=DecisionSelection.NONE)[-1]
    assert (record["kind"], record["cycle"]) == ("cycle", 7)
    assert (record["time"], record["now"]) == ("2023-11-14T22:13:20.250Z", 1700000000.25)
    assert record["counts"]["admitted_slots"] == 8
    assert (record["matches"], record["matches_recorded"]) == (2, 0)
    assert (record["denials"], record["denials_recorded"]) == (2, 2)


def test_a_selection_of_none_keeps_cycles_discards_and_failures():
    """Only matches and denials are selected; cycles, discards and failures are always recorded."""
    result = a_result(
        an_outcome(a_match(), jobs=2),
        discarded=(DiscardedAds(AdKind.JOB, reason(), 1, ()),),
        failures=(HookFailure("calendar", "3", "negotiator_gate_ads", "broken"),),
    )
    kinds = [
        each["kind"]
        for each in records_of(result, matches=DecisionSelection.NONE, denials=DecisionSelection.NONE)
    ]
    assert kinds == ["discard", "failure", "cycle"]


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        ("TARGET.Mips > 150", ["7.2", "7.3"]),
        ("MY.Priority == 1", ["7.1"]),
        ("true", ["7.1", "7.2", "7.3"]),
        ("false", []),
        ("0", []),
        ("0.0", []),
        ("MY.Priority - 2", ["7.1", "7.3"]),
        ('"no"', ["7.1", "7.2", "7.3"]),
        ("MY.NoSuchAttribute > 1", ["7.1", "7.2", "7.3"]),
        ("error", ["7.1", "7.2", "7.3"]),
        ("time() == 1700000000", ["7.1", "7.2", "7.3"]),
        ("time() != 1700000000", []),
    ],
)
def test_an_expression_selects_matches_and_a_mistake_in_it_loses_none(text, recorded):
    """MY is the job, TARGET the slot; only false excludes a match: undefined, error and strings record it."""
    result = a_result(an_outcome(a_match(1), a_match(2), a_match(3), jobs=3))
    assert [each["id"] for each in records_of(result, "match", matches=expression(text))] == recorded


def test_a_job_cannot_hide_its_match():
    """The administrator's TARGET is the slot, even if the job's ad defines an attribute TARGET."""
    hiding = a_match(2, job_ad=Ad([("TARGET", parse("[ Mips = 0 ]")), ("Owner", "eve")]))
    result = a_result(an_outcome(hiding))
    assert len(records_of(result, "match", matches=expression("TARGET.Mips > 150"))) == 1


def test_an_expression_selects_denials_by_the_request():
    """MY is the ad of the request; there is no slot."""
    result = a_result(an_outcome(owner="ada"), an_outcome(owner="eve"))
    assert len(records_of(result, "denial")) == 2
    (record,) = records_of(result, "denial", denials=expression('MY.Owner == "eve"'))
    assert record["cycle"] == 7
    assert len(records_of(result, "denial", denials=expression("TARGET.Mips > 150"))) == 2


def test_every_field_is_documented():
    """Each field of each kind of record is in docs/audit.md."""
    document = (Path(__file__).parents[2] / "docs" / "audit.md").read_text()
    outcome = an_outcome(a_match(), jobs=2, removals=[Removal(reason(), 1, 1)])
    discarded = (DiscardedAds(AdKind.JOB, reason(), 1, ()),)
    result = a_result(
        outcome,
        discarded=discarded,
        failures=(HookFailure("calendar", "3", "hook", "broken"),),
        overruns=(an_exceeded_limit(), an_overrun()),
        overruns_begun=(an_exceeded_limit(), an_overrun()),
    )
    evicted = [EvictionOutcome(Eviction(overrun=an_overrun(), startd="", fast=False), accepted=True)]
    records = [*records_of(result), *outcome_records(result, [], {}, evicted=evicted)]
    rows = {row.split("`")[1]: row for row in document.splitlines() if row.startswith("| `")}
    for record in records:
        for field in record.keys() - {"kind", "cycle", "time", "bundle"}:
            assert f"`{field}`" in rows[record["kind"]], (record["kind"], field)
    assert {record["kind"] for record in records} == {
        "match",
        "denial",
        "discard",
        "failure",
        "overrun",
        "cycle",
        "outcome",
    }


def test_what_is_to_end_comes_before_what_begins_and_ends_and_names_its_rule():
    ending = an_overrun(1, action=OverrunAction.VACATE)
    evictions = (Eviction(overrun=ending, startd="<10.0.0.1:9618>", fast=False),)
    limit = an_exceeded_limit()
    result = a_result(
        overruns=(limit, an_overrun(), ending),
        overruns_begun=(limit, an_overrun()),
        overruns_ended=(an_overrun(2),),
        evictions=evictions,
        unjudged=4,
    )
    *_, first, second, third, fourth, last = records_of(result)
    assert [each["change"] for each in (first, second, third, fourth)] == ["evict", "begun", "begun", "ended"]
    assert (first["job"], first["slot"], first["action"]) == ("12.1", "slot1@node", "vacate")
    assert (first["since"], first["reason"]["provenance"]["source"]) == (
        "1970-01-01T00:00:07.000Z",
        "pool.yaml:12:3",
    )
    assert (second["resource"], second["used"], second["limit"]) == ("vcore", 3000, 2000)
    assert {"job", "slot"}.isdisjoint(second)
    assert (last["overruns"], last["overruns_left_out"], last["unjudged"]) == (3, 0, 4)
    assert [(each["jobs"], each["reason"]["provenance"]["rule"]) for each in last["overruns_by_rule"]] == [
        (2, "small")
    ]


def test_of_many_overruns_ten_thousand_changes_are_recorded_and_the_others_counted():
    found = tuple(an_overrun(number, subject="x" * 900) for number in range(10_050))
    records = records_of(a_result(overruns=found, overruns_begun=found))
    recorded = [each for each in records if each["kind"] == "overrun"]
    assert [each["job"] for each in recorded] == [f"12.{number}" for number in range(10_000)]
    assert max(len(each["subject"]) for each in recorded) == 500
    assert (records[-1]["overruns"], records[-1]["overruns_left_out"]) == (10_050, 50)


def test_the_outcome_has_what_became_of_jobs_that_were_asked_to_end():
    asked = [
        EvictionOutcome(
            Eviction(overrun=an_overrun(number), startd="", fast=True), accepted=not text, text=text
        )
        for number, text in enumerate(["", "no answer"])
    ]
    (record,) = outcome_records(a_result(), [], {}, evicted=asked)
    assert record["evicted"] == [
        {"schedd": "submit1", "job": "12.0", "slot": "slot0@node", "accepted": True, "text": ""},
        {"schedd": "submit1", "job": "12.1", "slot": "slot1@node", "accepted": False, "text": "no answer"},
    ]


def test_claim_ids_are_not_recorded():
    """Only named fields of ads are recorded."""
    result = a_result(an_outcome(a_match(), jobs=2, removals=[Removal(reason(), 1, 1)]))
    assert "secret" not in json.dumps([*records_of(result), *outcome_records(result, ["7.1"], {})])


def test_outcomes_have_each_match_once():
    """Delivered, printed, failed with a reason, or unknown if the pool gave no answer."""
    result = a_result(an_outcome(*map(a_match, range(1, 5)), jobs=4))
    (record,) = outcome_records(result, ["7.1"], {"7.2": "the schedd is gone"}, ["7.4"])
    assert record == {
        "kind": "outcome",
        "cycle": 7,
        "time": "2023-11-14T22:13:20.250Z",
        "bundle": "d1",
        "part": 1,
        "parts": 1,
        "delivered": ["7.1"],
        "printed": ["7.4"],
        "failed": {"7.2": "the schedd is gone"},
        "unknown": ["7.3"],
    }


def test_a_cycle_without_matches_has_an_outcome_too():
    """The record shows that the cycle ended."""
    (record,) = outcome_records(a_result(), [], {})
    assert [record[name] for name in ("delivered", "printed", "failed", "unknown")] == [[], [], {}, []]


def test_very_many_matches_are_recorded_in_parts():
    """The size of a record does not grow with the pool."""
    result = a_result(an_outcome(*(a_match(number) for number in range(1, 12_001)), jobs=12_000))
    parts = outcome_records(result, [match.id for match in result.matches], {})
    assert [(part["part"], part["parts"], len(part["delivered"])) for part in parts] == [
        (1, 3, 5000),
        (2, 3, 5000),
        (3, 3, 2000),
    ]
    assert [each for part in parts for each in part["delivered"]] == [match.id for match in result.matches]


def test_hostile_texts_fit_into_the_log(tmp_path):
    """Long names, texts and lists of reasons from ads are bounded, so that no job can stop the audit log."""
    long = "\U0001f600\udc80" * 10_000
    where = Provenance(Station.MATCH, long, long, long, Source(long))
    numbers = {f"{number}{long}": long for number in range(100)}
    hostile = Reason(Verdict.DENIED, long, long, where, Mode.WARN, numbers)
    removals = [Removal(hostile, 1, 1)] * 2000
    matches = [
        a_match(
            number,
            submitter=long,
            schedd=long,
            job=long,
            slot=long,
            id=f"{number}{long}",
            warnings=(hostile,),
        )
        for number in range(2)
    ]
    result = a_result(
        an_outcome(*matches, jobs=3, removals=removals),
        discarded=(DiscardedAds(AdKind.JOB, hostile, 1, (long,)),),
        failures=(HookFailure(long, long, long, long),),
    )
    many = a_result(an_outcome(*(a_match(number) for number in range(5000)), jobs=5000))
    with AuditLog.open(tmp_path / "audit", rotate_bytes=10**9) as log:
        log.append(intent_records(result, AuditSettings()))
        log.append(outcome_records(result, [], {match.id: long for match in matches}))
        log.append(outcome_records(many, [], {match.id: long for match in many.matches}))
    lines = (tmp_path / "audit" / "audit-000001.jsonl").read_bytes().splitlines()
    assert max(map(len, lines)) < MAX_LINE
    assert verify(tmp_path / "audit").fault is None


def warning_record(**changes):
    (record,) = records_of(a_result(an_outcome(a_match(warnings=(reason(**changes),)))), "match")
    return record["warnings"][0]


@pytest.mark.parametrize("length", [255, 256, 257, 10_000])
def test_names_have_256_characters_and_a_cut_one_ends_in_an_ellipsis(length):
    name = "n" * length
    (record,) = records_of(a_result(an_outcome(a_match(slot=name))), "match")
    assert record["slot"] == (name if length <= 256 else name[:255] + "…")
    assert warning_record(rule=name)["provenance"]["rule"] == record["slot"]


@pytest.mark.parametrize("length", [499, 500, 501, 10_000])
def test_the_text_of_a_reason_has_500_characters(length):
    text = "t" * length
    assert warning_record(text=text)["text"] == (text if length <= 500 else text[:499] + "…")


@pytest.mark.parametrize("length", [63, 64, 65, 10_000])
def test_a_reason_has_16_numbers_with_names_and_texts_of_64_characters(length):
    text = "x" * length
    shown = text if length <= 64 else text[:63] + "…"
    numbers = warning_record(numbers={text: text, **{f"n{each}": each for each in range(20)}})["numbers"]
    assert numbers == {shown: shown, **{f"n{each}": each for each in range(15)}}


def test_of_very_many_reasons_those_that_removed_most_are_recorded():
    """Those that removed most slots are recorded in their order, the rest are counted."""
    removals = [Removal(reason(f"rule {number}"), number % 150, number) for number in range(150)]
    (record,) = records_of(a_result(an_outcome(removals=removals)), "denial")
    count = len(record["reasons"])
    assert 10 < count <= 100
    assert [each["provenance"]["rule"] for each in record["reasons"]] == [
        f"rule {number}" for number in range(150 - count, 150)
    ]
    assert record["reasons_left_out"] == 150 - count


@pytest.mark.parametrize(
    ("rank", "text"), [(float("inf"), "inf"), (float("-inf"), "-inf"), (float("nan"), "nan")]
)
def test_infinity_and_nan_are_recorded_as_text(rank, text):
    """A job's Rank may be any real."""
    (record,) = records_of(a_result(an_outcome(a_match(rank=rank))), "match")
    assert record["rank"] == text


def test_the_same_result_gives_the_same_bytes():
    """A replayed cycle can be compared with its records."""
    result = a_result(
        an_outcome(a_match(), jobs=2, removals=[Removal(reason(numbers={"b": 1, "a": 2}), 1, 1)])
    )
    settings = AuditSettings(matches=expression("random(10) < 5"))
    assert json.dumps(intent_records(result, settings)) == json.dumps(intent_records(result, settings))
