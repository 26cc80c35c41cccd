"""The rows that differ between two tables, as bytes: a series of tables is sent as the changes from each to the next.

Rows are equal if their names and all their cells are, wherever they are in the tables. So nothing has to be known of what
identifies an ad, and ads that come, go, move or change are the same case.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.tables.byte_stream import ByteReader, ByteWriter, DamagedDataError
from negotiator.classad.tables.dictionary import AdDictionary
from negotiator.classad.tables.distinct_values import ABSENT
from negotiator.classad.tables.store import RowStore
from negotiator.classad.tables.table_codec import read_rows, write_rows

if TYPE_CHECKING:
    from negotiator.classad.tables.column import IndexArray
    from negotiator.classad.tables.dictionary import AdLayout

_VERSION: Final = 1
_NEW: Final = -1  # the place in the table before of a row that was not in it


@attrs.define(eq=False)
class RowHasher:
    """Hashes of rows of one dictionary; different rows of a table seldom have the same."""

    _factors: dict[str, int] = attrs.field(factory=dict, init=False)
    _layouts: dict[int, tuple[AdLayout, int]] = attrs.field(factory=dict, init=False)
    _random: random.Random = attrs.field(factory=random.SystemRandom, init=False)

    def of(self, store: RowStore) -> NDArray[np.uint64]:
        """Return a hash of each row, (N,)."""
        numbers, layouts = store.layouts()
        own = np.array([self._of_layout(layout) for layout in layouts], np.uint64)
        found = own[numbers] if len(numbers) else np.zeros(0, np.uint64)
        for name in store.names(None):
            codes = store.encoded(name).codes.astype(np.uint64)
            found = found + codes * np.uint64(self._factor(name))
        return found

    def _factor(self, name: str) -> int:
        """Return a random odd number: codes that differ then have different products."""
        return self._factors.setdefault(name, self._random.getrandbits(64) | 1)

    def _of_layout(self, layout: AdLayout) -> int:
        known = self._layouts.setdefault(id(layout), (layout, self._random.getrandbits(64)))
        return known[1]


def rows_before(old: RowStore, new: RowStore, hasher: RowHasher) -> IndexArray:
    """Return for each row of ``new`` the place of an equal row of ``old``, -1 without one: (N,)."""
    hashes = hasher.of(old)
    order = np.argsort(hashes, kind="stable")
    wanted = hasher.of(new)
    if not len(order):
        return np.full(len(wanted), _NEW, np.int64)
    at = np.searchsorted(hashes, wanted, sorter=order).clip(max=len(order) - 1)
    places = order[at]
    equal = hashes[places] == wanted
    # Hashes only find the candidates: a row that has changed must never count as equal.
    for name in old.names(None) | new.names(None):
        before, after = old.encoded(name).codes, new.encoded(name).codes
        equal &= (before[places] if before.ndim else before) == after
    (of_old, old_layouts), (of_new, new_layouts) = old.layouts(), new.layouts()
    known = {id(layout): number for number, layout in enumerate(old_layouts)}
    numbers = np.array([known.get(id(layout), _NEW) for layout in new_layouts], np.int64)
    equal &= numbers[of_new] == of_old[places]
    return np.where(equal, places, _NEW)


def write_changes(new: RowStore, before: IndexArray, writer: ByteWriter) -> None:
    """Write a table as the places that its rows had in the one before it, and the rows that were not in it.

    :param before: as ``rows_before`` returns them, (N,); all -1 to write all rows.
    :raises ValueError: an expression has a reference that no ad can have (``AdRef``).
    """
    writer.number(_VERSION)
    writer.integers(np.diff(before, prepend=0))  # rows that stay together are ones
    write_rows(new.take(np.flatnonzero(before == _NEW)), writer)


def read_changes(old: RowStore | None, reader: ByteReader, dictionary: AdDictionary) -> RowStore:
    """Return the table that was written, in a new store.

    :param old: the table before it, in the same dictionary; None if all rows were written.
    :raises DamagedDataError: the bytes are not those of changes of this table.
    """
    if reader.number() != _VERSION:
        raise DamagedDataError("another version wrote the changes")
    before = np.cumsum(reader.integers(max_count=1 << 32))
    added = read_rows(reader, dictionary)
    is_new = before == _NEW
    if int(np.count_nonzero(is_new)) != len(added):
        raise DamagedDataError("invalid number of changed rows")
    if old is None:
        if not is_new.all():
            raise DamagedDataError("the table before these changes is missing")
        return added
    if len(before) and not _NEW <= int(before.min()) <= int(before.max()) < len(old):
        raise DamagedDataError("invalid place of a row")
    return _joined(old, added, before, is_new)


def _joined(old: RowStore, added: RowStore, before: IndexArray, is_new: NDArray[np.bool_]) -> RowStore:
    """Return rows of ``old`` and of ``added``, which has those that are new."""
    kept = before[~is_new]
    columns = {}
    for name in old.names(kept) | added.names(None):
        codes = np.full(len(before), ABSENT, np.int32)
        found = old.encoded(name).codes
        codes[~is_new] = found[kept] if found.ndim else found
        codes[is_new] = added.encoded(name).codes
        present = np.flatnonzero(codes != ABSENT)
        columns[name] = present, codes[present]
    (of_old, old_layouts), (of_added, added_layouts) = old.layouts(), added.layouts()
    layouts = np.zeros(len(before), np.int64)
    layouts[~is_new] = of_old[kept]
    layouts[is_new] = of_added + len(old_layouts)
    used, numbers = np.unique(layouts, return_inverse=True)
    known = [*old_layouts, *added_layouts]
    return RowStore.of_columns(
        old.dictionary, [known[each] for each in used.tolist()], numbers.reshape(-1), columns
    )
