"""Quirks of condor_negotiator: each is reproduced, or switched off by ``compatible:`` of the bundle."""

import attrs
import pytest

from fair_share import FAIR, jobs_of, run, shares, submitter
from negotiator.bundle import check_bundle
from negotiator_fairshare.accounts.account import AccountRecord
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.state_rows import rows_of
from negotiator_fairshare.compatibility import CompatibilitySettings, Compatible
from negotiator_fairshare.groups.settings import GroupQuirks
from negotiator_fairshare.pie.settings import PieQuirks
from negotiator_fairshare.settings import OfferQuirks
from pools import slot, snapshot, write_bundle

EXACT, FIXED = Compatible.EXACT, Compatible.FIXED


@pytest.fixture
def outcome(tmp_path):
    """Return a function that runs one cycle with a quirk reproduced or not."""

    def ran(found, conf="", **switches):
        named = ", ".join(f"{name}: {value}" for name, value in switches.items())
        folder = tmp_path / "-".join(map(str, switches.values()))
        return run(write_bundle(folder, f"{FAIR}compatible: {{{named}}}\n", conf=conf), found)

    return ran


def pool(counts, slots, **more):
    jobs = [
        each for cluster, (name, count) in enumerate(counts.items()) for each in jobs_of(name, count, cluster)
    ]
    return snapshot(
        slots, jobs, submitters=[submitter(name, count, **more) for name, count in counts.items()]
    )


def ones(count, **more):
    return [slot(number, **({"Cpus": "1"} | more)) for number in range(count)]


def claimed(number, user, **more):
    own = {
        "State": '"Claimed"',
        "RemoteUser": f'"{user}@d"',
        "CurrentRank": "0.0",
        "Rank": "0.0",
        "Cpus": "1",
    }
    return slot(number, **(own | more))


@pytest.mark.parametrize(("value", "matches"), [(EXACT, 9), (FIXED, 10)])
def test_crumbs_of_the_pie_stay_or_are_rounded_up(outcome, value, matches):
    """Three equal users share ten slots: a third of the last one is less than any slot."""
    result = outcome(pool({"ann": 9, "bob": 9, "sue": 9}, ones(10)), crumbs=value)
    assert sum(shares(result).values()) == matches


@pytest.mark.parametrize(("value", "limit"), [(EXACT, 4), (FIXED, 2)])
def test_a_floor_is_given_whole_or_only_what_is_missing(tmp_path, value, limit):
    """Ann uses two slots of her floor of four."""
    accounts = Accounts(records={"ann@d": attrs.evolve(AccountRecord(), floor=4)})
    found = pool({"ann": 9, "bob": 9}, [claimed(0, "ann"), claimed(1, "ann"), *ones(10)[2:]])
    bundle = write_bundle(tmp_path / "b", f"{FAIR}compatible: {{floors: {value}}}\n")
    state = attrs.evolve(run(bundle, snapshot()).state, order_rows={"submitters": rows_of(accounts)})
    (turn,) = run(bundle, found, state).order.pies[0].spins[0].turns
    assert turn.limit == limit


@pytest.mark.parametrize(("value", "matches"), [(EXACT, 3), (FIXED, 2)])
def test_unclaimed_slots_are_granted_by_the_share_or_by_what_is_left(outcome, value, matches):
    """Ann's slot is rounded up from 6.5 to 8, so that 5 are left for Sue, whose share is 6.5."""
    slots = [slot(0, Cpus="8"), slot(1, Cpus="5", Requirements="false")]
    slots += [slot(number, Cpus="2") for number in range(2, 6)]
    jobs = [
        *jobs_of("ann", 1, 1, Requirements="TARGET.Cpus == 8"),
        *jobs_of("sue", 9, 2, Requirements="TARGET.Cpus == 2"),
    ]
    found = snapshot(slots, jobs, submitters=[submitter("ann", 1), submitter("sue", 9)])
    result = outcome(found, "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = Cpus != 2\n", unclaimed_limit=value)
    assert [turn.matched for turn in result.order.pies[0].spins[0].turns] == [1, matches]


@pytest.mark.parametrize(("value", "reasons"), [(EXACT, []), (FIXED, ["no match found"])])
def test_without_slots_submitters_are_passed_over_or_rejected(outcome, value, reasons):
    result = outcome(pool({"ann": 1}, []), empty_pool=value)
    assert [each.reason for each in result.order.rejections] == reasons
    assert (result.order.pies[0].spins[0].turns[0].skip == "ceiling") == (not reasons)


@pytest.mark.parametrize(("value", "second"), [(EXACT, "x, y"), (FIXED, "y")])
def test_a_rejection_names_limits_of_earlier_requests_or_only_its_own(outcome, value, second):
    jobs = [
        *jobs_of("ann", 1, 1, ConcurrencyLimits='"x"'),
        *jobs_of("ann", 1, 2, ConcurrencyLimits='"y"'),
    ]
    found = snapshot(ones(2), jobs, submitters=[submitter("ann", 2)])
    result = outcome(found, "X_LIMIT = 0\nY_LIMIT = 0\n", rejection_marks=value)
    texts = [each.reason for each in result.order.rejections]
    assert texts[:2] == ["concurrency limit x reached", f"concurrency limit {second} reached"]


@pytest.mark.parametrize(
    ("value", "user", "matches"), [(EXACT, "bob", 1), (FIXED, "bob", 0), (FIXED, "nice-user.bob", 1)]
)
def test_a_job_is_ended_whatever_its_users_priority_or_only_for_a_better_one(outcome, value, user, matches):
    """Ann and Bob have the same priority; a nice user has a worse one."""
    result = outcome(
        pool({"ann": 1}, [claimed(0, user)]), "PREEMPTION_REQUIREMENTS = true\n", preemption_priority=value
    )
    assert len(result.matches) == matches


def test_equal_priorities_are_not_better_by_rounding(outcome):
    """Those of the users of slots are in single precision: 500.45 is a little more there."""
    conf = "PREEMPTION_REQUIREMENTS = true\nDEFAULT_PRIO_FACTOR = 1000.9\n"
    assert not outcome(pool({"ann": 1}, [claimed(0, "bob")]), conf, preemption_priority=FIXED).matches


def test_requirements_of_preemption_that_are_numbers_do_not_count_as_true(outcome):
    found = pool({"ann": 1}, [claimed(0, "nice-user.bob")])
    assert not outcome(found, "PREEMPTION_REQUIREMENTS = 1\n", preemption_priority=FIXED).matches


@pytest.mark.parametrize(("value", "matches"), [(EXACT, 0), (FIXED, 1)])
def test_slots_show_quotas_from_the_second_cycle_on_or_at_once(outcome, value, matches):
    found = pool({"ann": 1}, [claimed(0, "a.bob")])
    conf = "GROUP_NAMES = a\nGROUP_QUOTA_a = 0.5\nPREEMPTION_REQUIREMENTS = RemoteGroupQuota == 0.5\n"
    assert len(outcome(found, conf, remote_group_quota=value).matches) == matches


@pytest.mark.parametrize(("value", "matches"), [(EXACT, 4), (FIXED, 5)])
def test_the_limit_of_a_group_is_cut_to_a_whole_number_or_not(outcome, value, matches):
    """Ten slots of weight one half, and a quota of 2.5."""
    own = {"AccountingGroup": '"a.ann"'}
    found = snapshot(ones(10, SlotWeight="0.5"), jobs_of("ann", 9, 1, **own), submitters=[submitter("a.ann")])
    conf = "GROUP_NAMES = a\nGROUP_QUOTA_a = 2.5\n"
    assert len(outcome(found, conf, whole_limits=value).matches) == matches


def test_one_switch_is_for_all_quirks_without_their_own():
    """Each switch belongs to one class of quirks."""
    settings = CompatibilitySettings(default=FIXED, crumbs=EXACT, whole_limits=EXACT)
    assert settings.quirks(PieQuirks) == PieQuirks(FIXED, EXACT, FIXED, FIXED, FIXED)
    assert settings.quirks(GroupQuirks).whole_limits is EXACT
    assert settings.quirks(GroupQuirks).undefined_limit is FIXED
    names = [field.name for kind in (PieQuirks, OfferQuirks, GroupQuirks) for field in attrs.fields(kind)]
    assert sorted(names) == sorted(
        {field.name for field in attrs.fields(CompatibilitySettings)} - {"default"}
    )


@pytest.mark.parametrize(("value", "matches"), [(EXACT, 9), (FIXED, 10)])
def test_one_word_is_for_all_quirks(tmp_path, value, matches):
    bundle = write_bundle(tmp_path / "b", f"{FAIR}compatible: {value}\n")
    assert sum(shares(run(bundle, pool({"ann": 9, "bob": 9, "sue": 9}, ones(10)))).values()) == matches


def test_everything_is_exact_by_default():
    settings = CompatibilitySettings()
    for kind in (PieQuirks, OfferQuirks, GroupQuirks):
        assert settings.quirks(kind) == kind()
        assert set(attrs.astuple(kind())) == {EXACT}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("compatible: {crumb: fixed}", "unknown key 'crumb' (did you mean crumbs?)"),
        ("compatible: {crumbs: maybe}", "exact"),
        ("compatible: fix", "pool.yaml:2:13: error: compatible must be exact or fixed, got fix"),
        (
            "order: names\ncompatible: {crumbs: fixed}",
            "warning: compatible has no effect: the order is names",
        ),
    ],
)
def test_a_wrong_or_useless_switch_is_reported(tmp_path, line, problem):
    (tmp_path / "pool.yaml").write_text(line if "order" in line else f"order: submitters\n{line}\n")
    (found,) = map(str, check_bundle(tmp_path))
    assert problem in found
