"""Read the file that maps users to groups.

A YAML mapping; each user has a list of groups, the primary one first::

    alice: [physics, astro]
    bob: []          # a user without groups

Every name is a text: a scalar that YAML 1.1 reads as another type (``on``, ``010``, ``1:30``) must be quoted. Anchors,
aliases, merge keys and tags are refused: the value would be in another line than the one that is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from negotiator.plugin import Problem, Severity, Source, printable
from negotiator_groups.names import LONGEST, is_name

MAX_BYTES = 1_000_000  # PyYAML reads about 150,000 of them a second
MAX_GROUPS = 1_000  # of one user
MAX_PROBLEMS = 100

_DEPTH = 8  # more than the file needs; far less than Python's own limit
_TEXT = "tag:yaml.org,2002:str"
_MEANINGS = {
    "tag:yaml.org,2002:bool": "a boolean",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:timestamp": "a date",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:merge": "a merge key",
    "tag:yaml.org,2002:value": "a default value",
}
_LIST = "write [] around the groups, the primary group first"


@attrs.frozen
class GroupMap:
    """The groups of users, the primary one first, and the problems of the file."""

    groups: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    problems: tuple[Problem, ...] = ()


def read_map(path: Path) -> GroupMap:
    """Read the file. With a problem no groups are returned: half a map would put users into wrong queues."""
    reader = _MapReader(printable(str(path)))
    groups = reader.read(path)
    if reader.problems:
        return GroupMap(problems=tuple(reader.problems))
    return GroupMap(groups)


@attrs.define(eq=False)
class _MapReader:
    file: str
    problems: list[Problem] = attrs.field(factory=list)

    def read(self, path: Path) -> dict[str, tuple[str, ...]]:
        text = self._text(path)
        root = None if text is None else self._root(text)
        if isinstance(root, yaml.MappingNode):
            return dict(self._users(root))
        if root is not None:
            self._error(root.start_mark, "expected users with their groups", "write user: [group, ...]")
        return {}

    def _text(self, path: Path) -> str | None:
        try:
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            self._refuse(Source(self.file), f"the file can't be read: {error.strerror}")
            return None
        if len(content) > MAX_BYTES:
            hint = "set system: true, or write a plugin (negotiator_user_groups) for so many users"
            self._refuse(Source(self.file), f"the file is longer than {MAX_BYTES} bytes", hint)
            return None
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            self._refuse(Source(self.file, line), "not UTF-8", "save the file as UTF-8")
            return None

    def _root(self, text: str) -> yaml.Node | None:
        loader = None
        try:
            loader = _NodeComposer(text, self._error)
            return loader.get_single_node()
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            self._refuse(Source(self.file, line), "invalid character in YAML", "remove it")
        except yaml.MarkedYAMLError as error:
            message = ", ".join(filter(None, (error.problem, error.context)))
            self._error(error.problem_mark or error.context_mark, f"not valid YAML: {printable(message)}")
        except (ValueError, OverflowError):
            # Escapes beyond Unicode, version numbers of thousands of digits: PyYAML lets Python raise.
            mark = loader.get_mark() if loader else None
            self._error(mark, "not valid YAML", "is it an escape beyond \\U0010FFFF?")
        return None

    def _users(self, root: yaml.MappingNode) -> Iterator[tuple[str, tuple[str, ...]]]:
        seen: dict[str, int] = {}
        for key, value in root.value:
            user = self._name(key, "user")
            groups = self._groups(value)
            if user in seen:
                message = f"duplicate user {user!r}; the first is in line {seen[user]}"
                self._error(key.start_mark, message, "remove one of the two")
            elif user is not None:
                seen[user] = key.start_mark.line + 1
                yield user, groups

    def _groups(self, node: yaml.Node) -> tuple[str, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self._error(node.start_mark, "expected a list of groups", _LIST)
            return ()
        if len(node.value) > MAX_GROUPS:
            self._error(node.start_mark, f"more than {MAX_GROUPS} groups of one user")
            return ()
        groups: dict[str, None] = {}
        for item in node.value:
            name = self._name(item, "group")
            if name in groups:
                self._error(item.start_mark, f"duplicate group {name!r}", "remove one of the two")
            elif name is not None:
                groups[name] = None
        return tuple(groups)

    def _name(self, node: yaml.Node, what: str) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self._error(node.start_mark, f"expected a {what} name", "write one name")
        elif node.tag != _TEXT:
            meaning = _MEANINGS.get(node.tag, "another type")
            message = f"expected a {what} name; YAML reads {node.value[:LONGEST]!r} as {meaning}"
            self._error(node.start_mark, message, "quote it")
        elif not is_name(node.value):
            message = f"a {what} name must have 1 to {LONGEST} printable characters"
            self._error(node.start_mark, message)
        else:
            return str(node.value)
        return None

    def _error(self, mark: yaml.Mark | None, message: str, hint: str = "") -> None:
        source = Source(self.file, mark.line + 1, mark.column + 1) if mark else Source(self.file)
        self._refuse(source, message, hint)

    def _refuse(self, source: Source, message: str, hint: str = "") -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(Severity.ERROR, source, message, hint))


class _NodeComposer(yaml.SafeLoader):
    """Composes nodes of texts, lists and mappings; refuses other features of YAML and deep nesting."""

    def __init__(self, text: str, refuse: Callable[[Any, str, str], None]) -> None:
        super().__init__(text)
        self._refuse = refuse
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self._check(event)
        if self._depth >= _DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {_DEPTH}", problem_mark=event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def _check(self, event: yaml.Event) -> None:
        tag = getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event.start_mark, "YAML aliases are refused", "write the value out, or quote it")
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._refuse(event.start_mark, "YAML anchors are refused", "remove it, or quote the value")
        elif tag is not None:
            self._refuse(event.start_mark, f"the YAML tag {tag[:LONGEST]!r} is refused", "remove it")
