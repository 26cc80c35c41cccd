"""Reads ``pool.yaml`` and ``queues.yaml`` into nodes with their positions in the file.

Only a subset of YAML is accepted: one document of mappings with text as keys, lists and scalars. Anchors, aliases,
merge keys, tags and directives are refused: with them, a value could be defined far from its use, or expand far beyond
the size of the file.

YuniKorn's files are read as its parser (gopkg.in/yaml.v3 with typed targets) reads them: a key is a text whatever it looks like, and
there are anchors, aliases and merge keys. What they expand to counts as if it were written.

A valid file is read by libyaml if PyYAML was built with it, twenty times as fast as PyYAML's own parser. An invalid
file, and one that the two parsers may read differently, is read again by PyYAML's own parser, which reports all
problems.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from contextlib import suppress

import attrs
import yaml

from negotiator.bundle import scalars
from negotiator.bundle.text import (
    BadNode,
    ListNode,
    MapEntry,
    MapNode,
    Node,
    ScalarNode,
    SourceText,
    Style,
    locate,
    shown,
    span,
)
from negotiator.records import Problem

MAX_DEPTH = 64


class YamlDialect(enum.Enum):
    """Whose file it is, which decides what plain scalars and anchors mean."""

    OWN = "own"  # what YAML 1.1 and 1.2 read differently is refused
    YUNIKORN = "yunikorn"  # the type of the target decides

    @property
    def most_text(self) -> int:
        """The characters that a file may have: PyYAML's own parser reads a few 100,000 of them a second, libyaml twenty times as many."""
        return 4_000_000 if self is YamlDialect.YUNIKORN else 1_000_000

    @property
    def most_nodes(self) -> int:
        """The values that a file may have. A ConfigMap of 1 MiB has more than 100,000."""
        return 500_000 if self is YamlDialect.YUNIKORN else 100_000


# Text that the two parsers read differently: tabs, ? within a word in brackets, other line ends than LF and CR LF, byte
# order marks, a comment directly after | or >, directives.
_DOUBTFUL = re.compile(r"[\t?\x85\u2028\u2029\ufeff]|\r(?!\n)|[|>][-+0-9]*#|^%", re.MULTILINE)
# It cannot contain the end of a quoted text, so it is a comment, or lies entirely within quotes or a block.
_COMMENT = re.compile(r"""(?:^| )#[^'"\r\n\x85\u2028\u2029\ufeff]*(['"])?""", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")

_BLOCK_HINT = "quote the value, or write it indented on lines of its own below a |"
_HINTS = (
    (re.compile(r"found character '\\t'"), "indent with spaces, not with tabs"),
    (
        re.compile("unknown escape character"),
        "double the backslash, or use single quotes",
    ),
    (re.compile("mapping values are not allowed here"), _BLOCK_HINT),
    (re.compile("while scanning (a tag|an alias|an anchor|a directive)"), _BLOCK_HINT),
    (re.compile("found character .* that cannot start any token"), _BLOCK_HINT),
    (re.compile("while scanning a quoted scalar"), "is there a quote that is not closed?"),
    (
        re.compile("while parsing a flow"),
        "is there a bracket that is not closed, or a value that needs quotes?",
    ),
    (
        re.compile("while (parsing a block|scanning a simple key)"),
        "check the indentation, and the colon after the key",
    ),
)


@attrs.frozen
class _UnreadableError(Exception):
    """The rest of the file can't be read."""

    problem: Problem


class _DoubtError(Exception):
    """PyYAML's own parser may read this differently."""


def read_yaml(
    file: SourceText, dialect: YamlDialect = YamlDialect.OWN
) -> tuple[MapNode | None, tuple[Problem, ...]]:
    """Return the mapping of the file and its problems; None if it can't be read to its end."""
    if len(file.text) > dialect.most_text:
        return None, (file.error(0, f"the file is longer than {dialect.most_text} characters"),)
    if yaml.__with_libyaml__ and not _is_doubtful(file.text):
        with suppress(yaml.YAMLError, ValueError, _DoubtError):  # ValueError: what can't be UTF-8
            root, problems = _read(file, _libyaml_events(file), dialect)
            if not problems:
                return root, ()
    return _read(file, _events(file), dialect)


def _is_doubtful(text: str) -> bool:
    if _DOUBTFUL.search(text) is None:
        return False
    return _DOUBTFUL.search(_COMMENT.sub(lambda hit: hit[0] if hit[1] else "", text)) is not None


def _read(
    file: SourceText, events: Iterator[yaml.Event], dialect: YamlDialect
) -> tuple[MapNode | None, tuple[Problem, ...]]:
    builder = _Builder(file, dialect)
    try:
        for event in events:
            builder.take(event)
    except _UnreadableError as fatal:
        return None, (*builder.problems, fatal.problem)
    root = builder.root
    if root is None or (isinstance(root, ScalarNode) and not root.value.text):
        return MapNode("", file, 0), tuple(builder.problems)
    if isinstance(root, MapNode):
        return root, tuple(builder.problems)
    if not isinstance(root, BadNode):
        builder.problems.append(file.error(root.at, "expected keys with their values, such as `audit:`"))
    return None, tuple(builder.problems)


def _libyaml_events(file: SourceText) -> Iterator[yaml.Event]:
    depth = 0  # of brackets and braces: in them the two differ about the position of a missing value
    for event in iter(yaml.CSafeLoader(file.text).get_event, None):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += bool(depth or event.flow_style)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= depth > 0
        elif depth and isinstance(event, yaml.ScalarEvent) and not event.value and not event.style:
            raise _DoubtError
        yield event


def _events(file: SourceText) -> Iterator[yaml.Event]:
    loader = None
    try:
        loader = yaml.SafeLoader(file.text)
        while loader.check_event():
            yield loader.get_event()  # type: ignore[no-untyped-call]
    except yaml.reader.ReaderError as error:
        code = error.character if isinstance(error.character, int) else ord(error.character)
        message = f"the character U+{code:04X} is not allowed in YAML"
        raise _UnreadableError(file.error(error.position, message, "remove it")) from None
    except yaml.MarkedYAMLError as error:
        raise _UnreadableError(_syntax(file, error)) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        # Escapes beyond Unicode, version numbers of thousands of digits: PyYAML lets Python raise.
        at = loader.get_mark().index if loader else 0
        raise _UnreadableError(
            file.error(at, "not valid YAML", "is it an escape beyond \\U0010FFFF?")
        ) from None


def _syntax(file: SourceText, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = ", ".join(filter(None, (error.problem, error.context))) or "not valid YAML"
    hint = next((hint for pattern, hint in _HINTS if pattern.search(message)), error.note or "")
    return file.error(mark.index if mark else 0, f"not valid YAML: {message}", hint)


@attrs.define(eq=False)
class _OpenCollection:
    """A list or a mapping in progress; ``key`` is the key of the next value."""

    node: ListNode | MapNode
    key: str | None = None
    key_at: int = 0
    dropped: bool = False  # the key is refused, and its value with it
    anchor: str | None = None
    before: int = 0  # how many nodes came before it
    depth: int = 1  # levels of lists and mappings
    merged: list[tuple[int, Node]] = attrs.field(
        factory=list
    )  # the values of merge keys, with the places of these
    merges: bool = False  # the key is a merge key


@attrs.frozen(eq=False)
class _Anchored:
    """What an anchor names: ``nodes`` counts all values in it, ``depth`` its levels."""

    node: Node
    nodes: int
    depth: int


@attrs.define(eq=False)
class _Builder:
    file: SourceText
    dialect: YamlDialect
    problems: list[Problem] = attrs.field(factory=list)
    root: Node | None = None
    documents: int = 0
    nodes: int = 0
    stack: list[_OpenCollection] = attrs.field(factory=list)
    anchors: dict[str, _Anchored | None] = attrs.field(factory=dict)  # None: its value has not ended yet

    def take(self, event: yaml.Event) -> None:
        at, _ = span(event)
        if isinstance(event, yaml.DocumentStartEvent):
            self._document(event, at)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(self.stack.pop())
        elif isinstance(event, yaml.NodeEvent):
            self._node(event, at)

    def _document(self, event: yaml.DocumentStartEvent, at: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise _UnreadableError(self.file.error(at, "a second document", "remove the line ---"))
        if event.version or event.tags:
            self._error(at, "YAML directives are refused", "remove the line that begins with %")

    def _node(self, event: yaml.NodeEvent, at: int) -> None:
        self.nodes += 1
        self._check_nodes(at)
        refused = self._refuse(event, at)
        if isinstance(event, yaml.CollectionStartEvent):
            if len(self.stack) >= MAX_DEPTH:
                raise _UnreadableError(self.file.error(at, f"nested deeper than {MAX_DEPTH}"))
            made = MapNode if isinstance(event, yaml.MappingStartEvent) else ListNode
            opened = _OpenCollection(
                made(self._label(), self.file, at), anchor=event.anchor, before=self.nodes - 1
            )
            self.stack.append(opened)
            if event.anchor is not None:
                self.anchors[event.anchor] = None
        elif isinstance(event, yaml.ScalarEvent) and not refused:
            style = Style.QUOTED if event.style else Style.PLAIN
            scalar = ScalarNode(self._label(), at, locate(self.file, event), style)
            if event.anchor is not None:
                self.anchors[event.anchor] = _Anchored(scalar, 1, 0)
            self._put(scalar)
        elif isinstance(event, yaml.AliasEvent) and not refused:
            self._alias(event, at)
        else:
            self._put(BadNode(self._label(), self.file, at))

    def _check_nodes(self, at: int) -> None:
        most = self.dialect.most_nodes
        if self.nodes > most:
            raise _UnreadableError(self.file.error(at, f"more than {most} values in this file"))

    def _alias(self, event: yaml.AliasEvent, at: int) -> None:
        """Put what an anchor names, whose places are those of the anchor."""
        name = event.anchor or ""
        found = self.anchors.get(name)
        if found is None:
            wrong = "is an alias within its own value" if name in self.anchors else "has no anchor before it"
            self._error(
                at, f"{shown(f'*{name}')} {wrong}", "write the value out; or quote it, if it is a text"
            )
            self._put(BadNode(self._label(), self.file, at))
            return
        self.nodes += found.nodes - 1
        self._check_nodes(at)
        if len(self.stack) + found.depth > MAX_DEPTH:
            raise _UnreadableError(self.file.error(at, f"nested deeper than {MAX_DEPTH}"))
        self._put(found.node, found.depth)

    def _end(self, ended: _OpenCollection) -> None:
        """Put a list or a mapping that is complete."""
        node = ended.node
        if isinstance(node, MapNode):
            for at, value in ended.merged:
                self._merge(node, at, value)
        if ended.anchor is not None:
            self.anchors[ended.anchor] = _Anchored(node, self.nodes - ended.before, ended.depth)
        self._put(node, ended.depth)

    def _merge(self, mapping: MapNode, at: int, value: Node) -> None:
        """Add the keys of mappings to one that does not have them; the first mapping with a key decides."""
        for each in value.items if isinstance(value, ListNode) else [value]:
            if isinstance(each, MapNode):
                mapping.entries.update(
                    {key: entry for key, entry in each.entries.items() if key not in mapping.entries}
                )
            elif not isinstance(each, BadNode):
                self._error(
                    at, "the value of << must be a mapping, or a list of mappings", "write the keys out"
                )

    def _refuse(self, event: yaml.NodeEvent, at: int) -> bool:
        is_yunikorn = self.dialect is YamlDialect.YUNIKORN
        if isinstance(event, yaml.AliasEvent):
            if is_yunikorn:
                return False
            self._error(at, "YAML aliases are refused", "write the value out; or quote it, if it is a text")
            return True
        if event.anchor is not None and not is_yunikorn:
            self._error(at, "YAML anchors are refused", "remove it; or quote the value, if it is a text")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._error(
                at, f"the YAML tag {shown(tag)} is refused", f"if it begins an expression: {_BLOCK_HINT}"
            )
        if isinstance(event, yaml.ScalarEvent) and _has_surrogate(event.value):
            self._error(at, "invalid character: half of a surrogate pair", "write the character itself")
            return True
        return (event.anchor is not None and not is_yunikorn) or tag is not None

    def _put(self, node: Node, depth: int = 0) -> None:
        """Add a complete value, which has so many levels of lists and mappings, to what is open."""
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        top.depth = max(top.depth, depth + 1)
        if isinstance(top.node, ListNode):
            top.node.items.append(node)
        elif top.key is None:
            self._key(top, top.node, node)
        else:
            if top.merges:
                top.merged.append((top.key_at, node))
            elif not top.dropped:
                top.node.entries[top.key] = MapEntry(top.key_at, node)
            top.key = None

    def _key(self, top: _OpenCollection, mapping: MapNode, node: Node) -> None:
        top.key, top.key_at, top.dropped, top.merges = "?", node.at, True, False
        if isinstance(node, BadNode):
            return
        if not isinstance(node, ScalarNode):
            self._error(node.at, "a key must be a text", "write one word before the colon")
            return
        text = node.value.text
        top.key = text
        if node.style is Style.PLAIN and not self._is_text(node):
            return
        if text in mapping.entries:
            first = self.file.place(mapping.entries[text].at)
            message = f"duplicate key {shown(text)}; the first is in line {first.line}"
            self._error(node.at, message, "remove one of the two")
            return
        top.dropped = False

    def _is_text(self, node: ScalarNode) -> bool:
        text = node.value.text
        if text == "<<" and self.dialect is YamlDialect.YUNIKORN:
            self.stack[-1].merges = True
            return False
        if text == "<<":
            self._error(node.at, "YAML merge keys are refused", "write the keys out")
            return False
        found = scalars.ambiguous(text)
        kind = scalars.kind(text)
        if found is None and kind is scalars.ScalarKind.TEXT:
            return True
        if self.dialect is YamlDialect.YUNIKORN and text not in scalars.NULL:
            return True
        type_name = found.meaning if found else kind.value
        self._error(
            node.at, f"a key must be a text; YAML reads {shown(text)} as {type_name}", "quote the key"
        )
        return False

    def _label(self) -> str:
        if not self.stack:
            return ""
        top = self.stack[-1]
        if isinstance(top.node, ListNode):
            return f"{top.node.label}[{len(top.node.items)}]"
        key = top.key or ""
        return f"{top.node.label}.{key}" if top.node.label else key

    def _error(self, at: int, message: str, hint: str) -> None:
        self.problems.append(self.file.error(at, message, hint))


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and _SURROGATE.search(text) is not None
