"""The rows in which a condition is true, as bits: the same rows as masks, in any combination."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad.columnar import PackedMask, TrueRows, number_of_bits

masks = st.integers(1, 150).flatmap(lambda size: st.lists(st.booleans(), min_size=size, max_size=size))


@given(masks)
def test_rows_counts_and_single_rows_are_those_of_the_mask(mask):
    found = TrueRows.from_mask(np.array(mask))
    assert found.rows.tolist() == mask
    assert (found.count, found.has_false) == (sum(mask), not all(mask))
    assert found.at(np.arange(len(mask))[::-1]).tolist() == mask[::-1]


@given(st.data(), masks)
def test_a_condition_of_some_rows_is_extended_to_all(data, mask):
    size = len(mask) + data.draw(st.integers(0, 20))
    rows = np.array(data.draw(st.permutations(range(size)))[: len(mask)], np.intp)
    expected = np.ones(size, np.bool_)
    expected[rows] = mask
    condition = TrueRows.from_mask(np.array(mask))
    for _ in range(2):
        assert condition.extended(rows, size).rows.tolist() == expected.tolist()


@given(
    st.integers(1, 150).flatmap(
        lambda size: st.lists(st.lists(st.booleans(), min_size=size, max_size=size), min_size=1)
    )
)
def test_both_of_several_conditions_are_true_where_each_is(conditions):
    found = reduce(TrueRows.both, [TrueRows.from_mask(np.array(mask)) for mask in conditions])
    assert found.rows.tolist() == np.all(conditions, axis=0).tolist()
    assert found.count == np.count_nonzero(np.all(conditions, axis=0))


@given(st.binary(max_size=40))
def test_bits_are_counted_in_bytes_of_any_number(content):
    assert number_of_bits(np.frombuffer(content, np.uint8)) == sum(each.bit_count() for each in content)


def test_memory_for_the_extension_is_reserved():
    assert TrueRows(8, 8, None, reserved=100).nbytes == 101
    assert TrueRows.from_mask(np.array([True, False])).nbytes == 1


@given(
    st.integers(1, 40).flatmap(
        lambda size: st.lists(st.sets(st.integers(0, size - 1))).map(lambda sets: (size, sets))
    )
)
def test_a_packed_mask_has_every_row_that_was_added(sizes):
    size, batches = sizes
    packed, expected = PackedMask(size), np.zeros(size, np.bool_)
    for batch in batches:
        packed.add(np.array(sorted(batch), np.intp))
        expected[list(batch)] = True
        assert packed.rows.rows.tolist() == expected.tolist()
        assert packed.rows.count == np.count_nonzero(expected)


@given(st.data(), masks)
def test_rows_without_others_are_those_that_the_others_lack(data, mask):
    others = data.draw(st.lists(st.booleans(), min_size=len(mask), max_size=len(mask)))
    found = TrueRows.from_mask(np.array(mask)).without(TrueRows.from_mask(np.array(others)))
    assert found.rows.tolist() == [one and not two for one, two in zip(mask, others, strict=True)]
    assert found.count == sum(found.rows)


@pytest.mark.parametrize("value", [True, False])
def test_one_value_for_all_rows_takes_no_bits(value):
    found = TrueRows.from_mask(np.broadcast_to(np.bool_(value), (9,)))
    assert (found.count, found.bits) == (9 * value, None)
