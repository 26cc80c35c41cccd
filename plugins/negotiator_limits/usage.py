"""What users and groups use, queue by queue, beside the limits that hold for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

import attrs

from negotiator.plugin import (
    ROOT,
    WILDCARD,
    CounterKey,
    EffectiveLimit,
    LimitIndex,
    Resources,
    SubjectKind,
    parent_of,
    upwards,
)
from negotiator_limits.keys import APPLICATIONS_PARTS, RESOURCE_PARTS


@attrs.define
class TrackedUsage:
    """What is used in one queue and below it."""

    resources: dict[str, int] = attrs.field(factory=dict)
    applications: Mapping[str, int] = attrs.field(factory=dict)  # with how often each was added


#: By user or group, and by queue.
Usage: TypeAlias = Mapping[tuple[SubjectKind, str], Mapping[str, TrackedUsage]]

_NOTHING = TrackedUsage()


@attrs.frozen
class UsageNode:
    """One queue of a user or group: what they use there and below, and the limit that holds for it."""

    path: str
    resources: Resources
    applications: tuple[str, ...]
    holding: EffectiveLimit | None
    children: tuple[UsageNode, ...]

    def walk(self) -> Iterator[UsageNode]:
        """The queue and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_usage(
    sums: Iterable[tuple[CounterKey, int]], sets: Iterable[tuple[CounterKey, Mapping[str, int]]]
) -> Usage:
    """Find the counters of users and groups among all others.

    :param sums: sums by key; those that are 0 count for nothing.
    :param sets: sets of applications by key.
    """
    usage: dict[tuple[SubjectKind, str], dict[str, TrackedUsage]] = {}

    def used(key: CounterKey) -> TrackedUsage:
        return usage.setdefault((SubjectKind(key[0]), key[1]), {}).setdefault(key[2], TrackedUsage())

    for key, amount in sums:
        if amount and len(key) == RESOURCE_PARTS and key[0] in _WHOM:
            used(key).resources[key[3]] = amount
    for key, members in sets:
        if members and len(key) == APPLICATIONS_PARTS and key[0] in _WHOM:
            used(key).applications = members
    return usage


_WHOM = frozenset(SubjectKind)


def holders(
    scope: LimitIndex, whom: SubjectKind, usage: Usage, covered: Mapping[str, Collection[str]]
) -> list[str]:
    """Whose usage is told: all users and groups that a limit names, and users who use something, sorted.

    A group that no limit names is not told. The wildcard is a group like others, and no user.
    """
    if whom is SubjectKind.GROUP:
        return sorted(scope.names(whom))
    reached = (
        user for user, paths in covered.items() if any(scope.limit(whom, user, each) for each in paths)
    )
    return sorted(
        {user for kind, user in usage if kind is whom} | scope.names(whom) - {WILDCARD} | {*reached}
    )


def tree(
    scope: LimitIndex,
    whom: SubjectKind,
    name: str,
    used: Mapping[str, TrackedUsage],
    covered: Collection[str] = (),
) -> UsageNode | None:
    """The queues in which somebody uses something or is named by a limit, from the root; None where there are none.

    :param used: what they use, by queue.
    :param covered: further queues to tell of if they have a limit for the user: those where a wildcard reached them.
    """
    if whom is SubjectKind.GROUP and name not in scope.names(whom):
        return None
    named = scope.queues(whom, name) if whom is SubjectKind.GROUP or name != WILDCARD else ()
    paths = {*used, *named, *(each for each in covered if scope.limit(whom, name, each))}
    below: dict[str, list[str]] = {}
    for each in {above for path in paths for above in upwards(path)}:
        below.setdefault(parent_of(each), []).append(each)

    def node(path: str) -> UsageNode:
        here = used.get(path, _NOTHING)
        children = tuple(node(child) for child in sorted(below.get(path, ())))
        return UsageNode(
            path, here.resources, tuple(sorted(here.applications)), scope.limit(whom, name, path), children
        )

    return node(ROOT) if paths else None
