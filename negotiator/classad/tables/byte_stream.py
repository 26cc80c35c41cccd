"""Writes and reads the parts of a serialised table: numbers, texts and arrays, each of one canonical form.

All numbers are little-endian. Nothing in the bytes is executed, and no part is larger than the bytes that are left.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.classad.syntax import ClassAdError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NUMBER: Final = struct.Struct("<q")
_WIDTHS: Final = tuple(np.dtype(name) for name in ("<u1", "<u2", "<u4", "<i1", "<i2", "<i4", "<i8"))
_ALL_EQUAL: Final = 16
"""Added to the width of an array that has one value only."""


class DamagedDataError(ClassAdError):
    """The bytes were not written by this version, or they are damaged."""


class ByteWriter:
    """Writes parts to a sink, such as ``list.append`` or the ``update`` of a hash."""

    __slots__ = ("_sink",)

    def __init__(self, sink: Callable[[bytes], Any]) -> None:
        self._sink = sink

    def number(self, value: int) -> None:
        """Write an integer of 64 bits."""
        self._sink(_NUMBER.pack(value))

    def texts(self, texts: Sequence[str]) -> None:
        """Write texts: the length of each in characters, then all of them as UTF-8."""
        self.integers(np.fromiter(map(len, texts), np.int64, len(texts)))
        data = "".join(texts).encode(
            "utf-8", "surrogatepass"
        )  # surrogates represent bytes that are not UTF-8
        self.number(len(data))
        self._sink(data)

    def layouts(self, values: NDArray[np.int64]) -> None:
        """Write one integer for each row, not shortened: a reader takes the number of rows from their bytes."""
        self._sink(values.astype("<u4").tobytes())

    def integers(self, values: NDArray[Any], count: int | None = None) -> None:
        """Write integers, in the first width that holds them all; ``count`` copies of the value if there is one only.

        The bytes depend on the integers alone, not on their dtype nor on whether ``count`` is used.
        """
        size = len(values) if count is None else count
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        width = next(i for i, dtype in enumerate(_WIDTHS) if _holds(dtype, low, high))
        is_constant = size > 1 and low == high
        self.number(size << 8 | width | (_ALL_EQUAL if is_constant else 0))
        self._sink(values[: 1 if is_constant else size].astype(_WIDTHS[width]).tobytes())


def _holds(dtype: np.dtype[Any], low: int, high: int) -> bool:
    limits = np.iinfo(dtype)
    return limits.min <= low and high <= limits.max


class ByteReader:
    """Reads the bytes of a ``ByteWriter``. All methods raise ``DamagedDataError``."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    @property
    def left(self) -> int:
        """The number of bytes not yet read."""
        return len(self._data) - self._at

    def _take(self, size: int) -> memoryview:
        if not 0 <= size <= self.left:
            raise DamagedDataError("the data end too soon")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self) -> int:
        """Read an integer."""
        value: int = _NUMBER.unpack(self._take(_NUMBER.size))[0]
        return value

    def count(self) -> int:
        """Read the number of parts that follow, each of one byte at least."""
        value = self.number()
        if not 0 <= value <= self.left:
            raise DamagedDataError("invalid number of parts")
        return value

    def texts(self) -> list[str]:
        """Read texts, which have no NUL and no surrogates but those of bytes that are not UTF-8."""
        lengths = self.integers(max_count=self.left)
        data = self._take(self.number())
        if len(lengths) and (int(lengths.min()) < 0 or int(lengths.max()) > len(data)):
            raise DamagedDataError("invalid length of a text")
        ends = np.cumsum(lengths).tolist()
        try:
            joined = str(data, "utf-8", "surrogatepass")
            joined.encode("utf-8", "surrogateescape")
        except UnicodeError:
            raise DamagedDataError("a text is not UTF-8") from None
        if (ends[-1] if ends else 0) != len(joined) or "\0" in joined:
            raise DamagedDataError("invalid text")
        return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def layouts(self, count: int) -> NDArray[np.int64]:
        """Read one integer for each row: shape (count,)."""
        return np.frombuffer(self._take(4 * count), "<u4").astype(np.int64)

    def integers(self, *, max_count: int) -> NDArray[np.int64]:
        """Read integers, at most ``max_count``: shape (N,)."""
        header = self.number()
        count, width = header >> 8, header & 0xFF
        is_constant = bool(width & _ALL_EQUAL)
        width &= ~_ALL_EQUAL
        if not 0 <= count <= max_count or width >= len(_WIDTHS):
            raise DamagedDataError("invalid array")
        dtype = _WIDTHS[width]
        data = self._take((1 if is_constant else count) * dtype.itemsize)
        values = np.frombuffer(data, dtype).astype(np.int64)
        return np.repeat(values, count) if is_constant else values
