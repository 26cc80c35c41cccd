"""The codes of one attribute for all rows, in any of the forms in which they are stored."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad.tables.attribute_codes import CodeColumn

entries = st.integers(0, 2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("grow"), st.integers(0, 40) | st.just(400), entries),
        st.tuples(st.just("run"), st.integers(0, 40) | st.just(400), st.integers(1, 2)),
        st.tuples(st.just("put"), st.lists(st.integers(0, 200), unique=True, max_size=5), entries),
        st.tuples(st.just("drop"), st.lists(st.integers(0, 200), unique=True, max_size=5), entries),
        st.tuples(st.just("mixed"), st.lists(st.integers(0, 200), unique=True, max_size=30), entries),
    ),
    max_size=12,
)


@given(steps)
def test_codes_are_read_as_they_were_put(steps):
    """As from a list, however rows are added and changed, read one by one or all together."""
    codes, expected = CodeColumn(), []
    for what, places, entry in steps:
        if what in ("grow", "run"):
            rows = list(range(len(expected), len(expected) + places))
            expected += [0] * len(rows)
        else:
            rows = [place for place in places if place < len(expected)]
        new = [place % 4 for place in rows] if what == "mixed" else [entry] * len(rows)
        if what == "drop":
            codes.drop(np.array(rows, np.int64), len(expected))
            new = [0] * len(rows)
        elif what == "run":
            codes.put_run(range(len(expected) - places, len(expected)), entry, len(expected))
        else:
            codes.put(np.array(rows, np.int64), np.array(new, np.int32), len(expected))
        for row, code in zip(rows, new, strict=True):
            expected[row] = code
        assert np.broadcast_to(codes.read(len(expected)), (len(expected),)).tolist() == expected
    assert [codes.code(row) for row in range(len(expected))] == expected


def test_an_attribute_that_all_rows_share_is_one_number():
    """For any number of rows, also after rows were replaced by others with the same value."""
    codes = CodeColumn()
    for start in range(0, 1000, 100):
        codes.put(np.arange(start, start + 100), np.full(100, 7, np.int32), start + 100)
    codes.put(np.array([5, 3, 999]), np.full(3, 7, np.int32), 1000)
    assert codes.read(1000).shape == ()
    assert codes.read(1001).tolist() == [7] * 1000 + [0]


def test_an_attribute_that_becomes_rare_takes_little_memory():
    """The first rows have it, and of a million further rows only the last."""
    tracemalloc.start()
    try:
        codes = [CodeColumn() for _ in range(10)]
        for each in codes:
            each.put(np.arange(100), np.arange(1, 101, dtype=np.int32), 100)
            each.put(np.array([1_000_000]), np.array([7], np.int32), 1_000_001)
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
    assert codes[0].read(1_000_001).nonzero()[0].tolist() == [*range(100), 1_000_000]
    assert [codes[0].code(row) for row in (0, 99, 100, 1_000_000)] == [1, 100, 0, 7]
