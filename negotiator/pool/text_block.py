"""A text in long form as an array of bytes: its lines are found and compared many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from negotiator.classad.tables import IndexArray

WIDEST: Final = 1 << 13
"""Bytes that are compared at once, at most."""

_NEWLINE: Final = 10


class TextBlock:
    """Whole lines of a text, without the last newline, and without the character NUL.

    ``starts`` and ``ends`` are the offsets of the lines, (L,), in bytes; the newline is at the end.
    """

    __slots__ = ("_is_ascii", "_raw", "bytes", "ends", "starts", "text")

    def __init__(self, text: str) -> None:
        raw = text.encode("utf-8", "surrogatepass")
        self.text = text
        self._is_ascii = len(raw) == len(text)
        self._raw = raw + bytes(WIDEST)
        self.bytes = np.frombuffer(self._raw, np.uint8)
        newlines = np.flatnonzero(self.bytes[: len(raw)] == _NEWLINE)
        self.starts = np.concatenate((_ZERO, newlines + 1))
        self.ends = np.append(newlines, len(raw))

    def fields(self, starts: IndexArray, width: int) -> NDArray[np.bytes_]:
        """Return the ``width`` bytes (at most ``WIDEST``) at each of these offsets; beyond the end they are NUL."""
        shape = (len(self._raw) - width + 1,)
        every: NDArray[Any] = np.ndarray(shape, f"S{width}", self._raw, strides=(1,))
        return every[starts]

    def texts(self, starts: IndexArray, ends: IndexArray) -> list[str]:
        """Return the texts between these offsets."""
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        if self._is_ascii:
            text = self.text
            return [text[start:end] for start, end in pairs]
        raw = self._raw
        return [raw[start:end].decode("utf-8", "surrogatepass") for start, end in pairs]


_ZERO: Final = np.zeros(1, np.int64)
