"""The lines of a YAML file, and what becomes of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from negotiator.app.formatting.edits import Edit, edited

_BEFORE_COMMENT: Final = 2  # blanks between a value and a comment


@attrs.define
class YamlLine:
    """A line: its text, its column before and after, where its last token ends, and what is changed in it.

    ``new_indent`` is None for a line without a token. A line that ``is_text`` is a further line of a value. ``keeps_end`` keeps the
    blanks at its end, which may be part of a value.
    """

    raw: str
    indent: int
    new_indent: int | None = None
    end: int | None = None
    is_text: bool = False
    keeps_end: bool = False
    edits: list[Edit] = attrs.field(factory=list)

    @property
    def is_blank(self) -> bool:
        """True for a line without anything, outside of a value."""
        return not self.is_text and not self.raw.strip()

    @property
    def is_comment(self) -> bool:
        """True for a line that has only a comment."""
        return not self.is_text and self.raw.lstrip().startswith("#")

    def text(self) -> str:
        """Return the line as it becomes."""
        indent = " " * (self.indent if self.new_indent is None else self.new_indent)
        if self.end is None:
            rest = self.raw[self.indent :]
            return indent + rest if self.keeps_end else (indent + rest).rstrip()
        code = indent + edited(self.raw[: self.end], self.edits)[self.indent :]
        tail = self.raw[self.end :]
        comment = tail.strip()
        if not comment:
            return code if self.keeps_end else code.rstrip()
        column = len(self.raw) - len(tail.lstrip()) + len(indent) - self.indent
        return f"{code}{' ' * max(column - len(code), _BEFORE_COMMENT)}{comment}"


@attrs.frozen
class YamlLines:
    """All lines of a file."""

    lines: list[YamlLine]

    @classmethod
    def of(cls, text: str) -> YamlLines:
        """Return the lines of a text."""
        return cls([YamlLine(raw, len(raw) - len(raw.lstrip(" "))) for raw in text.split("\n")])

    def __getitem__(self, number: int) -> YamlLine:
        return self.lines[number]

    def __len__(self) -> int:
        return len(self.lines)

    def text(self) -> str:
        """Return the text of the file: comments beside what they are about, one blank line where there were several."""
        self._indent_comments()
        found: list[str] = []
        is_blank = True  # none at the beginning
        for line in self.lines:
            if not (line.is_blank and is_blank):
                found.append("" if line.is_blank else line.text())
            is_blank = line.is_blank
        if (
            found and self.lines[-1].is_text
        ):  # a text up to the end of the file: a line end would be added to it
            return "\n".join(found)
        while found and is_blank and not found[-1]:
            found.pop()
        return "\n".join((*found, "")) if found else ""

    def _indent_comments(self) -> None:
        """Indent each comment like the next line, if it has its column, or else like the line that it is below."""
        following: YamlLine | None = None
        for number, line in reversed([*enumerate(self.lines)]):
            if line.is_comment:
                line.new_indent = self._column(number, line, following)
            elif line.new_indent is not None and not line.is_text:
                following = line

    def _column(self, number: int, line: YamlLine, following: YamlLine | None) -> int:
        if following is not None and following.indent == line.indent:
            return following.new_indent or 0
        # One that is deeper than the next line belongs to what is before it.
        for before in self._before(number):
            if before.indent <= line.indent:
                return before.new_indent or 0
        return 0 if following is None else following.new_indent or 0

    def _before(self, number: int) -> Iterator[YamlLine]:
        """Yield the lines of tokens before a line, the nearest first."""
        for line in reversed(self.lines[:number]):
            if line.new_indent is not None and not line.is_text and not line.is_comment:
                yield line
