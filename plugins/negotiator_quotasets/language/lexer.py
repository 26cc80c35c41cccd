"""Logical lines of resource quota sets: joined at backslashes, without comments.

Source: sge_resource_quota(5); the qmaster's reader of such files, made lenient in white space, CRLF and comments.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from negotiator.plugin import NegotiatorError, Source, printable

_MARK = re.compile(r"\\.|[\"#]")
_BLANKS = re.compile(r"[ \t]+")
_WORD = re.compile(r"[^ \t{},]+")
_MAX_SHOWN = 100  # characters of a word in a message


class SyntaxProblemError(NegotiatorError, ValueError):
    """A syntax error; ``fatal`` if the rest of the text can't be parsed."""

    def __init__(self, message: str, source: Source, hint: str = "", *, fatal: bool = False) -> None:
        super().__init__(message)
        self.source = source
        self.hint = hint
        self.fatal = fatal


class ContentProblemError(SyntaxProblemError):
    """An error that Grid Engine's qmaster finds: it parses all sets first, and looks whether they exist before."""


class LogicalLine:
    """One logical line, and the position ``at`` up to which it was read."""

    def __init__(self, file: str, parts: list[tuple[str, int, int]]) -> None:
        """Join parts, each a text and the line and column of its beginning."""
        self._file = file
        self._parts = parts
        self._starts: list[int] = []
        length = 0
        for text, _, _ in parts:
            self._starts.append(length)
            length += len(text)
        self.text = "".join(text for text, _, _ in parts)
        self.at = 0

    def source(self, at: int | None = None) -> Source:
        """Return the place of a character in the file; by default the next one."""
        at = self.at if at is None else at
        part = max(bisect.bisect_right(self._starts, at) - 1, 0)
        _, line, column = self._parts[part]
        return Source(self._file, line, column + at - self._starts[part])

    @property
    def after(self) -> int:
        """The number of the following line, which Grid Engine names if something is missing."""
        return self._parts[-1][1] + 1

    def peek(self) -> str:
        """Skip blanks, and return the next character; empty at the end of the line."""
        self.at = _after_blanks(self.text, self.at)
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        """Consume a character if it is the next one; return whether it was."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def is_at_blank(self) -> bool:
        """True if a blank, a brace or the end of the line is next."""
        return self.text[self.at : self.at + 1] in ("", " ", "\t", "}")

    def word(self, pattern: re.Pattern[str] = _WORD) -> str:
        """Consume the next word; empty if a brace, a comma or the end of the line is next."""
        self.peek()
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]

    def next_word(self) -> str:
        """Return the next word without consuming it."""
        at = self.at
        found = self.word()
        self.at = at
        return found

    def skip(self) -> None:
        """Skip the rest, except a brace at the very end, which closes a set on one line."""
        left = self.text.rstrip(" \t")
        closes = left.endswith(("}", "} ")) and left[-2:-1] in (" ", "\t") and len(left) > self.at
        self.at = len(left) - 1 if closes else len(self.text)


def quotable(text: str) -> str:
    """Return a word of a file, shortened and printable, for messages."""
    return printable(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def logical_lines(text: str, file: str) -> Iterator[LogicalLine]:
    """Yield the logical lines of a file that are not empty."""
    parts: list[tuple[str, int, int]] = []
    quoted = False
    for number, physical in enumerate(text.split("\n"), 1):
        content, quoted = _without_comment(physical.removesuffix("\r"), quoted=quoted)
        column = 1
        if parts:
            column = _after_blanks(content, 0) + 1
        continued = content.endswith("\\")
        parts.append((content[column - 1 : len(content) - continued], number, column))
        if not continued:
            if any(part.strip(" \t") for part, _, _ in parts):
                yield LogicalLine(file, parts)
            parts, quoted = [], False
    if parts:  # a backslash at the end of the file
        yield LogicalLine(file, parts)


def _without_comment(line: str, *, quoted: bool) -> tuple[str, bool]:
    """Return a line without its comment, and whether a quote is left open."""
    if "#" not in line and '"' not in line:
        return line, quoted
    for mark in _MARK.finditer(line):
        if mark[0] == '"':
            quoted = not quoted
        elif mark[0] == "#" and not quoted:
            return line[: mark.start()], False
    return line, quoted


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at
