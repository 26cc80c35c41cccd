"""One style for the layout of a YAML file: two blanks for each level, one blank after ``-``, ``:`` and commas.

Values, their quotes, the lines of texts and all comments stay. The files have the subset of YAML that the program reads. Each line has what becomes
of it; replacements in a text are made by place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

import attrs
import yaml

_BEFORE_COMMENT: Final = 2  # blanks between a value and a comment
_STEP: Final = 2
_HEADER: Final = re.compile(r"[|>][-+0-9]*")
_FLOW_STARTS: Final = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_FLOW_ENDS: Final = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_BLOCK_STARTS: Final = (yaml.BlockMappingStartToken, yaml.BlockSequenceStartToken)
_WITHOUT_TEXT: Final = (
    *_BLOCK_STARTS,
    *(yaml.BlockEndToken, yaml.KeyToken, yaml.StreamStartToken, yaml.StreamEndToken),
)


@attrs.frozen(order=True)
class Edit:
    """The characters from ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits, which do not overlap."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join((*parts, text[at:]))


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


@attrs.frozen
class _OpenLevel:
    """A mapping or list that is open: its columns before and after."""

    is_list: bool
    old: int
    new: int
    is_indentless: bool = False  # a list whose dashes are in the column of its key


def laid_out(text: str) -> str:
    """Return the text of a file in the style.

    :raises yaml.YAMLError: it is not valid YAML.
    """
    text = text.replace("\r\n", "\n")
    tokens = list(yaml.scan(text, Loader=yaml.SafeLoader))
    lines = YamlLines.of(text)
    _LayoutWalk(text, lines).run(tokens)
    return lines.text()


@attrs.define
class _LayoutWalk:
    """Walks over the tokens of a file, and decides what becomes of its lines."""

    text: str
    lines: YamlLines
    blocks: list[_OpenLevel] = attrs.field(factory=list)
    depth: int = 0  # of brackets and braces
    shift: int = 0  # of the line in which the outermost of them begins

    def run(self, tokens: list[yaml.Token]) -> None:
        for token in tokens[:-1]:
            self._structure(token)
            line = self.lines[token.start_mark.line]
            if not isinstance(token, _WITHOUT_TEXT):
                self._place(token, line)
                self._end(token)
        shown = [token for token in tokens if not isinstance(token, _WITHOUT_TEXT)]
        for token, following in pairwise(shown):
            self._gap(token, following)

    def _structure(self, token: yaml.Token) -> None:
        """Open and close mappings and lists."""
        column = token.start_mark.column
        if isinstance(token, _BLOCK_STARTS):
            new = self.blocks[-1].new + _STEP if self.blocks else 0
            self.blocks.append(_OpenLevel(isinstance(token, yaml.BlockSequenceStartToken), column, new))
        elif isinstance(token, yaml.BlockEntryToken) and not self.blocks[-1].is_list:
            above = self.blocks[-1]
            self.blocks.append(_OpenLevel(True, above.old, above.new + _STEP, is_indentless=True))
        elif isinstance(token, yaml.KeyToken | yaml.BlockEndToken) and not self.depth:
            if self.blocks and self.blocks[-1].is_indentless:
                self.blocks.pop()
            if isinstance(token, yaml.BlockEndToken):
                self.blocks.pop()

    def _place(self, token: yaml.Token, line: YamlLine) -> None:
        """Set the column in which a line begins, if the token is its first."""
        if isinstance(token, _FLOW_ENDS):
            self.depth -= 1
        if token.start_mark.column == line.indent and line.new_indent is None:
            if self.depth or isinstance(token, _FLOW_ENDS):
                line.new_indent = max(line.indent + self.shift, 0)
            elif not self.blocks:
                line.new_indent = line.indent if isinstance(token, yaml.ScalarToken) else 0
            elif isinstance(token, yaml.BlockEntryToken) or self._is_key(token):
                line.new_indent = self.blocks[-1].new
            else:  # a value on a line of its own
                line.new_indent = self.blocks[-1].new + _STEP
        if isinstance(token, _FLOW_STARTS):
            if not self.depth:
                self.shift = (line.new_indent or 0) - line.indent
            self.depth += 1

    def _is_key(self, token: yaml.Token) -> bool:
        """True if a token on a line of its own begins a key of the innermost mapping."""
        block = self.blocks[-1]
        return not block.is_list and token.start_mark.column == block.old

    def _end(self, token: yaml.Token) -> None:
        """Set where the text of a line ends, and what becomes of the further lines of a value."""
        start, end = token.start_mark, token.end_mark
        line = self.lines[start.line]
        if isinstance(token, yaml.ScalarToken) and token.style in {"|", ">"}:
            header = _HEADER.match(self.text, start.index)
            line.end = start.column + len(header[0] if header else "")
            self._block_text(start.line, header[0] if header else "")
            return
        shift = (line.new_indent or 0) - line.indent
        if isinstance(token, yaml.ScalarToken) and end.line > start.line:
            line.end, line.keeps_end = len(line.raw), bool(token.style)
            least = (self.blocks[-1].new + _STEP) if self.blocks else 0
            for number in range(start.line + 1, end.line + 1):
                inner = self.lines[number]
                inner.is_text = True
                inner.keeps_end = bool(token.style)
                if inner.raw.strip():
                    inner.new_indent = max(inner.indent + shift, least)
                else:
                    inner.raw, inner.new_indent = "", 0
        self.lines[end.line].end = end.column

    def _block_text(self, header_line: int, header: str) -> None:
        """Indent the lines of a text after | or > by one level."""
        block = self.blocks[-1] if self.blocks else _OpenLevel(False, -_STEP, -_STEP)
        number = header_line + 1
        found: list[YamlLine] = []
        base: int | None = None
        while number < len(self.lines):
            line = self.lines[number]
            if line.raw.strip(" "):
                if base is None:
                    base = line.indent
                if line.indent < base or line.indent <= (
                    block.old if not block.is_indentless else block.old - 1
                ):
                    break
            found.append(line)
            number += 1
        if "+" not in header:
            while found and not found[-1].raw.strip(" "):
                found.pop()
        digits = re.search(r"\d", header)
        shift = block.new - block.old if digits else block.new + _STEP - (base or 0)
        if block.is_indentless and digits:
            shift -= _STEP
        for line in found:
            line.is_text = line.keeps_end = True
            line.new_indent = max(line.indent + shift, 0)
            if not line.raw.strip(" ") and len(line.raw) <= (base or 0):
                line.new_indent = 0
                line.raw = ""

    def _gap(self, token: yaml.Token, following: yaml.Token) -> None:
        """Set what is between two tokens on one line."""
        start, end = token.end_mark, following.start_mark
        if isinstance(token, yaml.ScalarToken) and token.style in {"|", ">"}:
            return
        if start.line != end.line or self.text[start.index : end.index].strip(" \t"):
            return
        wanted = _between(token, following)
        if wanted is not None:
            self.lines[start.line].edits.append(Edit(start.column, end.column, wanted))


def _between(token: yaml.Token, following: yaml.Token) -> str | None:
    """Return the blanks between two tokens on one line; None to leave them."""
    if isinstance(token, yaml.BlockEntryToken):
        return " "
    if isinstance(following, yaml.FlowEntryToken):
        return None if isinstance(token, yaml.ValueToken) else ""
    if isinstance(following, yaml.ValueToken):
        return "" if isinstance(token, yaml.ScalarToken) else None
    if isinstance(token, _FLOW_STARTS) or isinstance(following, _FLOW_ENDS):
        return None if isinstance(token, yaml.ValueToken) else ""
    return " " if isinstance(token, yaml.ValueToken | yaml.FlowEntryToken) else None
