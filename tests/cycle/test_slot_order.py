"""The order of slots by ranks."""

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cycle import slot_order
from negotiator.cycle.slot_order import PoolOrder, SortedByRanks, best

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, float("nan"), float("inf"), float("-inf")]), st.floats(-3, 3)
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=30), st.data())
def test_the_best_candidates_are_the_first_of_a_full_sort(pairs, data):
    count = data.draw(st.integers(1, len(pairs)))
    keys = [np.array(column) for column in zip(*pairs, strict=True)]
    low = float("-inf")
    weigh = [tuple(low if np.isnan(value) else value for value in pair) for pair in pairs]
    expected = sorted(range(len(pairs)), key=lambda row: (-weigh[row][0], -weigh[row][1], row))[:count]
    assert best(count, *keys).tolist() == expected


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3), NUMBERS), min_size=1, max_size=40),
    st.sampled_from([1, 700]),
    st.data(),
)
def test_the_best_of_some_slots_in_the_pools_order_are_the_first_of_a_full_sort(slots, copies, data):
    among, levels, ranks = (np.array(column) for column in zip(*slots * copies, strict=True))
    count = data.draw(st.integers(1, len(ranks)))
    keys = (np.where(np.isnan(ranks), -np.inf, ranks), levels.astype(np.float64))
    rows = np.flatnonzero(among)
    expected = rows[np.lexsort((rows, -keys[0][rows], -keys[1][rows]))][:count]
    order = PoolOrder.of(levels.astype(np.float64))
    assert order.best(among, (ranks,), count).tolist() == expected.tolist()
    found = SortedByRanks()
    sorted_slots = [found.of(order, ranks) for _ in range(32)][-1]
    assert sorted_slots.first(among, count).tolist() == expected.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 1999), st.integers(1, 600)), min_size=1, max_size=60),
    st.integers(0, 99),
    st.sampled_from([slot_order._SCANNED, 300]),
)
def test_the_best_slots_that_are_left_stay_the_first_of_a_full_sort_as_slots_are_taken(turns, seed, scanned):
    """Also where few of the slots in question are among the best of all, so that they are asked where they are."""
    random = np.random.default_rng(seed)
    ranks, levels = (
        random.integers(0, 9, 2000).astype(np.float64),
        random.integers(0, 3, 2000).astype(np.float64),
    )
    found, order = SortedByRanks(), PoolOrder.of(levels)
    sorted_slots = [found.of(order, ranks) for _ in range(32)][-1]
    everything, taken = order.sorted((ranks,)), np.zeros(2000, np.bool_)
    for first, count in turns * 3:
        among = ~taken & (np.arange(2000) >= first // 2)
        expected = everything[among[everything]][:count]
        with patch.object(slot_order, "_SCANNED", scanned):
            assert sorted_slots.first(among, count, taken).tolist() == expected.tolist()
        taken[expected] = True
