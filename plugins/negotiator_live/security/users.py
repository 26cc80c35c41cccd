"""Patterns of users, as the settings have them."""

from __future__ import annotations

import re
from typing import Final

_PATTERN: Final = re.compile(r"\*|(?:\*|[!-)+-?A-~]{1,200})@(?:\*|[A-Za-z0-9_.-]{1,200})", re.ASCII)


def is_pattern(text: str) -> bool:
    """True for ``*`` (anybody), ``name@domain``, ``*@domain``, ``name@*`` and ``*@*`` (anybody who authenticated)."""
    return _PATTERN.fullmatch(text) is not None
