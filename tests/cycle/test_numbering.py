"""Numbers for alike rows, compared with a dictionary over the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from negotiator.cycle.numbering import combined, first_rows, numbered

SIZES = st.integers(0, 12)


def column(size, dtype=np.int64, elements=None):
    return npst.arrays(dtype, size, elements=elements)


def few(size):
    """Return a strategy for columns with few values, so that rows are alike."""
    return column(size, elements=st.integers(-2, 2))


def wide(size):
    """Return a strategy for columns over the whole range of integers."""
    ends = st.sampled_from((-(2**63), -1, 0, 1, 2**40, 2**63 - 1))
    return column(size, elements=ends)


COLUMNS = SIZES.flatmap(lambda size: st.lists(few(size) | wide(size), min_size=1, max_size=4))


@given(SIZES.flatmap(few) | SIZES.flatmap(wide))
def test_rows_are_numbered_in_the_order_of_their_values(values):
    order = {value: number for number, value in enumerate(sorted(set(values.tolist())))}
    numbers, count = numbered(values)
    assert numbers.tolist() == [order[value] for value in values.tolist()]
    assert (count, numbers.dtype) == (len(order), np.int64)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.bool_, np.float64])
def test_the_type_of_the_values_does_not_matter(dtype):
    numbers, count = numbered(np.array([1, 0, 1, 1, 0], dtype))
    assert (numbers.tolist(), count) == ([1, 0, 1, 1, 0], 2)


def test_sparse_values_are_numbered_without_a_dense_table():
    numbers, count = numbered(np.array([2**62, -(2**62), 5, 2**62]))
    assert (numbers.tolist(), count) == ([2, 0, 1, 2], 3)


@given(COLUMNS)
def test_rows_share_a_number_only_if_all_columns_are_equal(columns):
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    numbers, count = combined(*columns)
    pairs = set(zip(rows, numbers.tolist(), strict=True))
    assert len(pairs) == len(set(rows)) == len({number for _, number in pairs}) == count
    assert sorted({number for _, number in pairs}) == list(range(count))


@given(COLUMNS)
def test_first_rows_returns_the_first_row_of_each_number(columns):
    numbers, count = combined(*columns)
    assert first_rows(numbers, count).tolist() == [numbers.tolist().index(each) for each in range(count)]
