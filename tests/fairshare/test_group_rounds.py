"""The order, the limits and the rounds of groups."""

import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting_groups import groups, negotiate, static
from negotiator.plugin import InvalidCallError, parse
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.groups.quotas import GroupAllocation, assign_quotas
from negotiator_fairshare.groups.records import SkipReason
from negotiator_fairshare.groups.rounds import GroupDemand, NegotiationRounds, order_groups
from negotiator_fairshare.groups.settings import GroupQuirks, GroupSettings
from negotiator_fairshare.groups.tree import GroupTree

FIXED = GroupQuirks(*[Compatible.FIXED] * len(attrs.fields(GroupQuirks)))


def order_by(expression, *, root_last=False, **usage):
    names = {"none": "<none>", **{name: name for name in "abc"}}
    allocations = {names[name]: GroupAllocation(2.0, 1.0, 0.0) for name in usage}
    used = {names[name]: number for name, number in usage.items()}
    return [name for name, _ in order_groups(parse(expression), allocations, used, root_last=root_last)]


def test_groups_are_ordered_by_the_expression_and_then_as_in_the_tree():
    assert order_by("GroupResourcesInUse / GroupQuota", none=1.0, a=0.0, b=4.0, c=0.0) == [
        "a",
        "c",
        "<none>",
        "b",
    ]
    assert order_by('AccountingGroup == "a"', none=1.0, a=0.0, b=0.0) == ["<none>", "b", "a"]


@pytest.mark.parametrize("expression", ["NoSuch", '"text"', "error", 'real("nan")', "1e300"])
def test_a_key_that_is_not_a_number_comes_last_and_beyond_single_precision_too(expression):
    assert order_by(f'AccountingGroup == "a" ? {expression} : 3e38', a=0.0, b=0.0) == ["b", "a"]


def test_the_root_is_last_if_submitters_negotiate_in_it_again():
    assert order_by("0", root_last=True, none=0.0, a=0.0, b=0.0) == ["a", "b", "<none>"]


@given(
    data=st.data(),
    configured=groups(),
    total=st.integers(0, 40),
    strict=st.booleans(),
    oversubscription=st.booleans(),
    rate=st.sampled_from([1.0, 7.0, 1e100]),
    fixed=st.booleans(),
)
def test_limits_and_quotas_hold_and_the_rounds_end(
    data, configured, total, strict, oversubscription, rate, fixed
):
    plain = [attrs.evolve(group, autoregroup=False) for group in configured]
    settings = GroupSettings(
        groups=plain,
        strict=strict,
        oversubscription=oversubscription,
        round_robin_rate=rate,
        quirks=FIXED if fixed else GroupQuirks(),
    )
    wanted = data.draw(st.dictionaries(st.sampled_from([group.name for group in plain]), st.integers(0, 30)))
    rounds, pool, _ = negotiate(settings, total, wanted)
    assert sum(pool.usage.values()) + pool.free == total
    assert 1 <= len(rounds.records) <= settings.max_rounds
    for record in rounds.records:
        assert record.used <= record.allocated + 1e-9
        assert {turn.group for turn in record.turns} | record.skipped.keys() == pool.usage.keys()
        for turn in record.turns:
            group = record.allocations[turn.group]
            assert not turn.computed_limit > max(group.allocated, group.quota)
    for group in plain:
        below = sum(used for name, used in pool.usage.items() if f"{name}.".startswith(f"{group.name}."))
        if strict and not group.accept_surplus and group.static:
            assert below <= group.quota


def test_rounds_end_when_all_allocations_are_filled():
    rounds, pool, _ = negotiate(static(a=3, b=2), 8, {"a": 5, "b": 1, "<none>": 9})
    assert len(rounds.records) == 1
    assert pool.usage == {"<none>": 4, "a": 3, "b": 1}


def test_the_round_robin_gives_turns_in_steps():
    settings = attrs.evolve(static(a=4, b=2), round_robin_rate=2.0, strict=False)
    rounds, _, turns = negotiate(settings, 6, {"a": 4, "b": 2})
    assert rounds.records[0].steps == (2.0, 4.0)
    assert [(turn.group, turn.limit) for turn, _ in turns] == [("a", 2), ("b", 1), ("a", 4), ("b", 2)]


def run(settings, total, demand, usage):
    """Return the first turns, one a group, of rounds in which nobody gets anything."""
    tree = GroupTree.of_groups(settings.groups, autoregroup=settings.any_autoregroups)
    quotas = assign_quotas(tree, total, oversubscription=settings.oversubscription)
    requests = {name: GroupDemand(demand.get(name, 0.0), (0,)) for name in tree.nodes}
    rounds = NegotiationRounds(settings, tree, quotas, requests, usage)
    turns = []
    while (turn := rounds.next_turn()) is not None:
        turns.append(turn)
        rounds.end_turn(usage={})
    return {turn.group: turn for turn in reversed(turns)}, rounds.records


@pytest.mark.parametrize(
    ("quirk", "exact", "fixed"),
    [("limit_up_to_quota", 5.0, 2.0), ("whole_limits", 5.0, 5.5)],
)
def test_quirks_of_limits_can_be_switched_off(quirk, exact, fixed):
    for value, limit in ((Compatible.EXACT, exact), (Compatible.FIXED, fixed)):
        settings = attrs.evolve(static(a=5.5), quirks=attrs.evolve(GroupQuirks(), **{quirk: value}))
        turns, _ = run(settings, 10, {"a": 2.0}, {})
        assert turns["a"].limit == limit


def test_a_limit_that_is_not_a_number_matches_nothing_unless_the_quirk_is_switched_off():
    surplus = attrs.evolve(static(a=5), accept_surplus=True)
    turns, _ = run(surplus, 10, {"a": 2.0}, {"a": 2.0})
    assert math.isnan(turns["a"].computed_limit)
    assert turns["a"].limit < 0
    turns, _ = run(
        attrs.evolve(surplus, quirks=GroupQuirks(undefined_limit=Compatible.FIXED)),
        10,
        {"a": 2.0},
        {"a": 2.0},
    )
    assert turns["a"].limit == 5.0


def test_autoregroup_gives_the_root_the_whole_pool_without_a_limit():
    settings = attrs.evolve(static(a=3), autoregroup=True, sort_expression=parse("AccountingGroup"))
    for quirk, surplus in ((Compatible.EXACT, 10.0), (Compatible.FIXED, 7.0)):
        quirks = GroupQuirks(autoregroup_quota=quirk)
        turns, records = run(attrs.evolve(settings, quirks=quirks), 10, {"a": 3.0}, {})
        assert turns["<none>"].autoregroup
        assert turns["<none>"].autoregroup
        assert [name for name, _ in records[0].order] == ["a", "<none>"]
        assert records[0].surplus == 7.0
        assert records[1].surplus == surplus + 3.0


def test_a_quota_bounds_the_groups_below_and_the_record_names_it():
    settings = attrs.evolve(static(p=2, p_x=8))
    turns, records = run(settings, 10, {"p.x": 8.0}, {"p": 1.0})
    assert turns["p.x"].limit == 1.0
    (constraint,) = records[0].constraints
    assert (constraint.group, constraint.constrained_by, constraint.usage, constraint.limit) == (
        "p.x",
        "p",
        1.0,
        1.0,
    )


def test_without_preemption_a_group_at_its_allocation_is_passed_over():
    settings = attrs.evolve(static(a=3), consider_preemption=False)
    _, records = run(settings, 10, {"a": 9.0}, {"a": 3.0})
    assert records[0].skipped == {"a": SkipReason.AT_QUOTA, "<none>": SkipReason.NOTHING_ALLOCATED}


def test_groups_that_got_a_whole_slot_in_turn_or_want_nothing_were_served():
    settings = attrs.evolve(static(a=2.5, b=2.5, c=0), slot_weights=False, accept_surplus=True)
    settings = attrs.evolve(
        settings, groups=[attrs.evolve(each, accept_surplus=True) for each in settings.groups]
    )
    rounds, _, _ = negotiate(settings, 6, {"a": 3, "b": 3})
    assert rounds.served == {"<none>", "c"}
    rounds, _, _ = negotiate(settings, 5, {"a": 3, "b": 3})
    assert rounds.served == {"<none>", "a", "c"}


def test_turns_alternate_with_their_ends():
    tree = GroupTree.of_groups(static(a=1).groups)
    quotas = assign_quotas(tree, 1, oversubscription=True)
    rounds = NegotiationRounds(
        static(a=1), tree, quotas, {"a": GroupDemand(1.0, (0,)), "<none>": GroupDemand()}, {}
    )
    with pytest.raises(InvalidCallError, match="no turn to end"):
        rounds.end_turn(usage={})
    assert rounds.next_turn().group == "a"
    with pytest.raises(InvalidCallError, match="group a has not ended"):
        rounds.next_turn()
    with pytest.raises(InvalidCallError, match="unknown groups: z"):
        rounds.end_turn(usage={"z": 1.0})
