"""Adds many constants of one attribute at once, in the forms in which HTCondor prints them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from negotiator.classad.tables import INTEGER_DIGITS, MAX_REMEMBERED_LINE
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from negotiator.classad.tables import DistinctValues, IndexArray
    from negotiator.pool.text_block import TextBlock

_QUOTE: Final = ord('"')
_ZERO: Final = ord("0")
_REALS: Final = re.compile(r"(?:-?[0-9]{1,30}\.[0-9]{1,30}\n)*+", re.ASCII)
_POWERS: Final = 10 ** np.arange(INTEGER_DIGITS - 1, -1, -1, dtype=np.int64)


def add_constants(
    entries: DistinctValues, block: TextBlock, starts: IndexArray, ends: IndexArray
) -> IndexArray | None:
    """Add the integers, strings or reals between these offsets, (N,), all of one kind; return their codes, (N,).

    Returns None, and adds nothing, if they are anything else, or not in the form in which HTCondor prints them.
    """
    widths = ends - starts
    if not int(widths.min()):
        return None
    first = block.bytes[starts]
    if first[0] == _QUOTE:
        texts = _strings(block, starts, ends) if bool((first == _QUOTE).all()) else None
        return None if texts is None else entries.extend_strings(texts)
    integers = _integers(block, ends, widths)
    if integers is not None:
        leading_zero = (first == _ZERO) & (widths > 1)
        return None if bool(leading_zero.any()) else entries.extend(Kind.INTEGER, integers)
    texts = block.texts(starts, ends)
    if _REALS.fullmatch("\n".join(texts) + "\n"):
        reals = np.fromiter(map(float, texts), np.float64, len(texts))
        return entries.extend(Kind.REAL, reals.view(np.int64))
    return None


def _strings(block: TextBlock, starts: IndexArray, ends: IndexArray) -> list[str] | None:
    """Return the strings between these offsets, the first byte of each of which is a quote."""
    widths = ends - starts
    if int(widths.min()) < 2 or int(widths.max()) > MAX_REMEMBERED_LINE:
        return None
    if bool((block.bytes[ends - 1] != _QUOTE).any()):
        return None
    texts = block.texts(starts + 1, ends - 1)
    joined = "".join(texts)
    return None if '"' in joined or "\\" in joined else texts


def _integers(block: TextBlock, ends: IndexArray, widths: IndexArray) -> NDArray[np.int64] | None:
    """Return the numbers of decimal digits that end at these offsets."""
    longest = int(widths.max())
    if longest > min(INTEGER_DIGITS, int(ends.min())):
        return None
    fields = block.fields(ends - longest, longest).view(np.uint8).reshape(len(ends), longest)
    digits = fields - np.uint8(_ZERO)
    digits[np.arange(longest) < (longest - widths)[:, None]] = 0
    return digits @ _POWERS[-longest:] if bool((digits <= 9).all()) else None
