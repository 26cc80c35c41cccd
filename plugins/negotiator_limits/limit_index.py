"""The limits of users and groups on each queue, and the group that an application counts for.

Source: "User and Group Quota Enforcement", Wildcard interpretation; YuniKorn's group resolution. Queues that placement
rules create have no limits of their own; those of the queues above hold for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from negotiator.plugin import (
    LIMITS_MODE,
    WILDCARD,
    Mode,
    QueueConfig,
    QueueLimit,
    SubjectKind,
    configured_modes,
    upwards,
)
from negotiator_limits.effective_limit import EffectiveLimit
from negotiator_limits.limited_level import LimitedLevel

#: Users and groups in queues whose quotas are held: a submitter's requests have their turns one after the other.
_MAX_LEVELS = 4_096


class LimitIndex:
    """The limits of a configuration, by queue and name. ``enforcing`` is the index of those that enforce."""

    def __init__(self, root: QueueConfig, *, only_enforcing: bool = False) -> None:
        self._limits: Mapping[SubjectKind, dict[str, dict[str, EffectiveLimit]]] = {
            kind: {} for kind in SubjectKind
        }
        modes = configured_modes(root, LIMITS_MODE)
        for queue in root.walk():
            mode = modes[queue.path]
            if only_enforcing and mode is not Mode.ENFORCE:
                continue
            for limit in queue.limits:
                self._add(queue.path, SubjectKind.USER, limit.users, limit, mode)
                self._add(queue.path, SubjectKind.GROUP, limit.groups, limit, mode)
        all_enforce = all(mode is Mode.ENFORCE for mode in modes.values())
        self.enforcing = self if only_enforcing or all_enforce else LimitIndex(root, only_enforcing=True)
        self._names = {
            kind: frozenset(name for limits in queues.values() for name in limits)
            for kind, queues in self._limits.items()
        }
        self._levels = lru_cache(_MAX_LEVELS)(self._new_levels)

    def _add(
        self, queue: str, kind: SubjectKind, names: Collection[str], limit: QueueLimit, mode: Mode
    ) -> None:
        limits = self._limits[kind].setdefault(queue, {})
        for name in names:
            limits.setdefault(name, EffectiveLimit(kind, name, queue, limit, mode))

    def all(self) -> Iterator[EffectiveLimit]:
        """Yield the limits of all names in all queues."""
        for queues in self._limits.values():
            for limits in queues.values():
                yield from limits.values()

    def names(self, kind: SubjectKind) -> frozenset[str]:
        """Return all names that have a limit in some queue, the wildcard included."""
        return self._names[kind]

    def queues(self, kind: SubjectKind, name: str) -> Iterator[str]:
        """Yield the queues with a limit for exactly this name."""
        return (queue for queue, limits in self._limits[kind].items() if name in limits)

    def limit(self, kind: SubjectKind, name: str, queue: str) -> EffectiveLimit | None:
        """Return the limit of one queue that holds for a user or a group, or None.

        A user whom the queue's limits name has that limit alone, any other user the wildcard's. The wildcard of groups
        is one shared group of that name, and holds for no other group.
        """
        limits = self._limits[kind].get(queue, {})
        return limits.get(name) or (limits.get(WILDCARD) if kind is SubjectKind.USER else None)

    def levels(self, kind: SubjectKind, name: str, queue: str) -> Sequence[LimitedLevel]:
        """Return a user or a group in a queue and in each queue above, with its counters and their quotas."""
        return self._levels(kind, name, queue)

    def _new_levels(self, kind: SubjectKind, name: str, queue: str) -> Sequence[LimitedLevel]:
        paths = upwards(queue.lower())
        return tuple(LimitedLevel(kind, name, path, self.limit(kind, name, path)) for path in paths)

    def names_group(self, group: str, queue: str) -> bool:
        """True if a limit of a queue, or of one above it, names a group."""
        configured = self._limits[SubjectKind.GROUP]
        return any(group in configured.get(path, ()) for path in upwards(queue))

    def group(self, groups: Collection[str], queue: str, *, everybody: bool = False) -> str:
        """Return the group that an application counts for, or an empty string.

        From the queue upwards, the first queue decides whose limits name a group of the user, or the wildcard. Within
        one queue the order of the limits decides, not that of the user's groups; the wildcard comes last. A user
        without groups matches the wildcard only with ``everybody``.
        """
        configured = self._limits[SubjectKind.GROUP]
        if not configured or not (groups or everybody):
            return ""
        for path in upwards(queue):
            limits = configured.get(path)
            if limits is None:
                continue
            for name in limits:
                if name in groups:
                    return name
            if WILDCARD in limits:
                return WILDCARD
        return ""
