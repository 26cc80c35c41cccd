"""Pools drawn at random: the negotiator decides as the simple one of the tests does."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import condor_cycle
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


@settings(SLOW, max_examples=EVERY // 5)
@given(runs(grouped=True))
def test_cycle_after_cycle_is_decided_as_the_simple_negotiator_does(run):
    """Priorities, usage and what groups were served are carried from cycle to cycle alike."""
    pool, events = run
    assert [*differences(pool, events)] == []
