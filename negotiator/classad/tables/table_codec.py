"""Tables as bytes: canonical, without loss, and cheap to digest; and the rows that differ between two tables.

Equal ads in equal order have equal bytes, with any contents of the table's dictionary: values are written in the
order of the rows, and texts and expressions are numbered by first appearance. That takes time linear in rows and
distinct values. No rows are sorted, and no ad is visited.

The parts of a table: the number of rows; the distinct layouts (the spelled names of an ad, in order) by first
appearance; the layout of each row; and for each attribute, sorted by its name in lower case, the cells of the rows that
have it: the type of each, then the integers, the bits of the reals, the strings and the expressions. Strings and
expressions are a list of distinct ones and the place of each row's in it.

A series of tables is sent as the changes from each to the next. Rows are equal if their names and all their cells are,
wherever they are in the tables. So nothing has to be known of what identifies an ad, and ads that come, go, move or change
are the same case.
"""

from __future__ import annotations

import random
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.syntax import fold
from negotiator.classad.tables.dictionary import AdDictionary, TooManyNamesError
from negotiator.classad.tables.distinct_values import ABSENT, DistinctValues, number
from negotiator.classad.tables.serialization import ByteReader, ByteWriter, DamagedDataError, expression_of
from negotiator.classad.tables.store import RowStore
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.tables.column import IndexArray
    from negotiator.classad.tables.dictionary import AdLayout

_CELL_KINDS: Final = frozenset({Kind.INTEGER, Kind.REAL, Kind.STRING, Kind.EXPRESSION})
_NUMBERS: Final = (Kind.INTEGER, Kind.REAL)
_VERSION: Final = 1
_NEW: Final = -1  # the place in the table before of a row that was not in it


def write_rows(store: RowStore, writer: ByteWriter) -> None:
    """Write the rows of a store.

    :raises ValueError: an expression has an ``AdRef``, which no ad can have.
    """
    size = len(store)
    writer.number(size)
    layout_of_row, layouts = _distinct_layouts(store)
    writer.number(len(layouts))
    for names in layouts:
        writer.texts(names)
    writer.layouts(layout_of_row)
    for name in sorted({fold(name) for names in layouts for name in names}):
        _write_cells(store.encoded(name).codes, size, store.dictionary.entries[name], writer)


def _distinct_layouts(store: RowStore) -> tuple[IndexArray, list[tuple[str, ...]]]:
    numbers, layouts = store.layouts()
    ids, first = number(numbers, len(layouts))
    names = [layouts[index].names(store.dictionary) for index in numbers[first].tolist()]
    ids, distinct = _merge(ids, names)
    return ids, distinct


def _merge(ids: IndexArray, values: Sequence[Any]) -> tuple[IndexArray, list[Any]]:
    """Number equal values once; ``ids`` are numbers of ``values``, which are in order of first appearance."""
    distinct = dict.fromkeys(values)
    if len(distinct) == len(values):  # nearly always: the dictionary remembers most lines
        return ids, list(values)
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(numbers.__getitem__, values), np.int64, len(values))[ids], list(distinct)


def _write_cells(codes: NDArray[np.int32], size: int, entries: DistinctValues, writer: ByteWriter) -> None:
    """Write one attribute; ``codes`` are the entries of all rows, ABSENT included, or () if all have the same."""
    count = size
    if codes.ndim == 0:
        codes = codes.reshape(1)
    elif (absent := codes == ABSENT).any():
        codes = codes[~absent]
        count = len(codes)
    kinds, payloads = entries.kinds()[codes], entries.payloads()[codes]
    writer.integers(kinds, count)
    if (kinds == kinds[0]).all():
        _write_values(Kind(int(kinds[0])), payloads, count, entries, writer)
        return
    for kind in np.unique(kinds).tolist():
        chosen = payloads[kinds == kind]
        _write_values(Kind(kind), chosen, len(chosen), entries, writer)


def _write_values(
    kind: Kind, payloads: IndexArray, count: int, entries: DistinctValues, writer: ByteWriter
) -> None:
    """Write ``count`` cells of one kind in row order; a single payload is shared by all of them."""
    if kind in _NUMBERS:
        writer.integers(payloads, count)
        return
    known = entries.texts if kind is Kind.STRING else entries.trees
    ids, first = number(payloads, len(known))
    used = payloads[first].tolist()
    if kind is Kind.STRING:
        ids, texts = _merge(ids, [entries.texts[index] for index in used])
        writer.integers(ids, count)
        writer.texts(texts)
    else:
        ids, expressions = _merge(ids, [entries.tokens(index) for index in used])
        writer.integers(ids, count)
        writer.integers(np.fromiter(map(len, expressions), np.int64, len(expressions)))
        writer.texts(list(chain.from_iterable(expressions)))


def read_rows(reader: ByteReader, dictionary: AdDictionary) -> RowStore:
    """Return the rows that were written, in a new store of this dictionary.

    :raises DamagedDataError: the bytes are not those of rows, or they do not fit into the dictionary.
    """
    size = reader.count()
    try:
        layouts = [_layout(reader.texts(), dictionary) for _ in range(reader.count())]
    except TooManyNamesError as error:
        raise DamagedDataError(str(error)) from None
    layout_of_row = reader.layouts(size)
    if size and not 0 <= int(layout_of_row.min()) <= int(layout_of_row.max()) < len(layouts):
        raise DamagedDataError("invalid layout of an ad")
    columns: dict[str, tuple[IndexArray, NDArray[np.int32]]] = {}
    for name in sorted({name for layout in layouts for name in layout.attributes}):
        has = np.array([name in layout.shape.index for layout in layouts], np.bool_)
        rows = np.arange(size) if has.all() else np.flatnonzero(has[layout_of_row])
        columns[name] = rows, _read_cells(len(rows), dictionary.entries[name], reader)
    return RowStore.of_columns(dictionary, layouts, layout_of_row, columns)


def _layout(names: list[str], dictionary: AdDictionary) -> AdLayout:
    if not all(names) or len({fold(name) for name in names}) < len(names):
        raise DamagedDataError("invalid names of attributes")
    layout = dictionary.layout(tuple(names))
    if len(layout.attributes) < len(names):
        raise DamagedDataError("an ad has a secret")
    return layout


def _read_cells(count: int, entries: DistinctValues, reader: ByteReader) -> NDArray[np.int32]:
    """Read the cells of one attribute; return the entry of each of the ``count`` rows that have it."""
    kinds = _exactly(count, reader)
    codes = np.zeros(count, np.int64)
    for kind in sorted(_CELL_KINDS):
        rows = np.flatnonzero(kinds == kind)
        if len(rows):
            codes[rows] = _read_values(kind, len(rows), entries, reader)
    if (codes == ABSENT).any():
        raise DamagedDataError("invalid type of a cell")
    return codes.astype(np.int32)


def _read_values(kind: Kind, count: int, entries: DistinctValues, reader: ByteReader) -> IndexArray:
    ids = _exactly(count, reader)
    if kind in _NUMBERS:
        values, ids = np.unique(ids, return_inverse=True)
        return entries.extend(kind, values)[ids]
    if kind is Kind.STRING:
        added = np.array([entries.add_string(text) for text in reader.texts()], np.int64)
    else:
        lengths = reader.integers(max_count=reader.left)
        tokens = reader.texts()
        if len(lengths) and (int(lengths.min()) < 0 or int(lengths.max()) > len(tokens)):
            raise DamagedDataError("invalid length of an expression")
        ends = np.cumsum(lengths).tolist()
        pieces = [tokens[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        added = np.array([entries.add(expression_of(piece)) for piece in pieces], np.int64)
    if not 0 <= int(ids.min()) <= int(ids.max()) < len(added):
        raise DamagedDataError("invalid number of a value")
    return added[ids]


def _exactly(count: int, reader: ByteReader) -> IndexArray:
    values = reader.integers(max_count=count)
    if len(values) != count:
        raise DamagedDataError("an attribute has the wrong number of rows")
    return values


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
