"""The settings of this plugin: the rule sets in the files ``*.rqs`` of a bundle, and the objects that they refer to.

The sets of all files form one list, in the order of the files' names. A file that begins with the line
``# in place of: a.rqs b.rqs`` supersedes those files, which are then not read: a change of several files is atomic, since
it is made by writing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import attrs

from negotiator.plugin import Mode, Problem, Severity, Source, suggest
from negotiator_quotasets import language
from negotiator_quotasets.settings.objects import GridEngine

FILES = "*.rqs"
MODES = "quota_set_modes"
#: All sets without a mode of their own.
OTHERS = "*"
_SUPERSEDING = re.compile(r"# in place of: ([^\n]*)")


@attrs.frozen(eq=False)
class SetsOfMode:
    """The sets that have a mode, in their order."""

    mode: Mode
    sets: tuple[language.RuleSet, ...]


@attrs.frozen(eq=False)
class QuotaSettings:
    """The keys and files of this plugin. ``quota_set_modes`` has the modes of sets by name; ``*`` is that of all others."""

    files: Mapping[str, str] = attrs.field(factory=dict)
    gridengine: GridEngine = attrs.field(factory=GridEngine)
    quota_set_modes: dict[str, Mode] = attrs.field(factory=dict)
    sources: Mapping[str, Source] = attrs.field(factory=dict)

    @cached_property
    def parsed_files(self) -> Mapping[str, language.ParsedSets]:
        """The contents of each file that is not superseded."""
        return {
            name: self.gridengine.parse_sets(text, name)
            for name, text in self.files.items()
            if name not in self.superseded
        }

    @cached_property
    def superseded(self) -> frozenset[str]:
        """The names of the files that other files supersede."""
        names = set[str]()
        for name, text in self.files.items():
            if line := _SUPERSEDING.match(text):
                names |= set(line[1].split()) - {name}
        return frozenset(names)

    @cached_property
    def sets(self) -> tuple[language.RuleSet, ...]:
        """All sets, in their order."""
        return tuple(each for parsed in self.parsed_files.values() for each in parsed.sets)

    @property
    def limits_anything(self) -> bool:
        """True if there are sets, or declared values of complexes."""
        return bool(self.files and self.sets) or self.gridengine.offers_anything

    @cached_property
    def by_mode(self) -> tuple[SetsOfMode, ...]:
        """The sets of each mode: of those that enforce, which may be none, then of the other modes in use.

        A set that is not enabled is among the first, since it limits nothing.
        """
        found: dict[Mode, list[language.RuleSet]] = {mode: [] for mode in Mode}
        for each in self.sets:
            found[self.mode(each.name) if each.enabled else Mode.ENFORCE].append(each)
        return tuple(
            SetsOfMode(mode, tuple(sets)) for mode, sets in found.items() if sets or mode is Mode.ENFORCE
        )

    def mode(self, name: str) -> Mode:
        """Return the mode of a set."""
        return self.quota_set_modes.get(name) or self.quota_set_modes.get(OTHERS, Mode.ENFORCE)


def superseding_line(names: Iterable[str]) -> str:
    """Return the first line of a file that supersedes others; empty if it supersedes none."""
    listed = " ".join(names)
    return f"# in place of: {listed}\n" if listed else ""


def check(settings: QuotaSettings) -> Iterator[Problem]:
    """Yield every problem of the files and the objects."""
    wrong = list(settings.gridengine.problems())
    yield from wrong
    if wrong:
        return
    for name in sorted(settings.superseded & settings.files.keys()):
        message = "this file is not read: another file supersedes it"
        hint = "delete this file, or the line '# in place of' of the other"
        yield Problem(Severity.WARNING, Source(name, 1, 1), message, hint)
    file_of: dict[str, str] = {}
    for name, parsed in settings.parsed_files.items():
        yield from parsed.problems
        for each in parsed.sets:
            if file_of.setdefault(each.name, name) != name:
                message = f'resource quota set "{each.name}" is in {file_of[each.name]} too'
                yield Problem(Severity.ERROR, each.source or Source(name), message, "rename one of them")
    for name in settings.quota_set_modes:
        if name != OTHERS and name not in file_of:
            source = settings.sources.get(f"{MODES}.{name}") or Source("")
            message = f'{MODES}: there is no resource quota set "{language.quotable(name)}"'
            yield Problem(Severity.ERROR, source, message, suggest(name, file_of) or "remove the line")
