"""The usage of users and groups, queue by queue, beside their limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import attrs

from negotiator.plugin import (
    ROOT,
    WILDCARD,
    CounterKey,
    Resources,
    SubjectKind,
    parent_of,
    upwards,
)
from negotiator_limits.effective_limit import EffectiveLimit
from negotiator_limits.keys import APPLICATIONS_PARTS, RESOURCE_PARTS
from negotiator_limits.limit_index import LimitIndex


@attrs.define
class SubjectUsage:
    """The usage of a user or group in one queue and below it."""

    resources: dict[str, int] = attrs.field(factory=dict)
    applications: Mapping[str, int] = attrs.field(factory=dict)  # with the number of jobs of each


#: By user or group, and by queue.
Usage: TypeAlias = Mapping[tuple[SubjectKind, str], Mapping[str, SubjectUsage]]

_NOTHING = SubjectUsage()


@attrs.frozen
class UsageNode:
    """One queue in the usage of a user or group, with their limit there and the queues below."""

    path: str
    resources: Resources
    applications: tuple[str, ...]
    limit: EffectiveLimit | None
    children: tuple[UsageNode, ...]

    def walk(self) -> Iterator[UsageNode]:
        """Yield the queue and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_usage(
    sums: Iterable[tuple[CounterKey, int]], sets: Iterable[tuple[CounterKey, Mapping[str, int]]]
) -> Usage:
    """Return the usage by the counters of this plugin.

    :param sums: sums by key; those that are 0 are left out.
    :param sets: sets of applications by key; empty ones are left out.
    """
    usage: dict[tuple[SubjectKind, str], dict[str, SubjectUsage]] = {}

    def used(key: CounterKey) -> SubjectUsage:
        return usage.setdefault((SubjectKind(key[0]), key[1]), {}).setdefault(key[2], SubjectUsage())

    # The number of parts tells a sum from a set: a resource named by a job cannot imitate a set (see ``keys``).
    for key, amount in sums:
        if amount and len(key) == RESOURCE_PARTS and key[0] in _KINDS:
            used(key).resources[key[3]] = amount
    for key, members in sets:
        if members and len(key) == APPLICATIONS_PARTS and key[0] in _KINDS:
            used(key).applications = members
    return usage


_KINDS = frozenset(SubjectKind)


def reported_names(limits: LimitIndex, kind: SubjectKind, usage: Usage) -> list[str]:
    """Return the sorted names of all users and groups that a limit names, and of users who use something.

    A group without a limit is not reported. The wildcard is reported as a group, not as a user.
    """
    if kind is SubjectKind.GROUP:
        return sorted(limits.names(kind))
    return sorted({user for subject, user in usage if subject is kind} | limits.names(kind) - {WILDCARD})


def usage_tree(
    limits: LimitIndex, kind: SubjectKind, name: str, used: Mapping[str, SubjectUsage]
) -> UsageNode | None:
    """Return the queues in which a user or group uses something or is named by a limit, and those above them.

    :param used: the usage by queue.
    :return: the root queue; None without usage and limits, and for a group that no limit names.
    """
    if kind is SubjectKind.GROUP and name not in limits.names(kind):
        return None
    named = limits.queues(kind, name) if kind is SubjectKind.GROUP or name != WILDCARD else ()
    # Every queue between a used or limited one and the root is part of the tree, also without usage of its own.
    paths = {*used, *named}
    below: dict[str, list[str]] = {}
    for path in {above for lowest in paths for above in upwards(lowest)}:
        below.setdefault(parent_of(path), []).append(path)

    def node(path: str) -> UsageNode:
        here = used.get(path, _NOTHING)
        children = tuple(node(child) for child in sorted(below.get(path, ())))
        applications = tuple(sorted(here.applications))
        return UsageNode(path, here.resources, applications, limits.limit(kind, name, path), children)

    return node(ROOT) if paths else None
