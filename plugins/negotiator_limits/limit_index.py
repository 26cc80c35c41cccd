"""The limits of users and groups on each queue, with their counters and rules, and the group that an application counts for.

Queues that placement rules create have no limits of their own; those of the queues above hold for them. A counter is a sum for each resource
of each queue, or a set of applications for each queue; each is made once for all requests that are charged. An application keeps the group
that it had when it was first seen.

Source: "User and Group Quota Enforcement", Wildcard interpretation; YuniKorn's group resolution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import attrs

from negotiator.plugin import (
    LIMITS_MODE,
    WILDCARD,
    CounterKey,
    DeclaredRule,
    Mode,
    PlacedApplication,
    QueueConfig,
    QueueLimit,
    Quota,
    Resources,
    Source,
    SubjectKind,
    configured_modes,
    format_amounts,
    upwards,
)
from negotiator_limits.settings import GroupTracking

#: Parts of the keys of counters.
RESOURCE_PARTS, APPLICATIONS_PARTS = 4, 3
#: Users and groups in queues whose quotas are held: a submitter's requests have their turns one after the other.
_MAX_LEVELS = 4_096
_MAX_RULE = 200  # characters; users and groups name themselves


@attrs.frozen
class EffectiveLimit:
    """A limit, the queue it is configured for, and the name it is listed under, which may be the wildcard."""

    kind: SubjectKind
    name: str
    queue: str
    limit: QueueLimit
    mode: Mode = Mode.ENFORCE

    @property
    def resources(self) -> Resources:
        """The maximum of each resource; resources that are missing are unlimited."""
        return self.limit.resources

    @property
    def applications(self) -> int:
        """The maximum of running applications; 0 is unlimited."""
        return self.limit.applications

    @property
    def source(self) -> Source:
        """The file and line of the limit."""
        return self.limit.source

    def __str__(self) -> str:
        """``limit of user * at root.a``."""
        return f"limit of {self.kind} {self.name} at {self.queue}"


def resource_key(kind: SubjectKind, name: str, queue: str, resource: str) -> CounterKey:
    """The sum of a resource that a user or group uses in a queue and below it."""
    return (kind.value, name, queue, resource)


def applications_key(kind: SubjectKind, name: str, queue: str) -> CounterKey:
    """The set of applications that a user or group runs in a queue and below it.

    It has three parts: jobs name their resources themselves, and no such name may give the key of a set.
    """
    return (kind.value, name, queue)


@attrs.frozen(eq=False)
class LimitedCounter:
    """A counter, the ``most`` that is allowed on it (None: unlimited), and the quota of its charges."""

    counter: CounterKey
    most: int | None
    quota: Quota


@attrs.frozen(eq=False)
class LimitedLevel:
    """A user or a group in one queue, and its limit there."""

    kind: SubjectKind
    name: str
    queue: str
    limit: EffectiveLimit | None
    _sums: dict[str, LimitedCounter] = attrs.field(factory=dict, init=False)

    def of(self, resource: str) -> LimitedCounter:
        """Return the counter of a resource."""
        found = self._sums.get(resource)
        if found is None:
            most = self.limit.resources.get(resource) if self.limit else None
            key = resource_key(self.kind, self.name, self.queue, resource)
            found = self._sums[resource] = LimitedCounter(key, most, self._quota(most, resource))
        return found

    @cached_property
    def of_applications(self) -> LimitedCounter:
        """The counter of running applications."""
        most = (self.limit.applications or None) if self.limit else None
        return LimitedCounter(applications_key(self.kind, self.name, self.queue), most, self._quota(most))

    def _quota(self, most: int | None, resource: str = "") -> Quota:
        """Return the quota of a resource, or of the running applications, of which ``most`` are allowed."""
        kind, name, limit = self.kind, self.name, self.limit
        counted = "" if resource else "running applications of "
        return Quota(
            rule=(str(limit) if limit else f"usage of {kind} {name}")[:_MAX_RULE],
            text=f"{counted}{kind} {name} in {self.queue}",
            resource=resource,
            code=f"{kind}_limit",
            source=limit.source if limit else None,
            mode=limit.mode if limit and most is not None else Mode.ENFORCE,
        )


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


def chosen_group(limits: LimitIndex, application: PlacedApplication, tracking: GroupTracking) -> str:
    """Return the group of an application: its present one as long as a limit of its queue or above names it.

    Limits that enforce come first: those in mode warn or dryrun must not take an application from them.
    """
    present, queue = application.group, application.queue
    follows_specification = tracking is GroupTracking.SPECIFICATION
    if present == "" and not follows_specification:
        return ""
    for index in dict.fromkeys((limits.enforcing, limits)):
        if present and index.names_group(present, queue):
            return present
        if found := index.group(application.groups, queue, everybody=follows_specification):
            return found
    # A group that no limit names is kept until another one is found: its limit may come back.
    return present or ""


def declared_rules(root: QueueConfig) -> Iterator[DeclaredRule]:
    """Yield a rule for each name of each limit."""
    for limit in LimitIndex(root).all():
        amounts = [format_amounts(limit.resources)] if limit.resources else []
        applications = [f"applications {limit.applications}"] if limit.applications else []
        text = ", ".join([*amounts, *applications])
        yield DeclaredRule(rule=str(limit), text=text, source=limit.source, mode=limit.mode)
