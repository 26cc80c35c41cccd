"""Answers to queries: ads as text in long form, which the reader of pools reads into tables.

An answer is ``(1, ad)*, 0``. Its bytes are looked at a megabyte at a time: NULs are found all at once, the Python code runs
once for each ad. Texts that could be taken for another attribute or another ad (line breaks within, nothing before the
``=``, a comment) are looked at one by one: line breaks become blanks, and a text that is no attribute becomes a line for
which the reader sets the whole ad aside.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from negotiator_live.wire.errors import malformed
from negotiator_live.wire.limits import MAX_AD, MAX_ANSWER, MAX_ATTRIBUTES, MAX_STRING
from negotiator_live.wire.string_ends import EndsInTheClear, EndsWithLengths, StringEnds

if TYPE_CHECKING:
    from negotiator_live.wire.channel import Channel
    from negotiator_live.wire.exchange import Exchange

_PIECE: Final = 1 << 20
_INT: Final = struct.Struct(">q")
_SIZE: Final = _INT.size
_MARKER: Final = b"ZKM"
_NOT_AN_ATTRIBUTE: Final = b"= "
_TYPES: Final = 2  # MyType and TargetType, behind the attributes

_BEGINS_NAME: Final = np.zeros(256, np.bool_)
_BEGINS_NAME[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")] = True


def ad_texts(channel: Channel) -> Iterator[str]:
    """Yield the ads of an answer in long form, in blocks of whole ads: ``attr = value`` lines, a blank line after each ad.

    Bytes that are not UTF-8 become lone surrogates (``surrogateescape``), as the readers of files have it.

    :raises DaemonError: while iterating, if the answer is malformed or does not arrive.
    """
    channel.incoming.limit = MAX_ANSWER
    rest = b""
    while True:
        is_last, data = channel.incoming.piece(_PIECE)
        found = _AdsOfPiece(rest + data, channel.exchange, encrypted=channel.is_encrypted)
        if found.ads:
            yield _text_of(found.ads)
        rest = found.rest
        if found.is_over:
            if rest or not is_last:
                raise malformed(channel.exchange, "there is more after the last ad of the answer")
            channel.end_received()
            return
        if is_last:
            raise malformed(channel.exchange, "the answer ends within an ad")
        if len(rest) > MAX_AD:
            raise malformed(channel.exchange, f"an ad has more than {MAX_AD} bytes")


class _AdsOfPiece:
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


def _text_of(ads: list[bytes]) -> str:
    """Return ads in long form."""
    joined = b"\0\0".join(ads)
    if b"\n" in joined or b"\r" in joined or not (joined and _are_attributes(joined, len(ads))):
        joined = b"\0\0".join(b"\0".join(map(_line, ad.split(b"\0"))) for ad in ads)
    return joined.replace(b"\0", b"\n").decode("utf-8", "surrogateescape") + "\n\n"


def _are_attributes(joined: bytes, ads: int) -> bool:
    """True if each text begins with a letter, as a name does, and none is empty."""
    array = np.frombuffer(joined, np.uint8)
    firsts = array[np.flatnonzero(array[:-1] == 0) + 1]
    others = len(firsts) - int(np.count_nonzero(_BEGINS_NAME[firsts]))
    empty = len(firsts) - int(np.count_nonzero(firsts))
    return bool(_BEGINS_NAME[array[0]]) and array[-1] != 0 and others == empty == ads - 1


def _line(text: bytes) -> bytes:
    """Return the line of a text that was sent as an attribute."""
    line = text.replace(b"\n", b" ").replace(b"\r", b" ").lstrip()
    return line if line and _BEGINS_NAME[line[0]] else _NOT_AN_ATTRIBUTE + line
