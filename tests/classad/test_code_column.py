"""The entries of one attribute, row by row, whatever form they are kept in."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad.tables.code_column import CodeColumn

entries = st.integers(0, 2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("grow"), st.integers(0, 40) | st.just(400), entries),
        st.tuples(st.just("put"), st.lists(st.integers(0, 200), unique=True, max_size=5), entries),
        st.tuples(st.just("drop"), st.lists(st.integers(0, 200), unique=True, max_size=5), entries),
        st.tuples(st.just("mixed"), st.lists(st.integers(0, 200), unique=True, max_size=30), entries),
    ),
    max_size=12,
)


@given(steps)
def test_what_was_put_is_read(steps):
    """As from a list, however rows are added and changed, and whether they are read one by one or together."""
    codes, wanted = CodeColumn(), []
    for what, places, entry in steps:
        if what == "grow":
            rows = list(range(len(wanted), len(wanted) + places))
            wanted += [0] * len(rows)
        else:
            rows = [place for place in places if place < len(wanted)]
        new = [place % 4 for place in rows] if what == "mixed" else [entry] * len(rows)
        if what == "drop":
            codes.drop(np.array(rows, np.int64), len(wanted))
            new = [0] * len(rows)
        else:
            codes.put(np.array(rows, np.int64), np.array(new, np.int32), len(wanted))
        for row, code in zip(rows, new, strict=True):
            wanted[row] = code
        assert np.broadcast_to(codes.read(len(wanted)), (len(wanted),)).tolist() == wanted
    assert [codes.of(row) for row in range(len(wanted))] == wanted


def test_an_attribute_that_all_rows_share_is_one_number():
    """However many rows there are, and also after rows were replaced by others that share it."""
    codes = CodeColumn()
    for start in range(0, 1000, 100):
        codes.put(np.arange(start, start + 100), np.full(100, 7, np.int32), start + 100)
    codes.put(np.array([5, 3, 999]), np.full(3, 7, np.int32), 1000)
    assert codes.read(1000).shape == ()
    assert codes.read(1001).tolist() == [7] * 1000 + [0]


def test_an_attribute_that_becomes_rare_takes_little_room():
    """One that the first rows have, and of a million that follow only the last."""
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
    assert [codes[0].of(row) for row in (0, 99, 100, 1_000_000)] == [1, 100, 0, 7]
