"""The ranks of slots for jobs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pools
from negotiator.classad import Environment, Table, parse
from negotiator.classad.columnar import DependencyIndex, MemoryBudget
from negotiator.cycle.rank import Ranks
from negotiator.hooks.order_type import SlotRanks
from pools import ad, job, matched, slot, snapshot

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, float("nan"), float("inf"), float("-inf")]), st.floats(-3, 3)
)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), NUMBERS), min_size=1, max_size=20), st.data())
def test_many_requests_with_the_same_ranks_get_the_same_slots_as_the_first(found, data):
    values = [(memory, mips, str(flops)) for memory, mips, flops in found]
    texts = {"nan": 'real("NaN")', "inf": 'real("INF")', "-inf": '-real("INF")'}
    slots = Table.from_ads(
        ad(Memory=str(memory), Mips=str(mips), KFlops=texts.get(flops, flops))
        for memory, mips, flops in values
    )
    pool = SlotRanks(before=parse("-MY.Memory"), after=parse("MY.KFlops"))
    env, request = Environment(), ad(Rank="TARGET.Mips")
    ranks = Ranks(DependencyIndex(slots), env, MemoryBudget(), pool)
    masks = st.lists(st.booleans(), min_size=len(values), max_size=len(values))
    among, count = np.array(data.draw(masks)), data.draw(st.integers(1, len(values)))
    first = ranks.choose(request, among, count, env)[0].tolist()
    again = [ranks.choose(request, among, count, env)[0].tolist() for _ in range(40)]
    assert again == [first] * 40


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), NUMBERS), min_size=1, max_size=20),
    st.booleans(),
    st.data(),
)
def test_the_slots_ahead_of_another_are_those_that_are_chosen_before_it(found, scored, data):
    """With few requests of the same ranks, with so many that the slots are sorted, and with scores of the order."""
    texts = {"nan": 'real("NaN")', "inf": 'real("INF")', "-inf": '-real("INF")'}
    slots = Table.from_ads(
        ad(Memory=str(memory), Mips=str(mips), KFlops=texts.get(str(flops), str(flops)))
        for memory, mips, flops in found
    )
    pool = SlotRanks(before=parse("-MY.Memory"), after=parse("MY.KFlops"))
    env, request = Environment(), ad(Rank="TARGET.Mips")
    ranks = Ranks(DependencyIndex(slots), env, MemoryBudget(), pool)
    if scored:
        ranks.scores = np.array([flops for *_, flops in found])
    among = np.array(data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found))))
    row = data.draw(st.integers(0, len(found) - 1))
    for _ in range(40):
        everyone = ranks.choose(request, np.ones(len(found), np.bool_), len(found), env)[0].tolist()
        expected = [each for each in everyone[: everyone.index(row)] if among[each]]
        assert sorted(ranks.ahead(request, among, row, env).tolist()) == sorted(expected)


def test_jobs_in_turn_get_slots_by_their_own_ranks():
    slots = Table.from_ads(ad(Mips=str(mips)) for mips in (1, 3, 2))
    pool = SlotRanks(before=parse("0"))
    ranks = Ranks(DependencyIndex(slots), Environment(), MemoryBudget(), pool)
    jobs, everyone = (ad(Rank="TARGET.Mips"), ad(Rank="-TARGET.Mips")), np.ones(3, np.bool_)
    chosen = [ranks.choose(each, everyone, 3, Environment())[0].tolist() for each in (*jobs, *jobs)]
    assert chosen == [[1, 2, 0], [0, 2, 1]] * 2


def test_smaller_slots_come_first_then_those_of_higher_rank():
    slots = [slot(0, Memory="8192"), slot(1, Memory="2048", Mips="5"), slot(2, Memory="2048", Mips="9")]
    result = pools.cycle(snapshot(slots, [job(Rank="TARGET.Mips")]))
    assert matched(result) == [("1.0", "s2@h")]
    assert result.matches[0].rank == 9.0


def test_a_rank_that_is_not_a_number_counts_as_zero():
    slots = [slot(0, Mips="-1"), slot(1), slot(2, Mips='"fast"')]
    result = pools.cycle(snapshot(slots, [job(Rank="TARGET.Mips")]))
    assert matched(result) == [("1.0", "s1@h")]


def test_a_slot_that_prefers_the_job_precedes_a_smaller_one():
    slots = [slot(0, Memory="1"), slot(1, Rank='TARGET.Owner == "tester"')]
    assert matched(pools.cycle(snapshot(slots, [job()]))) == [("1.0", "s1@h")]


def test_a_rank_of_minus_zero_stays_so():
    slots = [slot(n, LoadAvg="0.0") for n in range(3)]
    result = pools.cycle(snapshot(slots, [job(n, Rank="-TARGET.LoadAvg") for n in range(3)]))
    assert [str(match.rank) for match in result.matches] == ["-0.0"] * 3
