"""Text for messages: printable, suggestions for misspelled names, and times."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import UTC, datetime


def printable(text: str) -> str:
    """Return a text without control characters, for a terminal or a message: each becomes a replacement character.

    Names and reasons come from ads, and users write ads: a control character could move the cursor or forge a line. The
    length stays the same, so that columns still fit.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def suggest(word: str, known: Iterable[str], *, listed: bool = True) -> str:
    """Return ``did you mean x?``, or the list of known words if ``listed``."""
    choices = sorted(known)
    folded = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word.lower(), folded, n=1)
    if near and folded[near[0]] != word:
        return f"did you mean {folded[near[0]]}?"
    return f"there are: {', '.join(choices)}" if choices and listed else ""


def utc_time(seconds: float) -> str:
    """Return a time in seconds since the epoch for people: ``2026-11-23 14:05:10 UTC``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
