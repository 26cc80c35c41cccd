"""Quotas of groups and the sharing of what is not used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting_groups import groups, requests, static, weights
from negotiator_fairshare.groups.quotas import allocate, assign_quotas
from negotiator_fairshare.groups.rounds import SubmitterDemand, demand_of_groups
from negotiator_fairshare.groups.settings import ConfiguredGroup
from negotiator_fairshare.groups.tree import GroupTree

TOLERANCE = 1e-9


def close(number):
    return pytest.approx(number, abs=TOLERANCE)


@given(configured=groups(), total=weights)
def test_without_oversubscription_quotas_sum_to_the_pool(configured, total):
    tree = GroupTree.of_groups(configured)
    quotas = assign_quotas(tree, total, oversubscription=False)
    assert sum(quotas.assigned.values()) == close(total)
    for name, node in tree.nodes.items():
        below = sum(quotas.subtree[child] for child in node.children)
        assert quotas.subtree[name] == close(below + quotas.assigned[name])
        assert quotas.assigned[name] >= 0


@given(configured=groups(), total=st.integers(1, 50))
def test_with_oversubscription_every_static_quota_is_whole(configured, total):
    tree = GroupTree.of_groups(configured)
    quotas = assign_quotas(tree, total, oversubscription=True)
    for node in tree.nodes.values():
        if node.group.static and quotas.subtree[node.parent] > 0:
            assert quotas.assigned[node.name] == close(node.group.quota)


@given(
    data=st.data(),
    configured=groups(),
    total=weights,
    oversubscription=st.booleans(),
    slot_weights=st.booleans(),
)
def test_an_allocation_gives_nobody_more_than_requested_and_loses_nothing(
    data, configured, total, oversubscription, slot_weights
):
    tree = GroupTree.of_groups(configured)
    quotas = assign_quotas(tree, total, oversubscription=oversubscription)
    requested = data.draw(requests(tree))
    if not slot_weights:
        requested = {name: float(int(number)) for name, number in requested.items()}
    found = allocate(tree, quotas, requested, slot_weights=slot_weights)
    for name, group in found.groups.items():
        assert -TOLERANCE <= group.allocated <= requested[name] + TOLERANCE
        assert group.requested == close(requested[name])
        assert slot_weights or group.allocated == int(group.allocated)
    given_out = sum(group.allocated for group in found.groups.values())
    assert given_out + found.surplus == close(sum(quotas.assigned.values()))


@given(data=st.data(), configured=groups(), total=weights)
def test_a_leaf_that_accepts_no_surplus_gets_its_quota_at_most(data, configured, total):
    tree = GroupTree.of_groups(configured)
    quotas = assign_quotas(tree, total, oversubscription=True)
    requested = data.draw(requests(tree))
    found = allocate(tree, quotas, requested, slot_weights=True)
    for name, node in tree.nodes.items():
        if not node.children and not node.group.accept_surplus:
            assert found.groups[name].allocated == close(min(requested[name], quotas.assigned[name]))


@given(data=st.data(), configured=groups(), total=weights)
def test_if_all_accept_surplus_some_is_left_only_if_nobody_wants_it(data, configured, total):
    generous = [
        ConfiguredGroup(each.name, each.quota, static=each.static, accept_surplus=True) for each in configured
    ]
    tree = GroupTree.of_groups(generous)
    quotas = assign_quotas(tree, total, oversubscription=False)
    found = allocate(tree, quotas, data.draw(requests(tree)), slot_weights=True)
    if found.surplus > TOLERANCE:
        assert all(group.unallocated <= TOLERANCE for group in found.groups.values())


def test_a_whole_slot_goes_to_who_was_served_longest_ago():
    tree = GroupTree.of_groups([ConfiguredGroup(name, 0.5, accept_surplus=True) for name in "ab"])
    quotas = assign_quotas(tree, 3, oversubscription=False)
    requested = {"<none>": 0.0, "a": 3.0, "b": 3.0}
    for first, last_served in (("a", {}), ("b", {"a": 100.0}), ("a", {"a": 100.0, "b": 200.0})):
        found = allocate(tree, quotas, requested, slot_weights=False, last_served=last_served)
        assert found.groups[first].allocated == 2
        assert found.served == {first}


@pytest.mark.parametrize(
    ("quotas", "requested", "first"),
    [
        ({"a": 0.25, "b": 0.75}, {"a": 3.0, "b": 3.0}, "b"),
        ({"a": 0.5, "b": 0.5}, {"a": 2.0, "b": 3.0}, "b"),
        ({"a": 0.5, "b": 0.5}, {"a": 3.0, "b": 3.0}, "a"),
    ],
)
def test_of_groups_served_alike_the_larger_quota_then_the_larger_wish_comes_first(quotas, requested, first):
    tree = GroupTree.of_groups(
        [ConfiguredGroup(name, quota, accept_surplus=True) for name, quota in quotas.items()]
    )
    found = allocate(
        tree, assign_quotas(tree, 3, oversubscription=False), {"<none>": 0.0, **requested}, slot_weights=False
    )
    assert found.served == {first}


def test_a_subtree_was_served_when_the_first_of_its_waiting_groups_was():
    configured = [ConfiguredGroup(name, 0.5, accept_surplus=True) for name in ("a", "a.x", "b")]
    tree = GroupTree.of_groups(configured)
    quotas = assign_quotas(tree, 3, oversubscription=False)
    requested = {"<none>": 0.0, "a": 0.0, "a.x": 3.0, "b": 3.0}
    found = allocate(tree, quotas, requested, slot_weights=False, last_served={"a.x": 200.0, "b": 100.0})
    assert found.served == {"b"}


def test_demand_is_weighted_or_a_number_of_jobs():
    tree = GroupTree.of_groups(static(a=1).groups)
    submitters = [SubmitterDemand("a.u@x", 1, 2, 10.0, 20.0), SubmitterDemand("v@x", 4, 0, 8.0, 0.0)]
    weighted = demand_of_groups(tree, submitters, weighted=True)
    assert {name: demand.requested for name, demand in weighted.items()} == {"<none>": 8.0, "a": 30.0}
    jobs = demand_of_groups(tree, submitters, weighted=False)
    assert {name: demand.requested for name, demand in jobs.items()} == {"<none>": 4.0, "a": 3.0}


def test_submitters_of_a_group_with_autoregroup_are_on_the_list_of_the_root_too():
    tree = GroupTree.of_groups([ConfiguredGroup("a", autoregroup=True), ConfiguredGroup("b")])
    submitters = [SubmitterDemand(name, 1, 0, 1.0, 0.0) for name in ("a.u@x", "b.u@x", "c@x")]
    demand = demand_of_groups(tree, submitters, weighted=True)
    assert {name: group.submitters for name, group in demand.items()} == {
        "<none>": (0, 2),
        "a": (0,),
        "b": (1,),
    }
    assert demand["<none>"].requested == 1.0
