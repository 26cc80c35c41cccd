"""Finds the first ad of a text in the new syntax, of which the rest does not count."""

from __future__ import annotations

import re
from typing import Final

from negotiator.classad.syntax import ParseError, RecordExpr, parse_record

# Brackets in strings, quoted names and comments do not count. A string without an end takes the rest of the text.
_TOKEN: Final = re.compile(
    r"""[][]|"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*(?:"|\Z)|'[^'\\]*+(?:\\(?s:.)[^'\\]*+)*(?:'|\Z)|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"""
)


def record_end(text: str, start: int = 0) -> int:
    """Return the offset after the first ad in square brackets at or after ``start``; -1 if it is not closed."""
    depth = 0
    for match in _TOKEN.finditer(text, start):
        if match[0] == "[":
            depth += 1
        elif match[0] == "]":
            depth -= 1
            if depth <= 0:
                return match.end()
    return -1


def first_record(text: str, start: int = 0) -> RecordExpr:
    """Return the ad at the beginning of a text. Text after the ad is ignored.

    :raises ParseError: there is no ad, or it is invalid.
    """
    end = record_end(text, start)
    record = parse_record(text[start:] if end < 0 else text[start:end])
    if any(not name for name, _ in record.items):
        raise ParseError("the name of an attribute is empty", text[start:end], 1, 1)
    return record


class RecordScanner:
    """Collects the characters of a text until its first ad in square brackets is closed."""

    def __init__(self) -> None:
        self._characters: list[str] = []
        self._depth = 0
        self._inside = ""  # the quote or the comment that the next character is in
        self._escaped = False
        self.complete = False

    @property
    def text(self) -> str:
        """The characters so far."""
        return "".join(self._characters)

    def add(self, character: str) -> None:
        """Add the next character."""
        before = self._characters[-1] if self._characters else ""
        self._characters.append(character)
        if self._inside:
            self._add_inside(before, character)
        elif character in "\"'":
            self._inside = character
        elif before == "/" and character in "/*":
            self._inside = before + character
        elif character == "[":
            self._depth += 1
        elif character == "]":
            self._depth -= 1
            self.complete = self._depth <= 0

    def _add_inside(self, before: str, character: str) -> None:
        if self._inside == "//":
            ended = character == "\n"
        elif self._inside == "/*":
            ended = before == "*" and character == "/"
        else:
            ended = character == self._inside and not self._escaped
            self._escaped = character == "\\" and not self._escaped
        if ended:
            self._inside = ""
