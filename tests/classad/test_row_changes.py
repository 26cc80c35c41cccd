"""Tables that are sent as the rows that changed since the one before: the receiver has the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import Ad, Table, parse_old
from negotiator.classad.tables import (
    AdDictionary,
    ByteReader,
    ByteWriter,
    DamagedDataError,
    RowHasher,
    read_changes,
    rows_before,
    write_changes,
    write_rows,
)

VALUES = ("1", "1.0", "true", '"a"', '"A"', "B + 1", "TARGET.A", "{1, B}", "undefined", "2", "3")
values = st.sampled_from(VALUES).map(parse_old)
ads = st.lists(st.tuples(st.sampled_from("AaBCD"), values), max_size=4).map(Ad)
tables = st.lists(ads, max_size=9)


def canonical(store):
    """Return the bytes of a table, which are equal for equal ads in equal order."""
    chunks = []
    write_rows(store, ByteWriter(chunks.append))
    return b"".join(chunks)


def sent(last, store, hasher):
    """Return the bytes of a table as changes from the last one."""
    before = np.full(len(store), -1) if last is None else rows_before(last, store, hasher)
    chunks = []
    write_changes(store, before, ByteWriter(chunks.append))
    return b"".join(chunks)


@given(st.lists(tables, min_size=1, max_size=4), st.data())
def test_a_series_of_tables_arrives_whatever_rows_come_go_move_or_change(series, data):
    dictionary, hasher, last, received = AdDictionary(), RowHasher(), None, None
    known = []
    for each in series:
        # Rows of earlier tables, in any order, beside new ones.
        mixed = (
            data.draw(st.permutations([*each, *data.draw(st.lists(st.sampled_from(known), max_size=5))]))
            if known
            else each
        )
        known += mixed
        store = Table.from_ads(mixed, dictionary).row_store(dictionary)
        content = sent(last, store, hasher)
        received = read_changes(
            received, ByteReader(content), AdDictionary() if received is None else received.dictionary
        )
        assert canonical(received) == canonical(store)
        last = store


def test_rows_that_have_not_changed_are_not_sent():
    dictionary, hasher = AdDictionary(), RowHasher()
    rows = [Ad([("Name", f"slot{n}"), ("Memory", n)]) for n in range(500)]
    first = Table.from_ads(rows, dictionary).row_store(dictionary)
    moved = [*rows[250:], Ad([("Name", "slot7"), ("Memory", -1)]), *rows[:250]]
    second = Table.from_ads(moved, dictionary).row_store(dictionary)
    before = rows_before(first, second, hasher)
    assert np.flatnonzero(before < 0).tolist() == [250]
    assert len(sent(first, second, hasher)) < len(sent(None, second, hasher)) / 2


def test_a_row_with_the_hash_of_another_one_is_sent(monkeypatch):
    monkeypatch.setattr(RowHasher, "of", lambda _, store: np.zeros(len(store), np.uint64))
    dictionary, hasher = AdDictionary(), RowHasher()
    first = Table.from_ads([Ad([("A", 1)]), Ad([("A", 2)])], dictionary).row_store(dictionary)
    second = Table.from_ads([Ad([("A", 2)]), Ad([("a", 1)]), Ad([("A", 1)])], dictionary)
    assert rows_before(first, second.row_store(dictionary), hasher).tolist() == [-1, -1, 0]


def test_rows_of_a_table_with_added_attributes_have_them():
    dictionary = AdDictionary()
    table = Table.from_ads([Ad([("A", 1), ("B", 2)]), Ad([("A", 3)]), Ad([("b", 5)])], dictionary)
    added = table.take(np.array([2, 0])).with_attributes(
        {"B": (np.array([0, 1]), [None, 7]), "C": (np.array([1, 0]), ["x", None])}
    )
    expected = Table.from_ads([Ad([]), Ad([("A", 1), ("B", 7), ("C", "x")])], dictionary)
    assert canonical(added.row_store(dictionary)) == canonical(expected.row_store(dictionary))
    assert [str(ad) for ad in Table(added.row_store(dictionary), None).ads] == [str(ad) for ad in added.ads]


def test_changes_of_a_table_that_the_receiver_does_not_have_are_refused():
    dictionary, hasher = AdDictionary(), RowHasher()
    store = Table.from_ads([Ad([("A", 1)])], dictionary).row_store(dictionary)
    content = sent(store, store, hasher)
    with pytest.raises(DamagedDataError, match="missing"):
        read_changes(None, ByteReader(content), AdDictionary())
    with pytest.raises(DamagedDataError, match="place"):
        read_changes(store.take(np.zeros(0, np.int64)), ByteReader(content), dictionary)
