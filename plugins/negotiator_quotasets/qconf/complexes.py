"""The switches for the complexes: ``-sc`` prints them, ``-Mc`` replaces the list by that of a file.

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
from negotiator_quotasets.qconf.complex_lines import KEYS, format_complexes, parse_complexes, values_of
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.documents import EMPTY, FILE, Document, new_mapping, with_values
from negotiator_quotasets.qconf.files import read_text
from negotiator_quotasets.qconf.refusal import QconfRefusedError
from negotiator_quotasets.qconf.sets import quoted
from negotiator_quotasets.settings import GridEngine, QuotaSettings

_LIST = "complex entry list"
_WHERE: Mapping[str, str] = MappingProxyType({"removed": "from", "modified": "in", "added": "to"})


def show(desk: QconfContext, _words: QconfArguments) -> None:
    """``-sc``: print all complexes, sorted by name."""
    known = sorted(desk.settings().gridengine.all_complexes, key=lambda each: each.name.lower())
    for line in format_complexes(known):
        desk.say(line)


def change_from_file(desk: QconfContext, words: QconfArguments) -> None:
    """``-Mc FILE``: make the complexes those of a file. All that differs is changed, or nothing."""
    desk.require_manager(FILE, EMPTY)
    file = words.required()
    wanted = parse_complexes(read_text(file), file)
    with desk.changing() as settings:
        change = _ComplexesChange(settings, wanted)
        refused = list(change.refused())
        if refused:
            raise QconfRefusedError(*refused)
        lines = change.told()
        if lines:
            document = Document(desk, settings)
            document.set_list("complexes", list(change.entries(document.mappings("complexes"))))
            changed = [name for _, name in lines]
            desk.change(document.written(), f"-Mc {file}: {quoted(changed)}")
    for verb, name in lines:
        desk.complain(f'{desk.who} {verb} "{name}" {_WHERE[verb]} {_LIST}')


@attrs.frozen
class _ComplexesChange:
    """The complexes that there are, and those that are to be."""

    settings: QuotaSettings
    wanted: Mapping[str, Complex]

    @property
    def engine(self) -> GridEngine:
        return self.settings.gridengine

    @property
    def removed(self) -> list[str]:
        return [each.name for each in self.engine.all_complexes if each.name not in self.wanted]

    def refused(self) -> Iterator[str]:
        """Why some of those that are not wanted any more have to stay."""
        declared = {each.name for each in self.engine.complexes}
        for name in self.removed:
            if name not in declared:
                yield f'denied: complex attribute "{name}" belongs to every cluster and can\'t be deleted'
            elif (where := next(self._references(name), None)) is not None:
                yield f'denied: Complex attribute "{name}" is still referenced in {where}.'

    def _references(self, name: str) -> Iterator[str]:
        complexes, engine = self.engine.all_complexes, self.engine
        for queue, said in engine.queues.items():
            if _names(said.complex_values, name, complexes):
                yield f'queue "{queue}"'
        if _names(engine.complex_values, name, complexes):
            yield 'host "global"'
        for host, has in engine.hosts.items():
            if _names(has.complex_values, name, complexes):
                yield f'host "{host}"'
        for each in self.settings.sets:
            limits = [limit for rule in each.rules for limit in rule.limits]
            if any(name in (limit.resource, *(term.complex for term in limit.terms)) for limit in limits):
                yield f'resource quota set "{each.name}"'

    def told(self) -> list[tuple[str, str]]:
        """What happens to each complex that does not stay as it is: the verb, and its name."""
        old = {each.name: each for each in self.engine.all_complexes}
        modified = [name for name, each in self.wanted.items() if name in old and old[name] != each]
        added = [name for name in self.wanted if name not in old]
        return [
            (verb, name)
            for verb, names in (("removed", self.removed), ("modified", modified), ("added", added))
            for name in names
        ]

    def entries(self, old: list[yaml.MappingNode]) -> Iterator[yaml.MappingNode]:
        """The list of the file: what was declared keeps its further keys; standard ones are declared where they differ."""
        by_name = {_name_of(each): each for each in old}
        for name, each in self.wanted.items():
            if name in by_name:
                same = any(each == declared.complex for declared in self.engine.complexes)
                yield by_name[name] if same else with_values(by_name[name], values_of(each))
            elif STANDARD.find(name) != each:
                yield new_mapping(values_of(each))


def _names(values: Mapping[str, ScalarText], name: str, complexes: Complexes) -> bool:
    return any((found := complexes.find(word)) is not None and found.name == name for word in values)


def _name_of(entry: yaml.MappingNode) -> str:
    return next((str(value.value) for key, value in entry.value if key.value == KEYS[0]), "")
