"""The columns of a table as a stream of the Arrow C interface, made by nanoarrow (extra ``negotiator[arrow]``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from negotiator.library.data_frames import library
from negotiator.library.table_rows import CellType, ColumnValues, TableRows

_LARGEST_OFFSET: Final = 2**31 - 1


def arrow_stream(rows: TableRows[object]) -> object:
    """Return a PyCapsule with one batch of all rows; see ``Table.__arrow_c_stream__``."""
    nanoarrow = library("nanoarrow", "Arrow", "negotiator[arrow]")
    types = {
        CellType.BOOLEAN: nanoarrow.bool_(),
        CellType.INTEGER: nanoarrow.int64(),
        CellType.REAL: nanoarrow.float64(),
    }
    schema, children = {}, []
    for name in rows.names:
        column = rows.column(name)
        if column.type is CellType.TEXT:
            offsets, data = _text_buffers(column)
            kind = nanoarrow.string() if offsets.dtype == np.int32 else nanoarrow.large_string()
            buffers: tuple[Any, ...] = (offsets, data)
        else:
            kind = types[column.type]
            is_boolean = column.type is CellType.BOOLEAN
            buffers = (_bits(column.values) if is_boolean else np.ascontiguousarray(column.values),)
        schema[name] = kind
        validity = None if column.valid.all() else _bits(column.valid)
        children.append(
            nanoarrow.c_array_from_buffers(
                kind, len(rows), (validity, *buffers), int(np.count_nonzero(~column.valid))
            )
        )
    batch = nanoarrow.c_array_from_buffers(nanoarrow.struct(schema), len(rows), (None,), 0, 0, children)
    return nanoarrow.c_array_stream(batch).__arrow_c_stream__()


def _bits(mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.packbits(mask, bitorder="little")


def _text_buffers(column: ColumnValues) -> tuple[np.ndarray[Any, Any], bytes]:
    """Return the offsets, (N + 1,), and the UTF-8 bytes of the texts, which are empty without a value."""
    encoded = [text.encode() for text in column.strings] or [b""]
    codes = column.values
    sizes = np.array([*map(len, encoded)], np.int64)
    lengths = np.where(column.valid, sizes[codes], 0)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    data = b"".join([encoded[code] for code in codes[column.valid].tolist()])
    return offsets.astype(np.int32 if len(data) <= _LARGEST_OFFSET else np.int64), data
