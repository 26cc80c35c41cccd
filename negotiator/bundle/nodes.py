"""The tree of values that the readers of both kinds of files make, each value with its place."""

from __future__ import annotations

import enum
from typing import TypeAlias

import attrs

from negotiator.bundle.text import LocatedText, SourceText
from negotiator.records import Problem
from negotiator.records.source import SERVICE_CONFIGURATION

MAX_SHOWN = 40


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
