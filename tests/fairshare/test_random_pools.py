"""Pools drawn at random: the negotiator decides as the simple one of the tests does."""

import tempfile
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import condor_cycle
from negotiator.plugin import RequestOrder
from random_pools import CONTENT, after, pools, runs, unstable_pools
from simple_negotiator import Negotiator
from simple_negotiator.accounts import MISSING

EVERY = settings.default.max_examples
SLOW = settings(derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def differences(pool, events=()):
    """Yield a line for each difference between the two in a run of cycles."""
    simple = Negotiator(CONTENT, pool)
    with tempfile.TemporaryDirectory() as folder:
        replay = condor_cycle.Replay(CONTENT, pool, Path(folder) / "bundle")
    for event in (*events, None):
        expected, result = simple.decide(pool), replay.decide(pool)
        yield from condor_cycle.differences({"given": pool, "expect": expected}, result, replay.job_ids)
        yield from _account_differences(simple.accounts, replay.rows)
        if event is not None:
            pool = after(pool, expected["matches"], event)


def _account_differences(accounts, rows):
    found = {key.removeprefix("account:"): row for key, row in rows.items() if key.startswith("account:")}
    if found.keys() != accounts.rows.keys():
        yield f"accounts: {sorted(found)}, not {sorted(accounts.rows)}"
    for name, row in found.items():
        for field in accounts.rows.get(name, {}).keys() | row.keys() - {"Name"}:
            expected, value = accounts.get(name, field), row.get(field, MISSING.get(field, 0))
            if field == "Priority":
                expected = max(expected, 0.5)  # where nobody looked at it, it may still be less
            if field == "PriorityFactor" and min(value, expected) < 1:  # as good as none
                continue
            if value != pytest.approx(expected, rel=1e-9):
                yield f"{field} of {name}: {value}, not {expected}"


@settings(SLOW, max_examples=EVERY * 2 // 5)
@given(pools(grouped=False))
def test_a_random_pool_is_decided_as_the_simple_negotiator_does(pool):
    """Matches, rejections and their reasons, spins, shares, limits and accounts agree."""
    assert [*differences(pool)] == []


@settings(SLOW, max_examples=EVERY * 2 // 5)
@given(pools(grouped=True))
def test_a_random_pool_with_groups_is_decided_as_the_simple_negotiator_does(pool):
    """Quotas, surplus, the order of the groups and their rounds agree too."""
    assert [*differences(pool)] == []


@settings(SLOW, max_examples=EVERY * 2 // 5)
@given(st.booleans().flatmap(lambda grouped: unstable_pools(grouped=grouped)))
def test_preemption_that_is_tested_again_for_each_match_is_decided_as_the_simple_negotiator_does(pool):
    """Candidates are listed anew where PREEMPTION_REQUIREMENTS_STABLE or PREEMPTION_RANK_STABLE say so."""
    assert [*differences(pool)] == []


class CountedRuns(RequestOrder):
    """Another allocator, whose runs are counted, or whose requests are asked for one by one (``splits``)."""

    def __init__(self, order, *, splits):
        self.order, self.splits, self.runs = order, splits, 0
        self.next, self.feedback, self.offer = order.next, order.feedback, order.offer
        self.wait_reason, self.ended = order.wait_reason, order.ended

    def run(self):
        return None if self.splits else self.order.run()

    def served(self, run):
        self.runs += len(run.slots)
        return self.order.served(run)

    def next(self):
        """The other allocator's."""

    def feedback(self, feedback):
        """The other allocator's."""


@st.composite
def pools_of_free_slots(draw):
    """Return a pool, mostly of which a match takes free slots only: all are free, or the jobs that run stay."""
    pool = draw(pools(grouped=draw(st.booleans())))
    removed = draw(
        st.sampled_from(({"RemoteUser", "RemoteOwner", "State", "Activity"}, {"Rank", "partitionable"}, None))
    )
    if removed is not None:
        pool["slots"] = [
            {key: value for key, value in slot.items() if key not in removed} | {"name": f"slot1@m{number}"}
            for number, slot in enumerate(pool["slots"] * 4)
        ]
        pool["knobs"] |= {"PREEMPTION_REQUIREMENTS": "false"}
    return pool


def decided(pool, *, splits):
    """Return what a cycle decides, turn by turn or not, and how many requests were served in runs."""
    with tempfile.TemporaryDirectory() as folder:
        replay = condor_cycle.Replay(CONTENT, pool, Path(folder) / "bundle")
        orders, made = [], replay._order
        replay._order = lambda context: orders.append(CountedRuns(made(context), splits=splits)) or orders[-1]
        result = replay.decide(pool)
    outcomes = [(each.removals, each.candidates, each.first_unmatched) for each in result.outcomes]
    matches = [attrs.evolve(each, job_ad=None, slot_ad=None) for each in result.matches]
    happened = repr(result.order)  # it may have NaN
    return (outcomes, matches, result.journal, happened, result.state.order_rows), orders[-1].runs


def test_requests_that_need_free_slots_only_are_served_many_at_a_time():
    """Three kinds of jobs of one submitter, and a slot for each."""
    kinds = range(1, 4)
    slots = [
        {"name": f"slot1@n{n}", "SlotID": n, "Cpus": 1, "Memory": 2048, "KFlops": 100, "State": '"Unclaimed"'}
        for n in kinds
    ]
    jobs = [
        {"submitter": "alice@d", "schedd": "s1", "cluster": n, "count": 1, "autocluster": n} for n in kinds
    ]
    queued = {"idle": 3, "running": 0, "weighted_idle": 3.0, "weighted_running": 0.0, "last_heard_from": 1}
    submitters = [{"name": "alice@d", "schedd": "s1", **queued}]
    accounting = {"last_update": 1_800_000_000, "customers": {}}
    pool = {"now": 1_800_000_000, "knobs": {}, "slots": slots, "submitters": submitters, "jobs": jobs}
    pool["accounting"] = accounting
    (_, matches, *_), in_runs = decided(pool, splits=False)
    assert (len(matches), in_runs) == (3, 3)

    # Of jobs that no match ends, too: two of the three requests get no slot.
    claim = {"State": '"Claimed"', "RemoteUser": '"bob@d"', "CurrentRank": 0.0}
    busy = {**pool, "slots": [slots[0], slots[1] | claim, slots[2] | claim]}
    busy["knobs"] = {"PREEMPTION_REQUIREMENTS": "false"}
    (_, matches, *_), in_runs = decided(busy, splits=False)
    assert (len(matches), in_runs) == (1, 3)


@settings(SLOW, max_examples=EVERY * 2 // 5)
@given(pools_of_free_slots())
def test_requests_that_are_served_many_at_a_time_are_decided_as_turn_by_turn(pool):
    """Matches with their attributes, reasons with their counts, rejections, spins and accounts agree."""
    together, _ = decided(pool, splits=False)
    apart, none = decided(pool, splits=True)
    assert together == apart
    assert none == 0


@settings(SLOW, max_examples=EVERY // 5)
@given(runs(grouped=True))
def test_cycle_after_cycle_is_decided_as_the_simple_negotiator_does(run):
    """Priorities, usage and what groups were served are carried from cycle to cycle alike."""
    pool, events = run
    assert [*differences(pool, events)] == []
