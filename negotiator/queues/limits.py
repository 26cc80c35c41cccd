"""Which limits of the configuration hold for a user or a group, queue by queue, and which group an application is in.

Source: "User and Group Quota Enforcement", Wildcard interpretation; YuniKorn's group resolution. Queues that are not
configured (placement rules make them) have no limits of their own; those above them hold as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import attrs

from negotiator.queues import QueueConfig, QueueLimit
from negotiator.queues.checks.limits import SubjectKind
from negotiator.queues.names import WILDCARD, upwards
from negotiator.queues.quantities import Resources
from negotiator.records import Source


@attrs.frozen
class EffectiveLimit:
    """A limit, the queue that it is written at, and the name it is written under: perhaps the wildcard."""

    whom: SubjectKind
    name: str
    path: str
    limit: QueueLimit

    @property
    def resources(self) -> Resources:
        """The most of each resource; what is not named is not limited."""
        return self.limit.resources

    @property
    def applications(self) -> int:
        """The most running applications; 0 is no limit."""
        return self.limit.applications

    @property
    def source(self) -> Source:
        """Where it is written."""
        return self.limit.source

    def __str__(self) -> str:
        """``limit of user * at root.a``."""
        return f"limit of {self.whom} {self.name} at {self.path}"


class LimitIndex:
    """The limits of a configuration, found by queue and name."""

    def __init__(self, root: QueueConfig) -> None:
        self.root = root
        self._held: Mapping[SubjectKind, dict[str, dict[str, EffectiveLimit]]] = {
            whom: {} for whom in SubjectKind
        }
        for queue in root.walk():
            for limit in queue.limits:
                self._add(queue.path, SubjectKind.USER, limit.users, limit)
                self._add(queue.path, SubjectKind.GROUP, limit.groups, limit)
        self._names = {
            whom: frozenset(name for held in queues.values() for name in held)
            for whom, queues in self._held.items()
        }

    def _add(self, path: str, whom: SubjectKind, names: Collection[str], limit: QueueLimit) -> None:
        for name in names:
            self._held[whom].setdefault(path, {}).setdefault(name, EffectiveLimit(whom, name, path, limit))

    def names(self, whom: SubjectKind) -> frozenset[str]:
        """All names that limits are written under, the wildcard among them."""
        return self._names[whom]

    def queues(self, whom: SubjectKind, name: str) -> Iterator[str]:
        """The queues that have a limit written under this name."""
        return (path for path, held in self._held[whom].items() if name in held)

    def limit(self, whom: SubjectKind, name: str, path: str) -> EffectiveLimit | None:
        """The limit of one queue that holds for a user, or a group.

        A user whom none of the queue's limits names has the wildcard's; one who is named has nothing of it. The
        wildcard of groups is one shared group of that name, and holds for no other.
        """
        held = self._held[whom].get(path, {})
        return held.get(name) or (held.get(WILDCARD) if whom is SubjectKind.USER else None)

    def group(self, groups: Collection[str], path: str) -> str:
        """The group that an application counts for: empty for none.

        From the leaf to the root, the first queue decides that names a group of the user, or everybody by the
        wildcard: the order of its limits, not that of the user's groups. Without groups nothing matches.
        """
        if not groups:
            return ""
        for each in upwards(path):
            held = self._held[SubjectKind.GROUP].get(each, {})
            for name in held:
                if name in groups:
                    return name
            if WILDCARD in held:
                return WILDCARD
        return ""
