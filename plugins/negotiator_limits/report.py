"""Usage of all users and groups in the form of YuniKorn's REST interface.

Source: YuniKorn's REST interface, ``/ws/v1/partition/{partition}/usage/users`` and ``.../groups``; "User and Group Quota
Enforcement", Exposure of quota details, for the names of the specification. Amounts are integers in the unit of their
resource (``vcore`` in thousandths). In YuniKorn's form a key is absent if its value is zero or empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from negotiator.plugin import CounterUsage, Mode, SubjectKind
from negotiator_limits.limit_index import LimitIndex
from negotiator_limits.usage import Usage, UsageNode, read_usage, reported_names, usage_tree

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


_SPEC_KEYS = "-spec"
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
