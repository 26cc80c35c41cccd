"""Two decisions of a cycle are compared job by job, and the differences of many cycles are added up."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.cycle.decisions import CycleDecisions, DecidedRequest, RuleReason
from negotiator.cycle.jobs import parse_ranges
from negotiator.explain.comparison import ChangeKind, MatchChanges, RuleChanges, compare, merged
from pools import cycle, job, slot, snapshot, write_bundle

LARGE = "policies:\n  - {name: large, applies_to: match, expression: TARGET.Memory > 5000}\n"
OTHERS = 'policies:\n  - {name: no-bob, applies_to: match, expression: MY.Owner != "bob"}\n'


@pytest.fixture
def decided(tmp_path):
    """Return a function that decides about a pool under a bundle of this text."""

    def decide(pool, text, name):
        write_bundle(tmp_path / name, text)
        return CycleDecisions.of(cycle(pool, tmp_path / name))

    return decide


def test_jobs_count_for_the_rule_that_denies_them_now_or_denied_them_before(decided):
    slots = [slot(0), slot(1, Memory="9000"), slot(2, Memory="9000"), slot(3)]
    jobs = [
        job(n, Owner=f'"{name}"', Rank="TARGET.Memory") for n, name in enumerate(("ann", "ann", "ann", "bob"))
    ]
    pool = snapshot(slots, jobs)
    found = compare(decided(pool, LARGE, "old"), decided(pool, OTHERS, "new"), 7, 9)
    assert found.users == {"ann": MatchChanges(before=2, gained=1), "bob": MatchChanges(reason=1)}
    assert found.total == MatchChanges(before=2, gained=1, reason=1)
    rules = {each.rule.rule: attrs.evolve(each, rule=None) for each in found.rules}
    assert rules["large"] == RuleChanges(None, gained=1)
    assert rules["no-bob"] == RuleChanges(None, denies=1)
    ((gained, waits),) = [found.jobs]
    assert (gained.cycle, gained.kind, gained.job, gained.before) == (7, ChangeKind.GAINED, "1.2", "")
    assert gained.after in {"s0@h", "s3@h"}
    assert (waits.kind, waits.denies.rule) == (ChangeKind.REASON, "no-bob")
    assert compare(decided(pool, LARGE, "again"), decided(pool, OTHERS, "other"), 7, 1).jobs_left_out == 1


def test_a_lost_job_counts_for_the_policy_and_not_for_the_slots_that_others_took(decided):
    users = [job(0, Owner='"ann"'), job(1, Owner='"bob"')]
    pool = snapshot([slot(0), slot(1, Memory="9000")], users)
    old, new = decided(pool, "", "old"), decided(pool, LARGE, "new")
    assert "taken" in {each.decisive.code for each in new.requests if each.decisive}
    assert [(each.rule.rule, each.lost) for each in compare(old, new).rules] == [("large", 1)]


def test_jobs_of_an_ad_that_stands_for_several_count_each(decided):
    pool = snapshot([slot(n) for n in range(4)], [job(_condor_RESOURCE_COUNT="6", JobStatus=None)])
    fewer = attrs.evolve(pool, slots=pool.slots.take([0, 1]))
    old, new = decided(fewer, "", "old"), decided(pool, "", "new")
    assert compare(old, new).users == {"tester": MatchChanges(before=2, gained=2)}
    assert compare(new, old).users == {"tester": MatchChanges(before=4, lost=2)}
    none = compare(old, decided(fewer, LARGE, "none"), most_jobs=9)
    assert (none.users, none.jobs_left_out) == ({"tester": MatchChanges(before=2, lost=2, reason=4)}, 0)


def test_a_discarded_job_has_the_gate_as_its_rule(decided):
    gate = "NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.ProcId == 1\n"
    pool = snapshot([slot(0), slot(1)], [job(0), job(1)])
    found = compare(decided(pool, "", "old"), decided(pool, gate, "new"))
    assert found.users == {"tester": MatchChanges(before=2, lost=1)}
    assert [(each.rule.plugin, each.lost) for each in found.rules] == [("expressions", 1)]


REASONS = [RuleReason("p", name, "", name, "denied", "") for name in "abc"]
SLOTS = ["", "s1", "s2", "s3"]


@st.composite
def decisions(draw):
    """Return decisions about up to eight jobs, in requests of several jobs."""
    requests = []
    free = list(range(8))
    for user in "xyz":
        own = draw(st.lists(st.sampled_from(free), unique=True)) if free else []
        free = [each for each in free if each not in own]
        where = {each: draw(st.sampled_from(SLOTS)) for each in own}
        left = [f"1.{each}" for each in own if not where[each]]
        request = DecidedRequest(
            "h",
            user,
            decisive=draw(st.sampled_from(REASONS)) if left else None,
            matches=tuple((f"1.{each}", slot) for each, slot in where.items() if slot),
            left=parse_ranges(left),
        )
        requests.append(request)
    return CycleDecisions("digest", tuple(requests))


def by_job(found):
    """Return the user, the slot and the reason of each job."""
    jobs = {}
    for request in found.requests:
        jobs |= {job: (request.user, slot, None) for job, slot in request.matches}
        for cluster, first, last in request.left.bounds.tolist():
            jobs |= {
                f"{cluster}.{proc}": (request.user, "", request.decisive) for proc in range(first, last + 1)
            }
    return jobs


def change(was, now):
    """Return the kind of change of one job; empty if there is none."""
    if was[1] and now[1]:
        return "moved" if was[1] != now[1] else ""
    if was[1] or now[1]:
        return "lost" if was[1] else "gained"
    return "reason" if was[2] != now[2] else ""


@settings(max_examples=150, deadline=None)
@given(old=decisions(), new=decisions())
def test_the_sums_are_those_of_single_jobs(old, new):
    was, now, expected, before = by_job(old), by_job(new), Counter(), Counter()
    for each in was.keys() | now.keys():
        one, other = was.get(each, ("", "", None)), now.get(each, ("", "", None))
        user = other[0] or one[0]
        before[user] += bool(one[1])
        if kind := change(one, other):
            expected[user, kind] += 1
    found = compare(CycleDecisions.decode(old.encode()), new, 1, 99)
    sums = {
        (user, kind): count
        for user, own in found.users.items()
        for kind in ("gained", "lost", "moved", "reason")
        if (count := getattr(own, kind))
    }
    assert (sums, len(found.jobs)) == (dict(expected), sum(expected.values()))
    assert {user: own.before for user, own in found.users.items() if own.before} == dict(+before)
    assert sum(each.lost for each in found.rules) == found.total.lost
    twice = merged([found, found])
    assert (twice.cycles, twice.total) == (2, found.total + found.total)
    assert not compare(new, new).total.changed
