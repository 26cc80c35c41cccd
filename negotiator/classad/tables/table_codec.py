"""Tables as bytes: canonical, without loss, and cheap to digest.

Equal ads in equal order have equal bytes, with any contents of the table's dictionary: values are written in the
order of the rows, and texts and expressions are numbered by first appearance. That takes time linear in rows and
distinct values. No rows are sorted, and no ad is visited.

The parts of a table: the number of rows; the distinct layouts (the spelled names of an ad, in order) by first
appearance; the layout of each row; and for each attribute, sorted by its name in lower case, the cells of the rows that
have it: the type of each, then the integers, the bits of the reals, the strings and the expressions. Strings and
expressions are a list of distinct ones and the place of each row's in it.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.classad.syntax import fold
from negotiator.classad.tables.byte_stream import ByteReader, ByteWriter, DamagedDataError
from negotiator.classad.tables.dictionary import AdDictionary, TooManyNamesError
from negotiator.classad.tables.distinct_values import ABSENT, DistinctValues
from negotiator.classad.tables.expression_codec import expression_of
from negotiator.classad.tables.grouping import number
from negotiator.classad.tables.store import RowStore
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.tables.column import IndexArray
    from negotiator.classad.tables.dictionary import AdLayout

_CELL_KINDS: Final = frozenset({Kind.INTEGER, Kind.REAL, Kind.STRING, Kind.EXPRESSION})
_NUMBERS: Final = (Kind.INTEGER, Kind.REAL)


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
