"""Patterns of users, as the settings have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

ANYBODY: Final = "*"
_PATTERN: Final = re.compile(r"\*|(?:\*|[!-)+-?A-~]{1,200})@(?:\*|[A-Za-z0-9_.-]{1,200})", re.ASCII)


def is_pattern(text: str) -> bool:
    """True for ``*`` (anybody), ``name@domain``, ``*@domain``, ``name@*`` and ``*@*`` (anybody who authenticated)."""
    return _PATTERN.fullmatch(text) is not None


def matches(user: str, patterns: Iterable[str]) -> bool:
    """True if one of the patterns has a user; only ``*`` has one without a name."""
    return any(_matches(user, pattern) for pattern in patterns)


def _matches(user: str, pattern: str) -> bool:
    if pattern == ANYBODY:
        return True
    name, _, domain = user.rpartition("@")
    wanted_name, _, wanted_domain = pattern.rpartition("@")
    return (
        bool(name) and wanted_name in {ANYBODY, name} and wanted_domain.lower() in {ANYBODY, domain.lower()}
    )
