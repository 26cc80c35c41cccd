"""Accounting groups under ``order: submitters``: whole cycles, the state, and what requests have at their turn."""

import attrs
import pytest

from fair_share import FAIR, grouped_pool, run, shares
from negotiator_fairshare.accounts.state_rows import check_row
from pools import NOW, ad, slot, snapshot, write_bundle

QUOTAS = "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 6\nGROUP_QUOTA_b = 2\n"
SLOTS = [slot(number, Cpus="1") for number in range(10)]


def pool(counts, slots=SLOTS, **changed):
    """Return a pool with idle jobs of submitters ``GROUP.NAME@d``."""
    return grouped_pool(counts, slots, **changed)


@pytest.fixture
def groups(tmp_path):
    """Return a function that makes a bundle with these knobs."""
    return lambda conf: write_bundle(tmp_path / "b", FAIR, conf=conf)


def test_each_group_gets_its_quota_and_its_submitters_share_it(groups):
    result = run(groups(QUOTAS), pool({"a.ann": 9, "a.sue": 9, "b.tim": 9}))
    assert shares(result) == {"a.ann": 3, "a.sue": 3, "b.tim": 2}


def test_what_a_group_leaves_goes_to_those_that_accept_surplus(groups):
    result = run(groups(QUOTAS + "GROUP_ACCEPT_SURPLUS_b = true\n"), pool({"a.ann": 1, "b.tim": 9, "eve": 1}))
    assert shares(result) == {"a.ann": 1, "b.tim": 8, "eve": 1}


def test_submitters_without_a_group_have_what_groups_leave(groups):
    assert shares(run(groups(QUOTAS), pool({"a.ann": 9, "eve": 9}))) == {"a.ann": 6, "eve": 4}


def test_a_group_that_negotiates_again_takes_what_is_left(groups):
    result = run(groups(QUOTAS + "GROUP_AUTOREGROUP_a = true\n"), pool({"a.ann": 20, "b.tim": 9}))
    assert shares(result) == {"a.ann": 8, "b.tim": 2}
    assert ("<none>", 10) in [(pie.group, pie.quota) for pie in result.order.pies]


def test_the_use_of_claimed_slots_counts_for_the_group(groups):
    claimed = [
        slot(number, Cpus="1", State='"Claimed"', RemoteUser='"a.old@d"', AccountingGroup='"a.old@d"')
        for number in range(4)
    ]
    result = run(groups(QUOTAS), pool({"a.ann": 9, "b.tim": 9}, [*claimed, *SLOTS[4:]]))
    assert shares(result) == {"a.ann": 2, "b.tim": 2}


def test_slots_may_require_a_negotiating_group_and_jobs_cannot_pretend_one(groups):
    slots = [slot(0, Requirements='TARGET.SubmitterNegotiatingGroup == "a"'), slot(1, Requirements="false")]
    result = run(groups(QUOTAS), pool({"a.ann": 1, "b.tim": 1}, slots, SubmitterNegotiatingGroup='"a"'))
    assert shares(result) == {"a.ann": 1}


def test_a_match_names_the_group_of_its_turn(groups):
    """Also without groups, and if its submitter negotiates again in the root."""
    regrouping = QUOTAS + "GROUP_AUTOREGROUP_b = true\n"
    matches = run(groups(regrouping), pool({"a.ann": 1, "b.tim": 3})).matches
    names = ("SubmitterGroup", "SubmitterNegotiatingGroup", "SubmitterAutoregroup")
    found = {tuple(match.request_attributes[name] for name in names) for match in matches}
    assert found == {("a", "a", False), ("b", "b", False), ("b", "<none>", True)}


def test_without_groups_jobs_negotiate_in_the_root(tmp_path):
    slots = [slot(0, Requirements='TARGET.SubmitterNegotiatingGroup == "<none>"')]
    (match,) = run(write_bundle(tmp_path / "b", FAIR), pool({"ann": 1}, slots)).matches
    assert "SubmitterGroup" not in match.request_attributes


def test_a_request_without_a_slot_is_matched_again_in_another_group(groups):
    slots = [slot(0, Cpus="1", Requirements="TARGET.SubmitterAutoregroup")]
    bundle = groups(QUOTAS + "GROUP_AUTOREGROUP = true\n")
    assert shares(run(bundle, pool({"a.ann": 1}, slots))) == {"a.ann": 1}


def test_with_autoregroup_requests_and_slots_read_the_whole_pool_as_the_quota_of_the_root(groups):
    """Of this cycle and of the next one: the root negotiates for what all groups leave."""
    slots = [slot(0, Cpus="1", Requirements="TARGET.SubmitterGroupQuota == 10"), *SLOTS[1:10]]
    bundle = groups(QUOTAS + "GROUP_AUTOREGROUP = true\n")
    result = run(bundle, pool({"tim": 9}, slots))
    assert "s0@h" in {match.slot for match in result.matches}
    assert result.state.order_rows["submitters"]["group:<none>"]["quota"] == 10.0


def test_groups_have_accounts_with_the_use_of_their_subtree(groups):
    conf = "GROUP_NAMES = a, a.x\nGROUP_QUOTA_a = 6\nGROUP_QUOTA_a.x = 2\nGROUP_PRIO_FACTOR_a = 5\n"
    bundle = groups(conf + "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION = false\n")
    rows = run(bundle, pool({"a.ann": 9, "a.x.sue": 9})).state.order_rows["submitters"]
    assert rows["account:a"]["WeightedResourcesUsed"] == 4.0
    assert rows["account:a"]["HierWeightedResourcesUsed"] == 6.0
    assert rows["account:a.x"]["HierWeightedResourcesUsed"] == 2.0
    assert rows["account:a.ann@d"]["PriorityFactor"] == 5.0
    assert rows["account:a.x.sue@d"]["PriorityFactor"] == 1000.0


def test_without_slot_weights_the_slot_that_cannot_be_divided_goes_to_each_group_in_turn(groups):
    """Three slots for two groups with half of the pool each: one gets two, and the other in the next cycle."""
    conf = "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_DYNAMIC_b = 0.5\n"
    bundle = groups(conf + "NEGOTIATOR_USE_SLOT_WEIGHTS = false\nGROUP_ACCEPT_SURPLUS = true\n")
    found, state, counts = pool({"a.ann": 9, "b.tim": 9}, SLOTS[:3]), None, []
    for number in range(3):
        result = run(bundle, found, state, NOW + 60 * number)
        state = attrs.evolve(result.state, journal=())
        counts.append(shares(result)["a.ann"])
    assert counts == [2, 1, 2]


@pytest.mark.parametrize(
    "row",
    [{}, {"quota": "much"}, {"quota": 1.5, "last_served": "now"}, {"quota": 1.5, "last_served": True}],
)
def test_a_damaged_row_of_a_group_is_refused(row):
    check_row("group:a", {"quota": 1.5, "last_served": 5})
    check_row("group:a", {"quota": 1.5})
    with pytest.raises(ValueError, match="group"):
        check_row("group:a", row)


def test_the_record_has_the_rounds(groups):
    result = run(groups(QUOTAS), pool({"a.ann": 9, "b.tim": 9}))
    record = result.order.groups
    assert (record.total, record.quotas.assigned) == (10, {"<none>": 2, "a": 6, "b": 2})
    assert [(turn.group, turn.limit) for turn in record.rounds[0].turns] == [("a", 6), ("b", 2)]


def test_hostile_demand_of_submitter_ads_harms_no_other_group(groups):
    found = pool({"a.ann": 9, "b.tim": 9})
    hostile = [
        ad(Name='"b.eve@d"', ScheddName='"h"', IdleJobs="1", RunningJobs="0", WeightedIdleJobs=weight)
        for weight in ('real("INF")', 'real("NaN")', "-1e300", "1e300", '"many"')
    ]
    submitters = [found.submitters.ad(row) for row in range(2)] + hostile
    slots = [found.slots.ad(row) for row in range(10)]
    jobs = [found.jobs.ad(row) for row in range(18)]
    assert shares(run(groups(QUOTAS), snapshot(slots, jobs, submitters=submitters)))["a.ann"] == 6
