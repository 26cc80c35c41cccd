"""The owner of each key of a bundle: a plugin by its fields, or by its patterns of knobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

import attrs

from negotiator.bundle.nodes import MapEntry, MapNode, shown
from negotiator.records import Problem, Severity, Source


@attrs.frozen(eq=False)
class KnobOwners:
    """The owners of ``keys`` by key, and of ``patterns`` by pattern in lower case.

    ``of_pool`` has the owners of names that count in the pool's own configuration alone, by pattern in lower case.
    A key takes precedence over patterns; if several patterns match a name, the longest one decides.
    """

    keys: Mapping[str, str]
    patterns: Mapping[str, str] = attrs.field(factory=dict)
    of_pool: Mapping[str, str] = attrs.field(factory=dict)

    def named(self, name: str) -> str:
        """Return the key with this name, upper and lower case being equal; empty if there is none."""
        return self._folded.get(name.lower(), "")

    def of_pattern(self, name: str) -> str:
        """Return the plugin that owns a name by a pattern; empty if there is none."""
        if self.named(name):
            return ""
        return _owner(name, self.patterns)

    def of_pool_pattern(self, name: str) -> str:
        """Return the plugin that owns a name of the pool's own configuration; empty if there is none."""
        return _owner(name, self.of_pool)

    def of_plugin(self, plugin: str, entries: Mapping[str, MapEntry]) -> dict[str, MapEntry]:
        """Return the entries that a plugin owns by its patterns."""
        if plugin not in self.patterns.values():
            return {}
        return {name: entry for name, entry in entries.items() if self.of_pattern(name) == plugin}

    def repeated(self, top: MapNode) -> Iterator[Problem]:
        """Yield an error for each name that ``pool.yaml`` has twice, in upper and in lower case."""
        seen: dict[str, str] = {}
        for name, entry in top.entries.items():
            if not self.of_pattern(name):
                continue
            first = seen.setdefault(name.lower(), name)
            if first != name:
                message = f"{shown(name)} is {shown(first)} again: upper and lower case are equal here"
                yield top.file.error(entry.at, message, "remove one of the two")

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        return {key.lower(): key for key in self.keys}


def _owner(name: str, patterns: Mapping[str, str]) -> str:
    """Return the owner of the longest pattern that matches a name; empty if none does."""
    matching = (pattern for pattern in patterns if fnmatchcase(name.lower(), pattern))
    longest = max(matching, key=lambda pattern: (len(pattern), pattern), default="")
    return patterns.get(longest, "")


def assign_patterns(
    plugin: str, patterns: Iterable[str], source: Source, owners: dict[str, str]
) -> Iterable[Problem]:
    """Add the patterns of a plugin's knobs to ``owners``; return the problems of those that another plugin has."""
    problems = []
    for pattern in patterns:
        other = owners.setdefault(pattern.lower(), plugin)
        if other != plugin:
            message = f"the knobs {pattern} of plugin {plugin} already belong to plugin {other}"
            problems.append(Problem(Severity.ERROR, source, message, "disable one of the two plugins"))
    return problems
