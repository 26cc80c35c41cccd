"""Texts with their place in a file, so that every problem has a line and a column."""

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
        """Return line and column of a character; the end of the text belongs to the last line."""
        index = max(0, min(index, len(self.text)))
        if index == len(self.text) and self.text.endswith("\n"):
            index -= 1
        line = bisect_right(self.starts, index)
        return Source(self.name, line, index - self.starts[line - 1] + 1)

    def excerpt(self, line: int) -> str:
        """Return a line without its end; empty for a line beyond the file."""
        if not 1 <= line <= len(self.starts):
            return ""
        start = self.starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None][:MAX_EXCERPT].rstrip("\r")

    def problem(self, severity: Severity, index: int, message: str, hint: str = "") -> Problem:
        """Return a problem at the character at an index."""
        source = self.place(index)
        return Problem(severity, source, message, hint, self.excerpt(source.line))

    def error(self, index: int, message: str, hint: str = "") -> Problem:
        """Return an error at the character at an index."""
        return self.problem(Severity.ERROR, index, message, hint)


@attrs.frozen(eq=False)
class LocatedText:
    """A value read from a file, with the place of each of its characters.

    ``offsets`` has one index into the file for each character; they are not contiguous if the value was quoted, folded
    over lines or made of macros (``replaced``). ``at`` is the index of its first character.
    """

    text: str
    file: SourceText
    offsets: Sequence[int]
    at: int
    replaced: bool = False

    @property
    def source(self) -> Source:
        """The place of the first character."""
        return self.file.place(self.at)

    def index(self, offset: int) -> int:
        """Return the index in the file of a character of the value, or of its end."""
        if not self.offsets:
            return self.at
        return self.offsets[offset] if offset < len(self.offsets) else self.offsets[-1] + 1

    def stripped(self) -> LocatedText:
        """Return the value without surrounding white space."""
        start = len(self.text) - len(self.text.lstrip())
        text = self.text.strip()
        offsets = self.offsets[start : start + len(text)]
        return attrs.evolve(self, text=text, offsets=offsets, at=offsets[0] if offsets else self.at)

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the value of a line and a column, both counted from 1."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        return start + column - 1


def decoded(name: str, content: bytes) -> tuple[SourceText, Problem | None]:
    """Return the text of a file in UTF-8, and a problem if it is none.

    :param name: the name of the file in messages.
    """
    try:
        return SourceText(name, content.decode().removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")), None
    except UnicodeDecodeError as error:
        file = SourceText(name, content[: error.start].decode() + content[error.start :].decode("latin-1"))
        message = f"byte 0x{content[error.start]:02X} is not UTF-8"
        return file, file.error(error.start, message, "save the file as UTF-8")
