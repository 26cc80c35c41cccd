"""What an administrator may say about groups, and what was read and asked under these settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import attrs

from negotiator.plugin import Problem
from negotiator_groups.map_file import GroupMap, read_map
from negotiator_groups.system import SystemGroups


@attrs.frozen
class GroupSources:
    """The key ``groups``: ``map`` is a file of the bundle, ``system`` says whether the system is asked.

    An answer of the system is believed for ``cache_seconds``. What was read and what was answered is kept here: the
    settings of a bundle that is loaded again read and ask anew.
    """

    file: Path | None = attrs.field(default=None, alias="map")
    system: bool = False
    cache_seconds: int = attrs.field(default=300, validator=attrs.validators.ge(0))

    @cached_property
    def map(self) -> GroupMap:
        """What the file says; without a file, of nobody."""
        return read_map(self.file) if self.file else GroupMap()

    @cached_property
    def answers(self) -> SystemGroups:
        """What the system says, and said."""
        return SystemGroups(self.cache_seconds)

    def find(self, users: Sequence[str], now: float) -> Mapping[str, tuple[str, ...]]:
        """Give the groups of those users that are known, the primary group first. ValueError where the file is wrong."""
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
    """Read the file, so that a bundle whose file is wrong is refused."""
    return settings.groups.map.problems
