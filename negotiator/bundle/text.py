"""Texts that know where they stand, so that every problem can name its line and column."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import attrs

from negotiator.records import Problem, Severity, Source

MAX_EXCERPT = 1_000


@attrs.frozen(eq=False)
class SourceText:
    """The text of one file of the bundle; an index counts its characters from 0."""

    name: str
    text: str
    starts: Sequence[int] = attrs.field(init=False, repr=False)

    @starts.default
    def _starts(self) -> Sequence[int]:
        return [0, *(end.end() for end in re.finditer("\n", self.text))]

    def place(self, index: int) -> Source:
        """Line and column of a character; what stands behind the last one is still in the last line."""
        index = max(0, min(index, len(self.text)))
        if index == len(self.text) and self.text.endswith("\n"):
            index -= 1
        line = bisect_right(self.starts, index)
        return Source(self.name, line, index - self.starts[line - 1] + 1)

    def excerpt(self, line: int) -> str:
        """A line without its end; empty where there is none."""
        if not 1 <= line <= len(self.starts):
            return ""
        start = self.starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None][:MAX_EXCERPT].rstrip("\r")

    def problem(self, severity: Severity, index: int, message: str, hint: str = "") -> Problem:
        """Make a problem of the character at an index."""
        source = self.place(index)
        return Problem(severity, source, message, hint, self.excerpt(source.line))

    def error(self, index: int, message: str, hint: str = "") -> Problem:
        """Make an error of the character at an index."""
        return self.problem(Severity.ERROR, index, message, hint)


@attrs.frozen(eq=False)
class Located:
    """A value that was read from a file, and where each of its characters stands there.

    ``offsets`` has one index a character; they differ from a plain count where the value was quoted, folded over
    lines or made of macros (``replaced``). ``at`` is where the value begins.
    """

    text: str
    file: SourceText
    offsets: Sequence[int]
    at: int
    replaced: bool = False

    @property
    def source(self) -> Source:
        """Where the value begins."""
        return self.file.place(self.at)

    def index(self, offset: int) -> int:
        """The index in the file of a character of the value, or of what follows its end."""
        if not self.offsets:
            return self.at
        return self.offsets[offset] if offset < len(self.offsets) else self.offsets[-1] + 1

    def stripped(self) -> Located:
        """The value without white space around it."""
        start = len(self.text) - len(self.text.lstrip())
        text = self.text.strip()
        offsets = self.offsets[start : start + len(text)]
        return attrs.evolve(self, text=text, offsets=offsets, at=offsets[0] if offsets else self.at)

    def offset(self, line: int, column: int) -> int:
        """Where a line and a column of the value (both from 1) are in it."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        return start + column - 1
