"""Detects the format of a text by its beginning, never by the name of its file."""

from __future__ import annotations

import enum
import re
from typing import Final


class AdFormat(enum.Enum):
    """The formats that ads are printed in."""

    LONG = "long form"
    JSON = "JSON"
    XML = "XML"
    NEW = "new syntax"


_BLANK: Final = re.compile(r"[\s\ufeff]*+")
_COMMENTS: Final = re.compile(r"(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/)*")
_LONG: Final = re.compile(
    r"^[ \t]*+(?:'?[A-Za-z_][A-Za-z0-9_.]*+'?[ \t]*+=(?![=~])|\*\*\* |-- )", re.MULTILINE
)


def is_blank(head: str) -> bool:
    """True if a text has no characters but blanks and byte order marks."""
    return _BLANK.fullmatch(head) is not None


def detect_format(head: str) -> AdFormat | None:
    """Return the format of a text that begins with ``head``; None if it holds no ads."""
    start = _skip(_BLANK, head, 0)
    first = head[start : start + 1]
    if first == "<":
        return AdFormat.XML
    if first == "/":
        start = _skip(_COMMENTS, head, start)
        first = head[start : start + 1]
    if first and first in "[{":
        inner = _skip(_COMMENTS, head, start + 1)
        second = head[inner : inner + 1]
        if first == "{":
            return AdFormat.NEW if second == "[" else AdFormat.JSON
        return AdFormat.NEW if second.isalpha() or second in ("_", "'", ";") else AdFormat.JSON
    return AdFormat.LONG if _LONG.search(head) else None


def _skip(pattern: re.Pattern[str], head: str, start: int) -> int:
    match = pattern.match(head, start)
    return match.end() if match else start
