"""Hostile ads that are unlike each other: the work of a cycle, in calls of Python functions, stays near that of plain ads."""

import sys
from collections import Counter

import pytest

from negotiator.classad.scalar import evaluation
from negotiator.cycle.reasons import WORK_EXCEEDED
from negotiator_bench.unlike import chain, slot_attributes
from pools import cycle, job, matched, reasons, slot, snapshot

START = "Start && TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory"
SLOTS, JOBS = 300, 30


def slots(**hostile):
    made = [
        slot(n, Cpus=str(2 ** (n % 5)), Memory="4096", Start="true", Requirements=START) for n in range(SLOTS)
    ]
    return [
        *made,
        *([slot(SLOTS, **{"Cpus": "8", "Requirements": START} | hostile)] if hostile else []),
    ]


def jobs(owner="zoe", count=JOBS, **changed):
    return [
        job(n, Owner=f'"{owner}"', RequestCpus="1", RequestMemory=str(512 + n), **changed)
        for n in range(count)
    ]


def calls_of(pool):
    """Return the result of a cycle, and how many functions it called."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = cycle(pool)
    finally:
        sys.setprofile(before)
    return result, count


def plain_calls(**pool):
    """Return the calls of a cycle over plain ads; the first one fills caches of the process."""
    cycle(snapshot(**pool))
    return calls_of(snapshot(**pool))[1]


@pytest.mark.parametrize("seed", range(12))
def test_a_slot_of_any_kind_does_not_make_the_others_be_evaluated_one_by_one(monkeypatch, seed):
    """Each pair of slot and job was an evaluation of its own: 9,000 for each conjunct and rank."""
    hostile = slot_attributes("slots", seed)
    pool = snapshot(slots=slots(Machine='"evil"', **hostile), jobs=jobs())
    evaluated = []
    enter = evaluation.enter_ads
    monkeypatch.setattr(evaluation, "enter_ads", lambda *ads: (evaluated.append(None), enter(*ads)))
    result = cycle(pool)
    assert len(matched(result)) == JOBS
    assert len(evaluated) < 40 * JOBS


@pytest.mark.parametrize("form", ["{}", "MY.{}", "[a={}].a", "({} ?: 0)"])
def test_chains_of_different_lengths_are_followed_at_the_cost_of_their_owner(form):
    """Each job has another chain of references: their owner pays for each link, and the others lose nothing."""
    plain = plain_calls(slots=slots(), jobs=[*jobs(), *jobs("mallory", 150)])
    chains = [
        job(
            n,
            Owner='"mallory"',
            RequestCpus="1",
            RequestMemory="1",
            Requirements="N0 > 0",
            **chain(n + 1, "1", form),
        )
        for n in range(150)
    ]
    result, calls = calls_of(snapshot(slots=slots(), jobs=[*jobs(), *chains]))
    assert WORK_EXCEEDED.code in reasons(result) or len(matched(result)) == JOBS + 150
    assert calls < 8 * plain


def test_a_user_pays_for_following_ranks_that_no_other_job_has():
    """Each of 150 Ranks leads to a chain of up to 389 links: following them costs more than one user may take."""
    ranked = [
        job(n, Owner='"mallory"', RequestCpus="1", RequestMemory="1", Rank=f"N0 + {n}", **chain(n + 240, "1"))
        for n in range(150)
    ]
    result = cycle(snapshot(slots=slots(), jobs=[*jobs(), *ranked]))
    owners = Counter(match.job_ad.string("Owner") for match in result.matches)
    assert owners["zoe"] == JOBS
    assert owners["mallory"] < 30
    assert WORK_EXCEEDED.code in reasons(result)


def alike_jobs(count, **changed):
    return [job(n, QDate=str(n), **changed) for n in range(count)]


@pytest.mark.parametrize(
    "opaque",
    [
        {"Start": 'eval(strcat("TARGET.", "Req", "uestCpus")) > 0', "Requirements": "Start"},
        {"Rank": "random(3) + unparse(N0) + TARGET.ProcId"},
        {"Mips": "eval(TARGET.Cmd)"},
    ],
    ids=["Requirements", "Rank", "read by the jobs"],
)
def test_a_slot_that_may_read_anything_does_not_make_thousands_of_alike_jobs_unlike(opaque):
    """Few jobs are still told apart: it then is evaluated for each of them."""
    machines = [slot(n) for n in range(20)]
    machines[3] = slot(3, **opaque)
    for count, requests in ((30, 30), (2000, 1)):
        alike = alike_jobs(count, Rank="TARGET.Mips", RequestCpus="1")
        result = cycle(snapshot(machines, alike))
        assert result.counts.requests == requests
        assert len(matched(result)) == 20


def test_slots_that_all_may_read_anything_tell_all_jobs_apart():
    """They share the steps: a pool whose START calls eval loses nothing."""
    machines = [slot(n, Start='eval("TARGET.ProcId") % 2 == 0', Requirements="Start") for n in range(20)]
    result = cycle(snapshot(machines, alike_jobs(2000)))
    assert result.counts.requests == 2000
    assert [int(job.split(".")[1]) % 2 for job, _ in matched(result)] == [0] * 20


def test_a_slot_whose_requirements_read_themselves_does_not_keep_those_of_others_from_being_split():
    """The reason names the conjunct that is not true on each of the others."""
    pool = slots(Start="isUndefined(MY.Requirements)", Memory="999999")
    result = cycle(snapshot(pool, [job(0, RequestCpus="1", RequestMemory="99999")]))
    assert len(matched(result)) == 1
    removed = {each.reason.text: each.rejected for outcome in result.outcomes for each in outcome.removals}
    assert removed["the slot's Requirements: TARGET.RequestMemory <= MY.Memory"] == SLOTS
