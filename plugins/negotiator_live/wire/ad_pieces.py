"""The ads in a piece of an answer: their texts, found many at a time.

An ad is the number of its attributes, the strings of these, and two more for MyType and TargetType.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from negotiator_live.wire.errors import malformed
from negotiator_live.wire.packets import MAX_ATTRIBUTES, MAX_STRING
from negotiator_live.wire.string_ends import EndsInTheClear, EndsWithLengths, StringEnds

if TYPE_CHECKING:
    from negotiator_live.wire.exchange import Exchange

_INT: Final = struct.Struct(">q")
_SIZE: Final = _INT.size
_MARKER: Final = b"ZKM"
_TYPES: Final = 2  # MyType and TargetType, behind the attributes


class AdPiece:
    """The whole ads at the beginning of some bytes: the texts of each with NULs between, and the bytes that remain."""

    __slots__ = ("_data", "_ends", "_exchange", "_has_secrets", "_is_encrypted", "ads", "is_over", "rest")

    def __init__(self, data: bytes, exchange: Exchange, *, encrypted: bool) -> None:
        self._data = data
        self._exchange = exchange
        self._is_encrypted = encrypted
        self._ends: StringEnds = EndsWithLengths(data) if encrypted else EndsInTheClear(data)
        self._has_secrets = _has_marker(data, self._ends.offsets)
        self.ads: list[bytes] = []
        self.is_over = False
        place: int | None = 0
        end = 0
        while place is not None and len(data) - place >= _SIZE:
            end = place
            (more,) = _INT.unpack_from(data, place)
            if more == 0:
                self.is_over, end = True, place + _SIZE
                break
            if more != 1:
                raise malformed(exchange, f"neither an ad nor the end of the answer ({more})")
            place = self._ad(place + _SIZE)
        self.rest = data[end if place is None or self.is_over else place :]

    def _ad(self, place: int) -> int | None:
        """Add the ad at a place; return the place behind it, None if it is not whole."""
        count = self._count(place)
        if count is None:
            return None
        start, offsets = place + _SIZE * (2 if self._is_encrypted else 1), self._ends.offsets
        first = int(offsets.searchsorted(start))
        last = first + count + _TYPES - 1
        if last >= len(offsets) or self._has_secrets:
            return self._ad_by_strings(place + _SIZE, count)
        strings = self._ends.texts(start, first, last)
        if strings is None or strings.count(b"\0") != last - first:
            return self._ad_by_strings(place + _SIZE, count)
        if count:
            texts, mytype, _ = strings.rsplit(b"\0", _TYPES)
            self._add(texts, mytype)
        return int(offsets[last]) + 1

    def _ad_by_strings(self, place: int, count: int) -> int | None:
        """Add an ad as ``_ad`` does, string by string; markers of secrets are left out."""
        texts: list[bytes] = []
        while len(texts) < count + _TYPES:
            end = self._end_of_string(place)
            if end is None:
                return None
            text = self._data[place + _SIZE * self._is_encrypted : end]
            if text != _MARKER:
                texts.append(text)
            place = end + 1
        if any(b"\0" in text for text in texts):
            raise malformed(self._exchange, "a string has a NUL within")
        if count:
            self._add(b"\0".join(texts[:count]), texts[count])
        return place

    def _end_of_string(self, place: int) -> int | None:
        """Return where the NUL is that ends the string at a place; None if it is not there yet."""
        if not self._is_encrypted:
            end = self._data.find(b"\0", place)
            return end if end >= 0 else None
        if place + _SIZE > len(self._data):
            return None
        (length,) = _INT.unpack_from(self._data, place)
        if not 0 < length <= MAX_STRING:
            raise malformed(self._exchange, f"invalid length of a string ({length})")
        end = place + _SIZE + int(length) - 1
        if end >= len(self._data):
            return None
        if self._data[end]:
            raise malformed(self._exchange, "a string has no NUL at its end")
        return end

    def _count(self, place: int) -> int | None:
        """Return the number of attributes of the ad at a place; None if it is not there yet."""
        if len(self._data) - place < _SIZE:
            return None
        (count,) = _INT.unpack_from(self._data, place)
        if not 0 <= count <= MAX_ATTRIBUTES:
            raise malformed(self._exchange, f"invalid number of attributes ({count})")
        return int(count)

    def _add(self, ad: bytes, name: bytes) -> None:
        """Add the texts of an ad; ``name`` is the MyType behind them, which counts if there is none among them."""
        if name.isalnum() and b"mytype = " not in ad.lower():
            ad += b'\0MyType = "' + name + b'"'
        self.ads.append(ad)


def _has_marker(data: bytes, ends: NDArray[np.int64]) -> bool:
    """True if a string may be the marker of a secret."""
    array = np.frombuffer(data, np.uint8)
    ends = ends[ends >= len(_MARKER)]
    candidates = ends[array[ends - 1] == _MARKER[-1]]
    return any(data[end - len(_MARKER) : end] == _MARKER for end in candidates.tolist())
