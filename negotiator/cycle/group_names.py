"""The names of users and groups that applications may have, and lists of them."""

from __future__ import annotations

from functools import lru_cache

_MAX_GROUPS = 1_000
_MAX_NAME = 200


@lru_cache(65_536)
def groups_of(text: str) -> tuple[str, ...]:
    """Return the groups in a string of names separated by commas, each once; invalid names are omitted."""
    names = (name.strip() for name in text.split(",")[:_MAX_GROUPS])
    return tuple(dict.fromkeys(filter(is_name, names)))


def is_name(text: str) -> bool:
    """True if a text is a valid name of a user or a group: policies quote it, so it has to be printable and short."""
    return 0 < len(text) <= _MAX_NAME and text.isprintable()
