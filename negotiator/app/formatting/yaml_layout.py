"""One style for the layout of a YAML file: two blanks for each level, one blank after ``-``, ``:`` and commas.

Values, their quotes, the lines of texts and all comments stay. The files have the subset of YAML that the program reads.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

import attrs
import yaml

from negotiator.app.formatting.edits import Edit
from negotiator.app.formatting.yaml_lines import YamlLine, YamlLines

_STEP: Final = 2
_HEADER: Final = re.compile(r"[|>][-+0-9]*")
_FLOW_STARTS: Final = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_FLOW_ENDS: Final = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_BLOCK_STARTS: Final = (yaml.BlockMappingStartToken, yaml.BlockSequenceStartToken)
_WITHOUT_TEXT: Final = (
    *_BLOCK_STARTS,
    *(yaml.BlockEndToken, yaml.KeyToken, yaml.StreamStartToken, yaml.StreamEndToken),
)


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
