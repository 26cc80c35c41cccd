"""What a bundle says to this plugin: the rule sets in its files ``*.rqs``, and the objects that they refer to.

Sets of all files are one list, in the order of the names of the files. A file that begins with a line
``# in place of: a.rqs b.rqs`` stands for those as well, which are then not read: so a change of several files is made
by writing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from negotiator.plugin import Problem, Severity, Source
from negotiator_quotasets.language import Parsed, RuleSet, parse_sets
from negotiator_quotasets.settings.objects import GridEngine

FILES = "*.rqs"
_IN_PLACE = re.compile(r"# in place of: ([^\n]*)")


@attrs.frozen(eq=False)
class QuotaSettings:
    """The keys and files of this plugin."""

    files: Mapping[str, str] = attrs.field(factory=dict)
    gridengine: GridEngine = attrs.field(factory=GridEngine)

    @cached_property
    def read(self) -> Mapping[str, Parsed]:
        """What each file says, of those that are read."""
        engine = self.gridengine
        return {
            name: parse_sets(text, name, engine.all_complexes, numeric_formulas=engine.numeric_formulas)
            for name, text in self.files.items()
            if name not in self.superseded
        }

    @cached_property
    def superseded(self) -> frozenset[str]:
        """The files that others stand for."""
        found = set[str]()
        for name, text in self.files.items():
            if said := _IN_PLACE.match(text):
                found |= set(said[1].split()) - {name}
        return frozenset(found)

    @cached_property
    def sets(self) -> tuple[RuleSet, ...]:
        """All sets, in their order."""
        return tuple(each for parsed in self.read.values() for each in parsed.sets)


def in_place_of(names: Iterable[str]) -> str:
    """The line that says which files another one stands for; nothing where there are none."""
    told = " ".join(names)
    return f"# in place of: {told}\n" if told else ""


def check(settings: QuotaSettings) -> Iterator[Problem]:
    """All that is wrong with the files and the objects."""
    wrong = list(settings.gridengine.problems())
    yield from wrong
    if wrong:
        return
    for name in sorted(settings.superseded & settings.files.keys()):
        message = "this file is not read: another one says that it stands in its place"
        yield Problem(Severity.WARNING, Source(name, 1, 1), message, "delete it, or that line of the other")
    seen: dict[str, str] = {}
    for name, parsed in settings.read.items():
        yield from parsed.problems
        for each in parsed.sets:
            if seen.setdefault(each.name, name) != name:
                message = f'resource quota set "{each.name}" is in {seen[each.name]} too'
                yield Problem(Severity.ERROR, each.source or Source(name), message, "rename one of them")
