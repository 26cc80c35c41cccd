"""Texts and trees of values with their places in a file, so that every problem has a line and a column.

The readers of both kinds of files make these trees. Each character of a YAML scalar has its place, through quotes, escapes and folding.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

import attrs
import yaml

from negotiator.records import Problem, Severity, Source
from negotiator.records.problem import SERVICE_CONFIGURATION

MAX_EXCERPT = 1_000
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_FOLD = re.compile(r"\\[ \t]*\r?\n[ \t]*")
_SPACE = " \t\r\n\x85\u2028\u2029"
MAX_SHOWN = 40


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


def span(event: yaml.Event) -> tuple[int, int]:
    """Return the first index of a PyYAML event, and the index behind its end."""
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)


def locate(file: SourceText, event: yaml.ScalarEvent) -> LocatedText:
    """Return the value of a scalar with the place of each of its characters."""
    start, end = span(event)
    value: str = event.value
    if file.text[start:end] == value:
        return LocatedText(value, file, range(start, end), start)
    if (
        event.style in {"'", '"'} and file.text[start + 1 : end - 1] == value
    ):  # escapes and folding make it shorter
        return LocatedText(value, file, range(start + 1, end - 1), start + 1 if value else start)
    if event.style in {"|", ">"}:
        header = file.text.find("\n", start, end)
        start = header + 1 if header >= 0 else end
    elif event.style:
        start += 1
    offsets = _align(file.text, start, end, value, event.style or "")
    return LocatedText(value, file, offsets, offsets[0] if offsets else span(event)[0])


def _align(text: str, start: int, end: int, value: str, style: str) -> list[int]:
    """Return the index in the file of each character of the value, by walking both side by side.

    White space may have been folded, cut or indented, so it is followed only while both agree. Every other character
    is in both, as itself or as an escape.
    """
    offsets, at, last = [], start, max(start, end - 1)
    for character in value:
        if style == '"':
            at = _skip_folds(text, at, end)
        if character not in _SPACE:
            while at < end and text[at] in _SPACE:
                at += 1
                if style == '"':
                    at = _skip_folds(text, at, end)
        offsets.append(min(at, last))
        at += _width(text, at, end, character, style)
    return offsets


def _skip_folds(text: str, at: int, end: int) -> int:
    while fold := _FOLD.match(text, at, end):
        at = fold.end()
    return at


def _width(text: str, at: int, end: int, character: str, style: str) -> int:
    """Return how many characters of the file make one character of the value."""
    if at >= end:
        return 0
    if style == '"' and (escape := _ESCAPE.match(text, at, end)):
        return escape.end() - at
    if style == "'" and text.startswith("''", at):
        return 2
    return 1 if text[at] == character else 0


class Style(enum.Enum):
    """How a scalar was written; this decides its possible types."""

    PLAIN = "plain"  # without quotes in YAML: 5 is a number, true a boolean
    QUOTED = "quoted"  # quoted, or a block, in YAML: always text
    KNOB = "knob"  # in an HTCondor-style file: the type of its field decides


@attrs.frozen(eq=False)
class ScalarNode:
    """One value. ``label`` is its path: ``policies[2].mode``. ``at`` is the index of its first character or quote."""

    label: str
    at: int
    value: LocatedText
    style: Style

    @property
    def file(self) -> SourceText:
        """The file of the value."""
        return self.value.file


@attrs.frozen(eq=False)
class ListNode:
    """A list."""

    label: str
    file: SourceText
    at: int
    items: list[Node] = attrs.field(factory=list)


@attrs.frozen(eq=False)
class MapEntry:
    """A value and the index ``at`` of its key."""

    at: int
    value: Node


@attrs.frozen(eq=False)
class MapNode:
    """A mapping, in the order of the file."""

    label: str
    file: SourceText
    at: int
    entries: dict[str, MapEntry] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class BadNode:
    """A value whose problem is reported already."""

    label: str
    file: SourceText
    at: int


Node: TypeAlias = ScalarNode | ListNode | MapNode | BadNode


def text_entry(key: str, text: str, origin: str = SERVICE_CONFIGURATION) -> MapEntry:
    """Return the entry of a text that is in no file of the bundle, but by default in the configuration of the service."""
    file = SourceText(origin, text)
    value = LocatedText(text, file, range(len(text)), 0)
    return MapEntry(0, ScalarNode(key, 0, value, Style.QUOTED))


def is_empty(node: Node) -> bool:
    """True for an empty scalar."""
    return isinstance(node, ScalarNode) and not node.value.text.strip()


def is_unset(node: Node) -> bool:
    """True for the value of ``NAME =`` in an HTCondor-style file."""
    return isinstance(node, ScalarNode) and node.style is Style.KNOB and is_empty(node)


def shown(text: str) -> str:
    """Return a text for a message: short, quoted, printable."""
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}...")


def describe(node: Node) -> str:
    """Describe a node for ``expected ..., got ...``."""
    if isinstance(node, ListNode):
        return "a list"
    if isinstance(node, MapNode):
        return "a mapping"
    return "nothing" if not isinstance(node, ScalarNode) or is_empty(node) else shown(node.value.text)


def problem(node: Node, message: str, hint: str = "") -> Problem:
    """Return an error at a node, with its label in front."""
    return node.file.error(node.at, f"{node.label}: {message}" if node.label else message, hint)
