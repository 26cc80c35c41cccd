"""Lines of resource quota sets, as the reader of sets sees them: joined where a backslash says so, without comments.

Source: sge_resource_quota(5); the qmaster's reader of such files, made lenient in white space, CRLF and comments.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from negotiator.plugin import Source, printable

_MARK = re.compile(r"\\.|[\"#]")
_BLANKS = re.compile(r"[ \t]+")
_WORD = re.compile(r"[^ \t{},]+")
_MAX_SHOWN = 100  # characters of a word in a message


class SyntaxProblemError(ValueError):
    """Something that can't be read, or says what is not allowed; ``fatal`` where nothing after it can be understood."""

    def __init__(self, message: str, source: Source, hint: str = "", *, fatal: bool = False) -> None:
        super().__init__(message)
        self.source = source
        self.hint = hint
        self.fatal = fatal


class LogicalLine:
    """One logical line, and how far of it has been read."""

    def __init__(self, file: str, parts: list[tuple[str, int, int]]) -> None:
        """Join parts: their text, and the line and column where each begins."""
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
        """Where a character of it stands in the file; the next one, if none is named."""
        at = self.at if at is None else at
        part = max(bisect.bisect_right(self._starts, at) - 1, 0)
        _, line, column = self._parts[part]
        return Source(self._file, line, column + at - self._starts[part])

    @property
    def after(self) -> int:
        """The number of the line after it, where Grid Engine notices that something is missing."""
        return self._parts[-1][1] + 1

    def peek(self) -> str:
        """The next character that is not blank, or nothing at the end of the line; blanks are passed over."""
        self.at = _behind_blanks(self.text, self.at)
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        """Pass over a character, if it is the next one."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def word(self, pattern: re.Pattern[str] = _WORD) -> str:
        """The next word, which is passed over, or nothing: braces and commas are no words."""
        self.peek()
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found[0]

    def next_word(self) -> str:
        """The next word, which stays the next."""
        at = self.at
        found = self.word()
        self.at = at
        return found

    def skip(self) -> None:
        """Pass over what is left, but for a brace at the very end that closes a set written on one line."""
        left = self.text.rstrip(" \t")
        closes = left.endswith(("}", "} ")) and left[-2:-1] in (" ", "\t") and len(left) > self.at
        self.at = len(left) - 1 if closes else len(self.text)


def quotable(text: str) -> str:
    """Words of a file, as a message may quote them."""
    return printable(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def logical_lines(text: str, file: str) -> Iterator[LogicalLine]:
    """The lines of a file that are not empty."""
    parts: list[tuple[str, int, int]] = []
    quoted = False
    for number, physical in enumerate(text.split("\n"), 1):
        kept, quoted = _without_comment(physical.removesuffix("\r"), quoted=quoted)
        column = 1
        if parts:
            column = _behind_blanks(kept, 0) + 1
        continued = kept.endswith("\\")
        parts.append((kept[column - 1 : len(kept) - continued], number, column))
        if not continued:
            if any(part.strip(" \t") for part, _, _ in parts):
                yield LogicalLine(file, parts)
            parts, quoted = [], False
    if parts:  # a backslash at the very end continues nothing
        yield LogicalLine(file, parts)


def _without_comment(line: str, *, quoted: bool) -> tuple[str, bool]:
    """What stands before a comment, and whether a quote is left open."""
    if "#" not in line and '"' not in line:
        return line, quoted
    for mark in _MARK.finditer(line):
        if mark[0] == '"':
            quoted = not quoted
        elif mark[0] == "#" and not quoted:
            return line[: mark.start()], False
    return line, quoted


def _behind_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at
