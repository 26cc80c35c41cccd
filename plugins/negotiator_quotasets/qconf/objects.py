"""The switches for the objects that rules refer to: complexes are printed and replaced, all others are deleted.

Source: qconf(1), ``-sc``, ``-Mc``, ``-dprj``, ``-dul``, ``-dhgrp`` and ``-dp``; complex(5), the columns. An object that another object refers
to is not deleted. Rule sets may still name a deleted object, which then matches no user or host. ``gridengine.yaml`` is changed as a tree:
unchanged entries keep their order and spelling, but comments are lost.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

import attrs
import yaml

from negotiator.plugin import CommandError, ScalarText
from negotiator_quotasets.complexes import (
    STANDARD,
    Complex,
    Complexes,
    ComplexType,
    Consumable,
    Relation,
    Requestable,
)
from negotiator_quotasets.language import quotable
from negotiator_quotasets.qconf.arguments import (
    MissingArgumentError,
    QconfArguments,
    QconfRefusedError,
    split_lists,
)
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.files import FileWrite, read_text
from negotiator_quotasets.qconf.sets import quoted
from negotiator_quotasets.settings import GridEngine, QuotaSettings

FILE = "gridengine.yaml"
EMPTY = b"{}\n"
_WIDTH = 1 << 20  # lines are not broken
_YAML_LIST, _YAML_MAPPING = "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"
KEYS = ("name", "shortcut", "type", "relop", "requestable", "consumable", "default")
_HEADER = (*KEYS, "urgency")
_URGENCY = "0"  # ignored here, but a column of Grid Engine's files
_MAX_PROBLEMS = 20
_LIST = "complex entry list"
_PREPOSITION: Mapping[str, str] = MappingProxyType({"removed": "from", "modified": "in", "added": "to"})


class GridEngineFile:
    """The tree of the file; empty if the file is missing."""

    def __init__(self, context: QconfContext, settings: QuotaSettings) -> None:
        """Read the file.

        :raises CommandError: the objects are declared in another file.
        """
        path = context.folder() / FILE
        source = settings.gridengine.source
        if not path.is_file() and source is not None and source.file != FILE:
            raise CommandError(
                f"gridengine is declared in {source.file}: move it to a file {FILE}, or change it there"
            )
        # The bundle is loaded: the file is a mapping, without anchors and of a bounded size.
        node = yaml.compose(path.read_text("utf-8-sig"), yaml.SafeLoader) if path.is_file() else None
        self.root = node if isinstance(node, yaml.MappingNode) else yaml.MappingNode(_YAML_MAPPING, [])

    def to_write(self) -> FileWrite:
        """Return the write of the changed file."""
        text: str = yaml.serialize(self.root, Dumper=yaml.SafeDumper, allow_unicode=True, width=_WIDTH)
        return FileWrite(FILE, text.encode())

    def remove(self, key: str, names: Container[str]) -> None:
        """Remove entries from a list of names, or from a mapping by name."""
        node = self._find(key)
        if isinstance(node, yaml.SequenceNode):
            node.value = [each for each in node.value if each.value not in names]
        elif isinstance(node, yaml.MappingNode):
            node.value = [(name, value) for name, value in node.value if name.value not in names]

    def mappings(self, key: str) -> list[yaml.MappingNode]:
        """Return the entries of a list of mappings."""
        node = self._find(key)
        return list(node.value) if isinstance(node, yaml.SequenceNode) else []

    def set_list(self, key: str, entries: list[yaml.MappingNode]) -> None:
        """Replace the entries of a list."""
        node = self._find(key)
        if isinstance(node, yaml.SequenceNode):
            node.value = entries
        else:
            self.root.value = [(name, value) for name, value in self.root.value if name.value != key]
            self.root.value.append((_scalar(key), yaml.SequenceNode(_YAML_LIST, entries)))
        self.root.flow_style = False

    def _find(self, key: str) -> yaml.Node | None:
        return next((value for name, value in self.root.value if name.value == key), None)


def new_mapping(values: Mapping[str, str]) -> yaml.MappingNode:
    """Return a mapping of strings."""
    return yaml.MappingNode(_YAML_MAPPING, [(_scalar(key), _scalar(value)) for key, value in values.items()])


def with_values(mapping: yaml.MappingNode, values: Mapping[str, str]) -> yaml.MappingNode:
    """Return a mapping with new values for some keys; unchanged values keep their spelling."""
    old_keys = {name.value for name, _ in mapping.value}
    changed = [
        (name, value if values.get(name.value, value.value) == value.value else _scalar(values[name.value]))
        for name, value in mapping.value
    ]
    new = [(_scalar(key), _scalar(value)) for key, value in values.items() if key not in old_keys]
    return yaml.MappingNode(_YAML_MAPPING, [*changed, *new], flow_style=mapping.flow_style)


def _scalar(text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text)


@attrs.frozen
class ObjectKind:
    """A kind of objects: its switch, its key in the file, its name in messages.

    ``references`` yields a message if other objects refer to one that is to be deleted.
    """

    switch: str
    key: str
    name: str
    references: Callable[[GridEngine, str, Container[str]], Iterator[str]] = lambda *_: iter(())

    def __call__(self, context: QconfContext, arguments: QconfArguments) -> None:
        """Delete objects of this kind, either all that are named or none."""
        names = split_lists([arguments.value()])
        if not names:
            raise MissingArgumentError(self.switch)
        context.require_manager(FILE, EMPTY)
        with context.locked_settings() as settings:
            self._require_deletable(settings.gridengine, names)
            file = GridEngineFile(context, settings)
            file.remove(self.key, names)
            context.change(file.to_write(), f"{self.switch}: removed {quoted(names)}")
        for name in names:
            context.print_error(f'{context.caller} removed "{name}" from {self.name} list')

    def _require_deletable(self, engine: GridEngine, names: tuple[str, ...]) -> None:
        declared: Container[str] = getattr(engine, self.key)
        missing = [f'denied: {self.name} "{name}" does not exist' for name in names if name not in declared]
        # References from objects that are deleted together do not count.
        referenced = [line for name in names for line in self.references(engine, name, names)]
        if missing or referenced:
            raise QconfRefusedError(*missing, *referenced)


def _hostgroups(engine: GridEngine, group: str, deleted: Container[str]) -> Iterator[str]:
    names = [name for name, members in engine.hostgroups.items() if group in members and name not in deleted]
    if names:
        yield f'denied: these hostgroups still reference "{group}": {", ".join(names)}'


def _queues(engine: GridEngine, pe: str, _deleted: Container[str]) -> Iterator[str]:
    queue = next((name for name, queue in engine.queues.items() if pe in queue.pe_list), None)
    if queue is not None:
        yield f'denied: Parallel environment "{pe}" is still referenced in queue "{queue}".'


delete_projects = ObjectKind("-dprj", "projects", "project")
delete_usersets = ObjectKind("-dul", "usersets", "userset")
delete_hostgroups = ObjectKind("-dhgrp", "hostgroups", "host group", _hostgroups)
delete_pes = ObjectKind("-dp", "pes", "parallel environment", _queues)


_Choice = TypeVar("_Choice", bound=enum.StrEnum)


def format_complexes(complexes: Iterable[Complex]) -> list[str]:
    """Return the lines of the table, with its header."""
    rows: list[tuple[str, ...]] = [(f"#{_HEADER[0]}", *_HEADER[1:])]
    rows += [(*columns_of(each).values(), _URGENCY) for each in complexes]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" ".join(f"{word:{width}}" for word, width in zip(row, widths, strict=True)) for row in rows]
    return [lines[0], f"#{'-' * (len(lines[0]) - 1)}", *lines[1:]]


def columns_of(complex_: Complex) -> Mapping[str, str]:
    """Return the columns of a complex by name."""
    columns = (
        complex_.name,
        complex_.shortcut,
        complex_.type.value,
        complex_.relation.value,
        complex_.requestable.value,
        complex_.consumable.value,
        complex_.default,
    )
    return dict(zip(KEYS, columns, strict=True))


def parse_complexes(text: str, file: str) -> Mapping[str, Complex]:
    """Parse a table; the column of the urgency is optional and ignored.

    :raises QconfRefusedError: invalid lines, each reported with its number.
    """
    complexes: dict[str, Complex] = {}
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        columns = line.partition("#")[0].split()
        if not columns:
            continue
        try:
            complex_ = _complex(columns)
        except ValueError as error:
            problems.append(f"{file}:{number}: {error}")
            continue
        if complexes.setdefault(complex_.name, complex_) is not complex_:
            problems.append(f'{file}:{number}: complex attribute "{complex_.name}" appears more than once')
    if problems:
        raise QconfRefusedError(*problems[:_MAX_PROBLEMS], f'error reading file: "{file}"')
    return complexes


def _complex(columns: list[str]) -> Complex:
    if len(columns) not in (len(KEYS), len(_HEADER)):
        raise ValueError(f"a line has the columns {' '.join(_HEADER)}, this one has {len(columns)}")
    return Complex(
        columns[0],
        columns[1],
        _one_of(ComplexType, columns[2]),
        _one_of(Relation, columns[3]),
        _one_of(Requestable, columns[4]),
        _one_of(Consumable, columns[5]),
        columns[6],
    )


def _one_of(choices: type[_Choice], text: str) -> _Choice:
    short = {"Y": "YES", "N": "NO", "F": "FORCED", "J": "JOB"}
    try:
        return choices(short.get(text.upper(), text.upper()))
    except ValueError:
        raise ValueError(f'invalid value "{quotable(text)}": write one of {", ".join(choices)}') from None


def show_complexes(context: QconfContext, _arguments: QconfArguments) -> None:
    """``-sc``: print all complexes, sorted by name."""
    complexes = sorted(context.settings().gridengine.all_complexes, key=lambda each: each.name.lower())
    for line in format_complexes(complexes):
        context.print_line(line)


def change_complexes_from_file(context: QconfContext, arguments: QconfArguments) -> None:
    """``-Mc FILE``: replace the complexes by those of a file, either all that differ or none."""
    context.require_manager(FILE, EMPTY)
    file = arguments.required()
    wanted = parse_complexes(read_text(file), file)
    with context.locked_settings() as settings:
        change = _ComplexesChange(settings, wanted)
        refusals = list(change.refusals())
        if refusals:
            raise QconfRefusedError(*refusals)
        changes = change.changes()
        if changes:
            engine_file = GridEngineFile(context, settings)
            engine_file.set_list("complexes", list(change.entries(engine_file.mappings("complexes"))))
            changed = [name for _, name in changes]
            context.change(engine_file.to_write(), f"-Mc {file}: {quoted(changed)}")
    for verb, name in changes:
        context.print_error(f'{context.caller} {verb} "{name}" {_PREPOSITION[verb]} {_LIST}')


@attrs.frozen
class _ComplexesChange:
    """The current complexes, and the wanted ones by name."""

    settings: QuotaSettings
    wanted: Mapping[str, Complex]

    @property
    def engine(self) -> GridEngine:
        return self.settings.gridengine

    @property
    def removed(self) -> list[str]:
        return [each.name for each in self.engine.all_complexes if each.name not in self.wanted]

    def refusals(self) -> Iterator[str]:
        """Yield the reasons why complexes can't be removed."""
        declared = {each.name for each in self.engine.complexes}
        for name in self.removed:
            if name not in declared:
                yield f'denied: complex attribute "{name}" belongs to every cluster and can\'t be deleted'
            elif (reference := next(self._references(name), None)) is not None:
                yield f'denied: Complex attribute "{name}" is still referenced in {reference}.'

    def _references(self, name: str) -> Iterator[str]:
        complexes, engine = self.engine.all_complexes, self.engine
        for queue, declared in engine.queues.items():
            if _has_value(declared.complex_values, name, complexes):
                yield f'queue "{queue}"'
        if _has_value(engine.complex_values, name, complexes):
            yield 'host "global"'
        for host, declared_host in engine.hosts.items():
            if _has_value(declared_host.complex_values, name, complexes):
                yield f'host "{host}"'
        for each in self.settings.sets:
            limits = [limit for rule in each.rules for limit in rule.limits]
            if any(name in (limit.resource, *(term.complex for term in limit.terms)) for limit in limits):
                yield f'resource quota set "{each.name}"'

    def changes(self) -> list[tuple[str, str]]:
        """Return the verb and the name of each complex that changes."""
        old = {each.name: each for each in self.engine.all_complexes}
        modified = [name for name, each in self.wanted.items() if name in old and old[name] != each]
        added = [name for name in self.wanted if name not in old]
        return [
            (verb, name)
            for verb, names in (("removed", self.removed), ("modified", modified), ("added", added))
            for name in names
        ]

    def entries(self, old: list[yaml.MappingNode]) -> Iterator[yaml.MappingNode]:
        """Yield the new declarations.

        Declared complexes keep their other keys; a standard complex is declared only if it differs from the standard.
        """
        by_name = {_name_of(each): each for each in old}
        for name, each in self.wanted.items():
            if name in by_name:
                same = any(each == declared.complex for declared in self.engine.complexes)
                yield by_name[name] if same else with_values(by_name[name], columns_of(each))
            elif STANDARD.find(name) != each:
                yield new_mapping(columns_of(each))


def _has_value(values: Mapping[str, ScalarText], name: str, complexes: Complexes) -> bool:
    """True if values contain a complex, by its name or its shortcut."""
    return any((found := complexes.find(key)) is not None and found.name == name for key in values)


def _name_of(entry: yaml.MappingNode) -> str:
    return next((str(value.value) for key, value in entry.value if key.value == KEYS[0]), "")
