"""The owner of each file at the top of a bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

import attrs

from negotiator.bundle.folder import MAIN, QUEUES, is_settings_file
from negotiator.hooks.answers import Attributed
from negotiator.hooks.declarations import Section
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

_CORE = "the core"


@attrs.frozen
class FileOwners:
    """The plugin that reads each pattern of file names."""

    owners: Mapping[str, str] = attrs.field(factory=dict)

    def owner(self, name: str) -> str:
        """Return the plugin that reads a file, or an empty string. ``name`` is relative to the folder."""
        return next(iter(self._all(name)), "")

    def of(self, plugin: str, names: Iterable[str]) -> list[str]:
        """Return the sorted names of the files that a plugin reads."""
        if plugin not in self.owners.values():
            return []
        return sorted(name for name in names if self.owner(name) == plugin)

    def conflicts(self, names: Iterable[str]) -> Iterator[Problem]:
        """Yield an error for each file with more than one owner."""
        for name in sorted(names):
            found = [f"plugin {plugin} ({pattern})" for plugin, pattern in self._all(name).items()]
            if is_settings_file(name):
                found.insert(0, _CORE)
            if len(found) > 1:
                message = f"this file belongs to {found[0]} and to {found[1]}"
                hint = "rename the file, or disable a plugin"
                yield Problem(Severity.ERROR, Source(printable(name)), message, hint)

    def _all(self, name: str) -> dict[str, str]:
        """Return the plugins whose patterns match a name, in their order, each with its first matching pattern."""
        if "/" in name:
            return {}
        matching = (pattern for pattern in self.owners if fnmatchcase(name, pattern))
        found: dict[str, str] = {}
        for pattern in matching:
            found.setdefault(self.owners[pattern], pattern)
        return found


def assign_files(
    sections: Iterable[Attributed[Section]], origins: Mapping[str, str]
) -> tuple[FileOwners, tuple[Problem, ...]]:
    """Assign each pattern of file names to one plugin.

    :param origins: where each plugin was loaded from, for problems.
    """
    owners: dict[str, str] = {}
    problems = []
    for attributed in sections:
        source = Source(origins.get(attributed.plugin, attributed.plugin))
        for pattern in attributed.record.patterns:
            other = _CORE if _is_core(pattern) else owners.setdefault(pattern, attributed.plugin)
            if other != attributed.plugin:
                owner = other if other == _CORE else f"plugin {other}"
                message = f"the files {pattern!r} of plugin {attributed.plugin} already belong to {owner}"
                hint = "use other names" if other == _CORE else "disable one of the two plugins"
                problems.append(Problem(Severity.ERROR, source, message, hint))
    return FileOwners(owners), tuple(problems)


def _is_core(pattern: str) -> bool:
    """True if a pattern covers settings of the core; ``*.conf`` itself is the name of such a file."""
    return is_settings_file(pattern) or any(fnmatchcase(name, pattern) for name in (MAIN, QUEUES))
