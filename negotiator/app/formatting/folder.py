"""Format the YAML files of a bundle; a file with an error is left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs
import yaml

from negotiator.app.formatting.expression_layout import expression_edits
from negotiator.app.formatting.yaml_layout import Edit, edited, laid_out
from negotiator.app.policy_tests.file import read_policy_tests
from negotiator.app.policy_tests.run import PATTERN
from negotiator.app.targets import examine
from negotiator.bundle import Bundle
from negotiator.bundle.archive import MANIFEST
from negotiator.bundle.folder import QUEUES, leads_out
from negotiator.bundle.text import (
    BadNode,
    ListNode,
    LocatedText,
    MapNode,
    Node,
    ScalarNode,
    SourceText,
    Style,
    decoded,
)
from negotiator.bundle.yaml_reader import YamlDialect, read_yaml
from negotiator.classad import ParseError, parse
from negotiator.classad.syntax import tree_key
from negotiator.errors import SettingsError
from negotiator.files import open_regular, replace_file
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.declarations import Expression
from negotiator.records import Problem, Severity, Source

_Places: TypeAlias = frozenset[Source]

_SUFFIXES: Final = frozenset({".yaml", ".yml"})
_LARGEST: Final = 1 << 20  # bytes


@attrs.frozen
class FormattedFile:
    """A file by its name in the folder, and its text before and after."""

    name: str
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        """True if the file is not in the style."""
        return self.before != self.after


@attrs.frozen
class FormattedFolder:
    """The files that could be formatted, and for each other one why it is left alone."""

    folder: Path
    files: tuple[FormattedFile, ...]
    problems: tuple[Problem, ...]

    @property
    def changed(self) -> tuple[FormattedFile, ...]:
        """The files that are not in the style."""
        return tuple(each for each in self.files if each.is_changed)


class _LeftAloneError(Exception):
    """A file is not formatted."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def format_folder(targets: CommandTargets) -> FormattedFolder:
    """Return the YAML files of the bundle of the targets in the style; nothing is written.

    Expressions are formatted if the bundle has no errors: otherwise it is not known what is an expression.
    """
    folder = targets.bundle or Path()
    found = examine(targets)
    places = frozenset() if found.bundle is None else frozenset(_expressions(found.bundle))
    wrong = {each.source.file: each for each in found.problems if each.severity is Severity.ERROR}
    if (folder / MANIFEST).exists():
        hint = f"remove {MANIFEST}, format the files, and write it anew with sha256sum"
        return FormattedFolder(folder, (), (_problem(MANIFEST, "its files are left alone", hint),))
    files, problems = [], []
    for name in _names(folder):
        try:
            files.append(_formatted(folder, name, places, wrong.get(name)))
        except _LeftAloneError as error:
            problems.append(error.problem)
    return FormattedFolder(folder, tuple(files), tuple(problems))


def write_formatted(found: FormattedFolder) -> None:
    """Replace the files that are not in the style, each as a whole.

    :raises OSError: one cannot be written.
    """
    for each in found.changed:
        path = found.folder / each.name
        replace_file(path, each.after.encode(), path.stat())


def _names(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in name.parts)
        if path.suffix in _SUFFIXES and not hidden and path.is_file() and not leads_out(folder, path):
            yield str(name)


def _formatted(folder: Path, name: str, places: _Places, wrong: Problem | None) -> FormattedFile:
    """Return a file in the style.

    :param wrong: an error that the bundle has in the file.
    """
    if wrong is not None:
        raise _LeftAloneError(wrong)
    file = _read(folder, name)
    top = _tree(file)
    if Path(name).match(PATTERN):
        try:
            read_policy_tests(folder / name)
        except SettingsError as error:
            raise _LeftAloneError(
                attrs.evolve(error.problems[0], source=_of(name, error.problems[0]))
            ) from None
    text = edited(file.text, [edit for node in _scalars(top) for edit in _edits(node, places)])
    after = laid_out(text)
    again = _tree(SourceText(name, after))
    if not _is_same(top, again, places):  # a rare spelling of YAML
        message = "this file is left alone: it cannot be formatted without a change of its meaning"
        raise _LeftAloneError(_problem(name, message, "write it in a simpler way"))
    return FormattedFile(name, file.text, after)


def _read(folder: Path, name: str) -> SourceText:
    try:
        with os.fdopen(open_regular(folder / name), "rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise _LeftAloneError(_problem(name, f"the file cannot be read: {error.strerror or error}")) from None
    if len(content) > _LARGEST:
        raise _LeftAloneError(_problem(name, f"the file is larger than {_LARGEST} bytes"))
    file, broken = decoded(name, content)
    if broken is not None:
        raise _LeftAloneError(broken)
    return file


def _tree(file: SourceText) -> MapNode:
    try:
        top, problems = read_yaml(file, YamlDialect.YUNIKORN if file.name == QUEUES else YamlDialect.OWN)
    except yaml.YAMLError as error:
        raise _LeftAloneError(_problem(file.name, str(error))) from None
    if top is None or problems:
        raise _LeftAloneError(problems[0] if problems else _problem(file.name, "not a mapping"))
    return top


def _problem(name: str, message: str, hint: str = "") -> Problem:
    return Problem(Severity.ERROR, Source(name), message, hint)


def _of(name: str, problem: Problem) -> Source:
    return Source(name, problem.source.line, problem.source.column)


def _expressions(bundle: Bundle) -> Iterator[Source]:
    """Yield the place of each expression in the settings of a bundle."""
    waiting: list[Any] = [bundle.settings, bundle.audit, bundle.placement]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Expression):
            if each.source is not None:
                yield each.source
        elif isinstance(each, Mapping):
            waiting += each.values()
        elif isinstance(each, Sequence) and not isinstance(each, str | bytes):
            waiting += each
        elif attrs.has(type(each)):
            waiting += (getattr(each, field.name, None) for field in attrs.fields(type(each)))


def _scalars(top: Node) -> Iterator[ScalarNode]:
    waiting: list[Node] = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ScalarNode):
            yield node
        elif isinstance(node, MapNode):
            waiting += (entry.value for entry in node.entries.values())
        elif isinstance(node, ListNode):
            waiting += node.items


def _edits(node: ScalarNode, places: _Places) -> Iterator[Edit]:
    """Yield the edits of the file for an expression."""
    value = node.value.stripped()
    if value.source not in places:
        return
    for edit in expression_edits(value.text):
        inside = _inside(value, edit)
        if inside is None or (node.style is Style.PLAIN and _is_special(value.text, edit)):
            continue
        yield inside


def _inside(value: LocatedText, edit: Edit) -> Edit | None:
    """Return the edit of the file for that of a value; None if the file has something else there, such as a line end."""
    start, end = value.index(edit.start - 1) + 1, value.index(edit.end)
    if value.file.text[start:end] != value.text[edit.start : edit.end]:
        return None
    return Edit(start, end, edit.text)


def _is_special(text: str, edit: Edit) -> bool:
    """True if YAML would read something else with the edit: a key, or a comment."""
    before, after = text[edit.start - 1 : edit.start], text[edit.end : edit.end + 1]
    return bool(edit.text) and (before == ":" or after == "#")


def _is_same(one: Node, other: Node, places: _Places) -> bool:
    """True if two files have the same keys and values; expressions may have other blanks."""
    if isinstance(one, MapNode) and isinstance(other, MapNode):
        return [*one.entries] == [*other.entries] and all(
            _is_same(entry.value, other.entries[name].value, places) for name, entry in one.entries.items()
        )
    if isinstance(one, ListNode) and isinstance(other, ListNode):
        return len(one.items) == len(other.items) and all(
            _is_same(mine, its, places) for mine, its in zip(one.items, other.items, strict=True)
        )
    if isinstance(one, ScalarNode) and isinstance(other, ScalarNode):
        return one.style is other.style and _is_same_text(one, other, places)
    return isinstance(one, BadNode) and isinstance(other, BadNode)


def _is_same_text(one: ScalarNode, other: ScalarNode, places: _Places) -> bool:
    mine, its = one.value.text, other.value.text
    if mine == its:
        return True
    if one.value.stripped().source not in places:
        return False
    try:
        return tree_key(parse(mine.strip())) == tree_key(parse(its.strip()))
    except ParseError:
        return False
