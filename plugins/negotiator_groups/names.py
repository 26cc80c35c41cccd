"""Valid names of users and groups."""

from __future__ import annotations

LONGEST = 200  # characters; the most that a hook's answer may have


def is_name(text: str) -> bool:
    """True for one to 200 printable characters; other names are valid neither in an answer nor in a list."""
    return 0 < len(text) <= LONGEST and text.isprintable()
