"""Adds many constants of one attribute at once, in the forms in which HTCondor prints them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.tables.column import IndexArray
    from negotiator.classad.tables.distinct_values import DistinctValues

INTEGER_DIGITS: Final = 18
"""An integer of so many digits is less than 2**63."""

LONGEST_STRING: Final = 2048

_REALS: Final = re.compile(r"(?:-?[0-9]{1,30}\.[0-9]{1,30}\n)*+", re.ASCII)


def add_constants(entries: DistinctValues, texts: Sequence[str]) -> IndexArray | None:
    """Add integers, strings or reals, one or more, all of one kind; return their codes, None for any other texts.

    None is added unless all are. The texts have no newlines and no NUL.
    """
    shortest, longest = min(map(len, texts)), max(map(len, texts))
    if not shortest:
        return None
    lines = "\n".join(texts)
    if lines[0] == '"':
        # Each text has two quotes: its first and its last character.
        plain = shortest > 1 and longest <= LONGEST_STRING and "\\" not in lines and lines[-1] == '"'
        ends = lines.count('"\n"') == len(texts) - 1 and lines.count('"') == 2 * len(texts)
        return entries.extend_strings([text[1:-1] for text in texts]) if plain and ends else None
    if _are_integers(texts, lines, longest):
        return entries.extend(Kind.INTEGER, np.fromiter(map(int, texts), np.int64, len(texts)))
    if _REALS.fullmatch(lines + "\n"):
        reals = np.fromiter(map(float, texts), np.float64, len(texts))
        return entries.extend(Kind.REAL, reals.view(np.int64))
    return None


def _are_integers(texts: Sequence[str], lines: str, longest: int) -> bool:
    """True if all texts are of digits, not too many, without leading zeros."""
    if longest > INTEGER_DIGITS or not lines.isascii() or not lines.replace("\n", "").isdecimal():
        return False
    return "\n0" not in f"\n{lines}" or all(text[0] != "0" or len(text) == 1 for text in texts)
