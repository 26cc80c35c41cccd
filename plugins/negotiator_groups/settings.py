"""The settings of this plugin, with the file that was read and the cached answers of the system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from negotiator.plugin import Problem

if TYPE_CHECKING:
    from negotiator_groups.map_file import GroupMap
    from negotiator_groups.system import SystemGroups


@attrs.frozen
class GroupSources:
    """The key ``groups``: ``map`` is a file of the bundle; ``system: true`` queries the system too.

    An answer of the system is valid for ``cache_seconds``. File and answers are cached here; a reloaded bundle has new
    settings, which read and query again.
    """

    file: Path | None = attrs.field(default=None, alias="map")
    system: bool = False
    cache_seconds: int = attrs.field(default=300, validator=attrs.validators.ge(0))

    @cached_property
    def map(self) -> GroupMap:
        """The groups of the file; empty without a file."""
        from negotiator_groups.map_file import GroupMap, read_map

        return read_map(self.file) if self.file else GroupMap()

    @cached_property
    def answers(self) -> SystemGroups:
        """The answers of the system."""
        from negotiator_groups.system import SystemGroups

        return SystemGroups(self.cache_seconds)

    def find(self, users: Sequence[str], now: float) -> Mapping[str, tuple[str, ...]]:
        """Return the groups of known users, the primary group first.

        :param now: seconds since the epoch.
        :raises ValueError: the file has a problem.
        """
        for problem in self.map.problems:
            raise ValueError(str(problem))
        named = {user: self.map.groups[user] for user in users if user in self.map.groups}
        if not self.system:
            return named
        return named | self.answers.find([user for user in users if user not in named], now)


@attrs.frozen
class GroupsSettings:
    """The keys of ``pool.yaml`` that this plugin owns."""

    groups: GroupSources = attrs.field(factory=GroupSources)


def check(settings: GroupsSettings) -> Iterable[Problem]:
    """Read the file, so that a bundle with an invalid file is refused."""
    return settings.groups.map.problems if settings.groups.file else ()
