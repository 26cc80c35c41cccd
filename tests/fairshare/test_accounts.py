"""Accounts of submitters and groups, where the recorded cases do not go."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_fairshare.accounts import AccountRecord, Accounts, AccountSettings, ResourceRecord, UseCounter
from negotiator_fairshare.accounts.account import (
    LARGEST,
    LeaseKind,
    from_millionths,
    millionths,
    stored,
    with_lease,
)

NOW = 1_800_000_000
HOUR = 3_600


def in_group_a(_name):
    return "a.b"


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_a_stored_number_has_six_decimals_and_stays_as_it_is(value):
    assert stored(stored(value)) == stored(value)
    assert math.isclose(stored(value), value, abs_tol=6e-7, rel_tol=1e-15)
    assert from_millionths(millionths(value)) == stored(value)


def test_numbers_without_bounds_are_cut():
    assert stored(math.inf) == LARGEST
    with pytest.raises(ValueError, match="not a number"):
        stored(math.nan)


@given(st.floats(0.5, 1e6), st.floats(0.5, 1e4), st.integers(1, 10**6), st.integers(1, 10**6))
def test_two_updates_come_to_the_same_as_one(priority, weight, first, second):
    """Priorities approach the use; only the six decimals of the update in between differ."""
    record = AccountRecord(priority=stored(priority), weighted_resources_used=stored(weight))
    accounts = Accounts(records={"u@d": record}, last_update=NOW)
    settings = AccountSettings(halflife=HOUR)
    once = accounts.updated(NOW + first + second, settings).get("u@d")
    twice = accounts.updated(NOW + first, settings).updated(NOW + first + second, settings).get("u@d")
    assert math.isclose(once.priority, twice.priority, abs_tol=2e-6, rel_tol=1e-9)


def test_a_clock_that_goes_back_changes_the_stamp_alone():
    record = AccountRecord(priority=8.0, resources_used=3)
    accounts = Accounts(records={"u@d": record}, last_update=NOW).updated(NOW - HOUR, AccountSettings())
    assert accounts.last_update == NOW - HOUR
    assert accounts.get("u@d") == record


def test_an_interval_is_charged_to_who_used_slots_when_it_began():
    used = AccountRecord(resources_used=2, weighted_resources_used=3.0, uncharged_time=-10)
    idle = AccountRecord(accumulated_usage=50.0, begin_usage=7, last_usage=9)
    accounts = Accounts(records={"u@d": used, "v@d": idle}, last_update=NOW)
    after = accounts.updated(NOW + HOUR, AccountSettings(halflife=HOUR))
    assert after.get("u@d").accumulated_usage == 2 * HOUR - 10
    assert (after.get("u@d").begin_usage, after.get("u@d").last_usage) == (NOW + HOUR, NOW + HOUR)
    assert (after.get("v@d").begin_usage, after.get("v@d").last_usage) == (7, 9)


def test_the_priority_of_a_group_follows_its_subtree():
    group = AccountRecord(
        priority=4.0, weighted_resources_used=1.0, hierarchical_weighted_resources_used=8.0, resources_used=1
    )
    accounts = Accounts(records={"a": group}, last_update=NOW)
    after = accounts.updated(NOW + HOUR, AccountSettings(halflife=HOUR)).get("a")
    assert after.priority == 6.0
    assert after.weighted_accumulated_usage == HOUR


def test_the_records_of_slots_decide_what_was_in_use_when_the_negotiator_starts():
    resources = {"s1": ResourceRecord("u@d", 2.5), "s2": ResourceRecord(""), "s3": ResourceRecord("u@d", 1.0)}
    accounts = Accounts(
        records={"u@d": AccountRecord(resources_used=9), "<none>": AccountRecord()}, resources=resources
    )
    after = accounts.reconciled(AccountSettings())
    assert (after.get("u@d").resources_used, after.get("u@d").weighted_resources_used) == (2, 3.5)
    assert (after.get("<none>").resources_used, after.get("<none>").factor) == (2, 1000.0)


def test_weights_are_rounded_each_before_they_are_added():
    use = UseCounter(in_group_a)
    for _ in range(3):
        use.add("a.b.u@d", 1 / 3)
    assert use.weighted("a.b.u@d") == 0.999999
    assert [use.hierarchical(name) for name in ("a.b", "a", "a.b.u@d")] == [0.999999, 0.999999, 0]
    assert (use.slots("a.b"), use.slots("a")) == (3, 0)


def test_a_user_with_the_name_of_a_group_counts_once():
    use = UseCounter(in_group_a)
    use.add("a.b", 2.0)
    assert (use.slots("a.b"), use.weighted("a.b")) == (1, 2.0)


def test_a_factor_is_written_down_at_first_sight_and_kept():
    accounts = Accounts().seen(["u@d"], AccountSettings(default_factor=50.0))
    assert accounts.factor("u@d", AccountSettings(default_factor=7.0)) == 50.0
    assert accounts.effective_priority("u@d", AccountSettings()) == 25.0
    assert accounts.factor("other@d", AccountSettings(default_factor=7.0)) == 7.0


def test_a_stored_factor_below_one_is_replaced():
    accounts = Accounts(records={"u@d": AccountRecord(factor=0.5)})
    assert accounts.seen(["u@d"], AccountSettings()).get("u@d").factor == 1000.0


def test_factors_below_one_count_as_one():
    assert AccountSettings(default_factor=0.25).factor_of("u@d") == 1.0


def test_groups_in_factors_are_named_without_regard_to_case():
    settings = AccountSettings(group_factors={"A.B": 5.0}, group_of=in_group_a)
    assert settings.factor_of("a.b.u@d") == 5.0


@pytest.mark.parametrize(
    "knobs",
    [{"halflife": 0}, {"halflife": math.nan}, {"default_factor": -1}, {"group_factors": {"a": math.inf}}],
)
def test_knobs_that_cannot_be_are_refused(knobs):
    with pytest.raises(ValueError, match="must be a positive number"):
        AccountSettings(**knobs)


@pytest.mark.parametrize("kind", LeaseKind)
def test_the_value_before_a_lease_returns_when_it_is_over(kind):
    before = AccountRecord(ceiling=4, floor=2, factor=100.0)
    leased = with_lease("u@d", before, kind, 9, NOW + HOUR, NOW)
    assert getattr(leased, kind) == 9
    accounts = Accounts(records={"u@d": leased}, last_update=NOW)
    assert getattr(accounts.updated(NOW + HOUR - 1, AccountSettings()).get("u@d"), kind) == 9
    after = accounts.updated(NOW + HOUR, AccountSettings()).get("u@d")
    assert getattr(after, kind) == getattr(before, kind)
    assert getattr(after, kind.expiration) == 0


def test_a_second_lease_is_refused_while_the_first_holds():
    leased = with_lease("u@d", AccountRecord(), LeaseKind.FLOOR, 2, NOW + HOUR, NOW)
    with pytest.raises(ValueError, match="floor lease for u@d is already in effect"):
        with_lease("u@d", leased, LeaseKind.FLOOR, 3, NOW + 2 * HOUR, NOW)
    later = with_lease("u@d", leased, LeaseKind.FLOOR, 3, NOW + 2 * HOUR, NOW + HOUR)
    assert later.floor_before_lease == 0


def test_records_of_slots_are_dropped_unless_claimed_or_matched():
    records = {
        name: ResourceRecord("u@d", 1.0, NOW, "lic") for name in ("gone", "matched", "claimed", "taken")
    }
    in_use = {"claimed": ResourceRecord("u@d", 2.0, NOW + 60), "taken": ResourceRecord("v@d", 1.0, NOW + 60)}
    after = Accounts(resources=records).with_resources(in_use, ["matched", "unknown"]).resources
    assert after.keys() == {"matched", "claimed", "taken"}
    assert after["claimed"] == ResourceRecord("u@d", 2.0, NOW + 60, "lic")
    assert after["taken"].concurrency_limits == ""
