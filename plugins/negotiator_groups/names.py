"""What the name of a user or of a group may be."""

from __future__ import annotations

LONGEST = 200  # characters of a name that an answer may have (negotiator.hooks)


def is_name(text: str) -> bool:
    """Whether it is one to 200 printable characters: anything else could stand neither in an answer nor in a list."""
    return 0 < len(text) <= LONGEST and text.isprintable()
