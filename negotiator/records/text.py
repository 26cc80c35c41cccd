"""Text for messages: printable, suggestions for misspelled names, times, and scalars of files with their places."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

import attrs

from negotiator.records.problem import Source

_MOST_LISTED: Final = 15  # words; of more the nearest are named
_NEAREST: Final = 5


@attrs.frozen
class ScalarText:
    """One scalar of a file as it is written, not interpreted; ``quoted`` if it is in quotes."""

    text: str
    source: Source = attrs.field(default=Source(""), eq=False)
    quoted: bool = attrs.field(default=False, eq=False)

    def __str__(self) -> str:
        return self.text


def printable(text: str) -> str:
    """Return a text without control characters, for a terminal or a message: each becomes a replacement character.

    Names and reasons come from ads, and users write ads: a control character could move the cursor or forge a line. The
    length stays the same, so that columns still fit.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def suggest(word: str, known: Iterable[str], *, listed: bool = True) -> str:
    """Return ``did you mean x?``, or the list of known words if ``listed``; of many words the nearest few."""
    choices = sorted(known)
    folded = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word.lower(), folded, n=1)
    if near and folded[near[0]] != word:
        return f"did you mean {folded[near[0]]}?"
    if not choices or not listed:
        return ""
    if len(choices) <= _MOST_LISTED:
        return f"there are: {', '.join(choices)}"
    return f"the nearest of {len(choices)} are: {', '.join(nearest(word, choices, _NEAREST))}"


def nearest(word: str, known: Iterable[str], count: int) -> list[str]:
    """Return the known words that are most like a word, the nearest first."""
    folded = {choice.lower(): choice for choice in sorted(known)}
    return [folded[each] for each in difflib.get_close_matches(word.lower(), folded, n=count, cutoff=0.0)]


def local_time(pattern: str, seconds: float) -> str:
    """Return a time in seconds since the epoch by a pattern of strftime, where ``%3N`` are the milliseconds.

    >>> local_time("%S.%3N", 1_700_000_000.25)
    '20.250'
    """
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return time.strftime(pattern.replace("%3N", f"{milliseconds:03d}"), time.localtime(whole))


def utc_time(seconds: float) -> str:
    """Return a time in seconds since the epoch for people: ``2026-11-23 14:05:10 UTC``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
