"""Finding the lines of a text that may matter, where only some attributes are asked for, without cutting it all.

A line matters if its name begins like one of those asked for, or if it does not begin like a name at all: a blank line
parts two ads. Which is told from the first characters of all lines at once; some more lines pass, none too few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORT: Final = 4
_LONG: Final = 8
"""Characters of a name that are looked at: of one shorter than ``_LONG`` only the first ``_SHORT``."""

_BITS: Final = 5  # of a character: its case does not count then
_MASK: Final = (1 << _BITS) - 1
_SLOTS: Final = 1 << _BITS * _SHORT
_SPREAD: Final = 0x9E3779B97F4A7C15  # any odd number with its bits well mixed
_UNSIGNED: Final = (1 << 64) - 1


class Sieve:
    """Cuts out of blocks of text the lines that may be of the attributes ``names`` (in any case)."""

    __slots__ = ("_begins_no_name", "_long", "_short")

    def __init__(self, names: Iterable[str]) -> None:
        short = np.zeros((_MASK + 1,) * _SHORT, np.bool_)
        self._long = np.zeros(_SLOTS, np.bool_)
        for name in names:
            letters = [byte & _MASK for byte in name.encode("utf-8", "surrogatepass")[:_LONG]]
            if len(letters) == _LONG:
                self._long[_slot(_packed(letters))] = True
            else:  # what stands behind it may be anything
                short[tuple(letters[:_SHORT])] = True
        self._short = short.reshape(-1)
        letter = np.zeros(256, np.bool_)
        letter[[*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), ord("_")]] = True
        self._begins_no_name = ~letter

    def lines(self, block: str) -> tuple[list[str], NDArray[np.int64]]:
        """Return those lines of a block, without their ends, and the place of each among all, from 0."""
        data = block.encode("utf-8", "surrogatepass")
        text = np.frombuffer(data + b"\n" * _LONG, np.uint8)
        ends = np.flatnonzero(text[: len(data) + 1] == ord("\n"))
        starts = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
        first = text[starts]
        letters = [first, *(text[place:][starts] for place in range(1, _LONG))]
        begin = _packed([each.astype(np.uint64) & _MASK for each in letters[:_SHORT]])
        whole = _packed([begin, *(each & _MASK for each in letters[_SHORT:])])
        passed = self._long[_slot(whole)] | self._short[begin] | self._begins_no_name[first]
        places = np.flatnonzero(passed)
        pairs = zip(starts[places].tolist(), ends[places].tolist(), strict=True)
        if block.isascii():
            return [block[start:end] for start, end in pairs], places
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairs], places


def _packed(letters: Iterable[Any]) -> Any:
    """Return numbers below 32, or columns of them, as one number."""
    packed: Any = 0
    for letter in letters:
        packed = (packed << _BITS) | letter
    return packed


def _slot(key: Any) -> Any:
    """Return where a key of 64 bits has its place in the table, which others may share."""
    return ((key * _SPREAD) & _UNSIGNED) >> (64 - _BITS * _SHORT)
