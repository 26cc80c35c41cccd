"""The switches for complexes: ``-sc`` prints them, ``-Mc`` replaces them by those of a file.

Source: qconf(1); complex(5), the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import attrs
import yaml

from negotiator.plugin import ScalarText
from negotiator_quotasets.complexes import STANDARD, Complex, Complexes
from negotiator_quotasets.qconf.arguments import QconfArguments
from negotiator_quotasets.qconf.complex_lines import KEYS, columns_of, format_complexes, parse_complexes
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.errors import QconfRefusedError
from negotiator_quotasets.qconf.files import read_text
from negotiator_quotasets.qconf.gridengine_file import EMPTY, FILE, GridEngineFile, new_mapping, with_values
from negotiator_quotasets.qconf.sets import quoted
from negotiator_quotasets.settings import GridEngine, QuotaSettings

_LIST = "complex entry list"
_PREPOSITION: Mapping[str, str] = MappingProxyType({"removed": "from", "modified": "in", "added": "to"})


def show(context: QconfContext, _arguments: QconfArguments) -> None:
    """``-sc``: print all complexes, sorted by name."""
    complexes = sorted(context.settings().gridengine.all_complexes, key=lambda each: each.name.lower())
    for line in format_complexes(complexes):
        context.print_line(line)


def change_from_file(context: QconfContext, arguments: QconfArguments) -> None:
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
