"""Types that plugins bring by name, of which ``pool.yaml`` chooses one: orders of requests, live pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

import attrs

from negotiator.bundle.nodes import ListNode, MapNode
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.paths import no_files
from negotiator.bundle.plugin_failures import plugin_source
from negotiator.hooks.answers import Attributed
from negotiator.hooks.manager import HookManager
from negotiator.records import Problem, Severity
from negotiator.records.text import printable, suggest


class _Named(Protocol):
    """A type that plugins bring."""

    @property
    def name(self) -> str:
        """Its name in ``pool.yaml``."""


T = TypeVar("T", bound=_Named)


@attrs.frozen
class NamedTypes(Generic[T]):
    """The types of one hook, by name.

    ``key`` is that of ``pool.yaml``, ``noun`` names a type in messages. ``core`` is the name of the type that no plugin brings,
    empty if there is none.
    """

    key: str
    noun: str
    found: Mapping[str, Attributed[T]]
    core: str = ""

    @property
    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self.found, *filter(None, [self.core])})

    def taken(self, answers: Iterable[Attributed[T]], hooks: HookManager) -> Iterator[Problem]:
        """Yield an error for each type whose name belongs to another one."""
        for each in answers:
            name = each.record.name
            owner = "the core" if name == self.core else f"plugin {self.found[name].plugin}"
            if name != self.core and self.found[name] is each:
                continue
            message = f"the {self.noun} {name} of plugin {each.plugin} already belongs to {owner}"
            source = plugin_source(hooks, each.plugin)
            yield Problem(Severity.ERROR, source, message, "disable one of the two plugins")

    def named(self, top: MapNode) -> tuple[Attributed[T] | None, list[Problem]]:
        """Return the type that the key names; None for that of the core, and where there is a problem."""
        entry, builder = top.entries[self.key], ObjectBuilder(no_files)
        if isinstance(entry.value, ListNode):
            hint = f"choose one of {', '.join(self.names)}"
            return None, [top.file.error(entry.at, f"{self.key}: takes one {self.noun}, not a list", hint)]
        wanted = builder.value(entry.value, str)
        if wanted is INVALID or (self.core and wanted == self.core):
            return None, builder.problems
        if wanted in self.found:
            return self.found[wanted], []
        known = ", ".join(self.names) or "none"
        message = f"unknown {self.noun} {printable(wanted)}: known are {known}"
        return None, [top.file.error(entry.at, message, suggest(wanted, self.names, listed=False))]


def first_of_each_name(answers: Iterable[Attributed[T]]) -> Mapping[str, Attributed[T]]:
    """Return the types by name; the first one of each."""
    found: dict[str, Attributed[T]] = {}
    for each in answers:
        found.setdefault(each.record.name, each)
    return found
