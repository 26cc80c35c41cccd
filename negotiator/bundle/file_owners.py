"""Which files at the top of a bundle belong to which plugin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

import attrs

from negotiator.bundle.folder import MAIN, QUEUES, is_settings_file
from negotiator.hooks.answers import Attributed
from negotiator.hooks.records import Section
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

_CORE = "the core"


@attrs.frozen
class FileOwners:
    """The patterns of the files that plugins read, each with its plugin."""

    owners: Mapping[str, str] = attrs.field(factory=dict)

    def owner(self, name: str) -> str:
        """The plugin that reads a file; empty where none does. ``name`` is relative to the folder."""
        return next(iter(self._all(name)), "")

    def of(self, plugin: str, names: Iterable[str]) -> list[str]:
        """The names of the files that a plugin reads, sorted."""
        if plugin not in self.owners.values():
            return []
        return sorted(name for name in names if self.owner(name) == plugin)

    def conflicts(self, names: Iterable[str]) -> Iterator[Problem]:
        """Say which files more than one would read: what stands in them can't be meant for both."""
        for name in sorted(names):
            found = [f"plugin {plugin} ({pattern})" for plugin, pattern in self._all(name).items()]
            if is_settings_file(name):
                found.insert(0, _CORE)
            if len(found) > 1:
                message = f"this file belongs to {found[0]} and to {found[1]}"
                hint = "rename the file, or disable a plugin"
                yield Problem(Severity.ERROR, Source(printable(name)), message, hint)

    def _all(self, name: str) -> dict[str, str]:
        """The plugins whose patterns a name matches, in their order, each with the first such pattern."""
        if "/" in name:
            return {}
        matching = (pattern for pattern in self.owners if fnmatchcase(name, pattern))
        found: dict[str, str] = {}
        for pattern in matching:
            found.setdefault(self.owners[pattern], pattern)
        return found


def claim(
    sections: Iterable[Attributed[Section]], origins: Mapping[str, str]
) -> tuple[FileOwners, tuple[Problem, ...]]:
    """Give each pattern to one plugin. ``origins`` tells where each plugin comes from, for problems."""
    owners: dict[str, str] = {}
    problems = []
    for stamped in sections:
        source = Source(origins.get(stamped.plugin, stamped.plugin))
        for pattern in stamped.record.patterns:
            other = _CORE if _is_core(pattern) else owners.setdefault(pattern, stamped.plugin)
            if other != stamped.plugin:
                whom = other if other == _CORE else f"plugin {other}"
                message = f"the files {pattern!r} of plugin {stamped.plugin} belong to {whom} already"
                hint = "name others" if other == _CORE else "disable one of the two plugins"
                problems.append(Problem(Severity.ERROR, source, message, hint))
    return FileOwners(owners), tuple(problems)


def _is_core(pattern: str) -> bool:
    """Whether a pattern means settings of the core: one like ``*.conf`` is the name of such a file itself."""
    return is_settings_file(pattern) or any(fnmatchcase(name, pattern) for name in (MAIN, QUEUES))
