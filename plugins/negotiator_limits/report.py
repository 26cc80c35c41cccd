"""Usage of all users and groups, queue by queue, beside their limits, in the form of YuniKorn's REST interface.

Source: YuniKorn's REST interface, ``/ws/v1/partition/{partition}/usage/users`` and ``.../groups``; "User and Group Quota
Enforcement", Exposure of quota details, for the names of the specification. Amounts are integers in the unit of their
resource (``vcore`` in thousandths). In YuniKorn's form a key is absent if its value is zero or empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from negotiator.plugin import (
    ROOT,
    WILDCARD,
    CounterKey,
    CounterUsage,
    Mode,
    Resources,
    SubjectKind,
    parent_of,
    upwards,
)
from negotiator_limits.limit_index import APPLICATIONS_PARTS, RESOURCE_PARTS, EffectiveLimit, LimitIndex

_KINDS = frozenset(SubjectKind)
_SPEC_KEYS = "-spec"


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


#: By user and application, the group that the application counts for; empty for none.
Groups: TypeAlias = Mapping[tuple[str, str], str]


def user_usage(limits: LimitIndex, usage: Usage, groups: Groups, *, spec_names: bool) -> list[dict[str, Any]]:
    """Return one entry for each user.

    :param spec_names: use the names of the specification, and keep empty values.
    """
    # An application counts for at most one group; those without a group are not listed.
    of_user: dict[str, dict[str, str]] = {}
    for (user, application), group in sorted(groups.items()):
        if group:
            of_user.setdefault(user, {})[application] = group
    entries = []
    for name in reported_names(limits, SubjectKind.USER, usage):
        node = usage_tree(limits, SubjectKind.USER, name, usage.get((SubjectKind.USER, name), {}))
        if node:
            more = {"groups": of_user.get(name, {})}
            entries.append(_entry("userName", name, more, node, spec_names=spec_names))
    return entries


def group_usage(
    limits: LimitIndex, usage: Usage, groups: Groups, *, spec_names: bool
) -> list[dict[str, Any]]:
    """Return one entry for each group that a limit names, the wildcard included.

    :param spec_names: use the names of the specification, keep empty values, and list users instead of applications.
    """
    entries = []
    for name in reported_names(limits, SubjectKind.GROUP, usage):
        node = usage_tree(limits, SubjectKind.GROUP, name, usage.get((SubjectKind.GROUP, name), {}))
        if node:
            running = set(node.applications)
            users = {user for (user, app), group in groups.items() if group == name and app in running}
            more = {"users": sorted(users)} if spec_names else {"applications": list(node.applications)}
            entries.append(_entry("groupName", name, more, node, spec_names=spec_names))
    return entries


_REPORTS = {"users": user_usage, "groups": group_usage}


def usage_report(report: str, used: CounterUsage, limits: LimitIndex) -> Sequence[Mapping[str, Any]]:
    """Return the entries of ``users`` or ``groups``, with ``-spec`` with the keys of the specification; none of others."""
    kind = report.removesuffix(_SPEC_KEYS)
    if kind not in _REPORTS:
        return ()
    usage = read_usage(used.sums.items(), used.sets.items())
    return _REPORTS[kind](limits, usage, used.groups, spec_names=kind != report)


def _entry(key: str, name: str, more: dict[str, Any], node: UsageNode, *, spec_names: bool) -> dict[str, Any]:
    entry = {key: name, **more, "queues": queue_usage(node, spec_names=spec_names)}
    return entry if spec_names else _without_empty(entry)


def queue_usage(node: UsageNode, *, spec_names: bool) -> dict[str, Any]:
    """Return one queue and all below it."""
    entry = {
        "queuename" if spec_names else "queuePath": node.path,
        "resourceUsage": dict(node.resources),
        "runningApplications": list(node.applications),
        "children": [queue_usage(child, spec_names=spec_names) for child in node.children],
        "maxApplications": node.limit.applications if node.limit else 0,
        "maxResources": dict(node.limit.resources) if node.limit else {},
        **_mode(node),
    }
    return entry if spec_names else _without_empty(entry)


def _mode(node: UsageNode) -> dict[str, Any]:
    """Return the mode of a limit that does not enforce; YuniKorn has no such key."""
    enforces = node.limit is None or node.limit.mode is Mode.ENFORCE
    return {} if node.limit is None or enforces else {"mode": str(node.limit.mode)}


def _without_empty(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}
