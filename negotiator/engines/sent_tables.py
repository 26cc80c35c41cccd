"""Tables of cycles as they are sent to workers on other machines: the first as a whole, each later one as the rows that changed."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from negotiator.classad import Table
from negotiator.classad.tables import (
    AdDictionary,
    ByteReader,
    ByteWriter,
    IndexArray,
    RowHasher,
    RowStore,
    read_changes,
    rows_before,
    write_changes,
)

#: A table is sent as a whole again when so many times its rows were sent as changes: what they brought is in the memory of workers.
_MOST_CHANGED: Final = 4


@attrs.define(eq=False)
class TableSender:
    """Writes a series of tables. ``is_whole``: the last one was not written as changes.

    Only rows that were read with the same dictionary are compared: those of a live pool from cycle to cycle.
    """

    is_whole: bool = attrs.field(default=True, init=False)
    _hasher: RowHasher = attrs.field(factory=RowHasher, init=False)
    _last: RowStore | None = attrs.field(default=None, init=False)
    _changed: int = attrs.field(default=0, init=False)  # rows since the last whole table

    def changes(self, table: Table, dictionary: AdDictionary) -> bytes:
        """Return the next table as the changes since the last one.

        :param dictionary: for ads that were not read with one.
        """
        # A copy: rows of the pool's own store are replaced before the next cycle.
        store = table.take(np.arange(len(table))).row_store(dictionary)
        before, last = np.full(len(store), -1, np.int64), self._last
        is_series = last is not None and last.dictionary is store.dictionary
        if last is not None and is_series and self._changed <= _MOST_CHANGED * len(store):
            before = rows_before(last, store, self._hasher)
        new = int(np.count_nonzero(before < 0))
        self.is_whole = new == len(store)
        self._changed = 0 if self.is_whole else self._changed + new
        self._last = store
        return _written(store, before)

    @property
    def dictionary(self) -> AdDictionary | None:
        """The dictionary of the last table, None before the first one."""
        return None if self._last is None else self._last.dictionary

    def whole(self) -> bytes:
        """Return the last table as a whole."""
        assert self._last is not None  # noqa: S101 - for the type: ``changes`` comes first
        return _written(self._last, np.full(len(self._last), -1, np.int64))


@attrs.define(eq=False)
class TableReceiver:
    """Reads a series of tables."""

    _last: RowStore | None = attrs.field(default=None, init=False)

    def read(self, data: bytes, *, is_whole: bool) -> Table:
        """Return the next table.

        :raises DamagedDataError: the bytes are not those of the next table.
        """
        last = None if is_whole else self._last
        dictionary = AdDictionary() if last is None else last.dictionary
        self._last = read_changes(last, ByteReader(data), dictionary)
        return Table(self._last, None)


def _written(store: RowStore, before: IndexArray) -> bytes:
    chunks: list[bytes] = []
    write_changes(store, before, ByteWriter(chunks.append))
    return b"".join(chunks)
