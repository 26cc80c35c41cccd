"""Finds the strings of many ads at once: where they end, and their texts with NULs between.

On an encrypted connection each string has its length before it, 8 bytes of which the first five are zero. So a string ends
at a NUL that is behind another byte and before zeros. Such an end is relied on only if the length behind the one before
leads to it.
"""

from __future__ import annotations

import struct
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

_INT: Final = struct.Struct(">q")
_SIZE: Final = _INT.size
_LENGTH: Final = np.arange(1, _SIZE + 1)
_ZERO: Final = np.zeros(1, np.int64)


class StringEnds(Protocol):
    """The ends of the strings in some bytes."""

    offsets: NDArray[np.int64]
    """Where NULs are that may be the ends of strings, (K,), in order."""

    def texts(self, start: int, first: int, last: int) -> bytes | None:
        """Return the strings from an offset up to an end, with NULs between them; None if they cannot be found so.

        :param first: the index of the first string's end.
        :param last: that of the last one.
        """


class EndsInTheClear:
    """The ends of strings between which there is nothing else."""

    __slots__ = ("_data", "offsets")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.offsets: NDArray[np.int64] = np.flatnonzero(np.frombuffer(data, np.uint8) == 0)

    def texts(self, start: int, first: int, last: int) -> bytes | None:
        """Return the strings from an offset up to an end."""
        return self._data[start : int(self.offsets[last])] if last >= first else b""


class EndsWithLengths:
    """The ends of strings that have their lengths before them."""

    __slots__ = ("_chained", "_data", "_texts", "offsets")

    def __init__(self, data: bytes) -> None:
        size = len(data)
        array = np.frombuffer(data, np.uint8)
        zero = np.ones(size + 2, np.bool_)
        np.equal(array, 0, out=zero[:size])
        ends = np.flatnonzero(zero[1:size] & zero[2 : size + 1] & zero[3:] & ~zero[: size - 1]) + 1
        integers = np.ndarray((size + 1,), ">i8", data + bytes(2 * _SIZE), strides=(1,))
        chained = integers[ends[:-1] + 1] == ends[1:] - ends[:-1] - _SIZE
        keep = np.ones(size, np.bool_)
        keep[(ends[:-1][chained][:, None] + _LENGTH).ravel()] = False
        self.offsets = ends
        self._data = data
        self._texts = array[keep].tobytes()  # without the lengths behind ends that are chained
        self._chained = np.concatenate((_ZERO, np.cumsum(chained)))  # how many of those are before each end

    def texts(self, start: int, first: int, last: int) -> bytes | None:
        """Return the strings from an offset up to an end; None if a length does not lead to the next end."""
        if last < first:
            return b""
        (length,) = _INT.unpack_from(self._data, start - _SIZE)
        before, within = int(self._chained[first]), int(self._chained[last])
        if start + length - 1 != self.offsets[first] or within - before != last - first:
            return None
        return self._texts[start - _SIZE * before : int(self.offsets[last]) - _SIZE * within]
