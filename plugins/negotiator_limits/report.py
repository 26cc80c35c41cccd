"""Usage of all users and groups, as YuniKorn's REST interface tells it.

Source: YuniKorn's REST interface, ``/ws/v1/partition/{partition}/usage/users`` and ``.../groups``; "User and Group Quota
Enforcement", Exposure of quota details, for the names of the specification. Amounts are integers in the unit of their
resource (``vcore`` in thousandths). In the first form a key is absent where its value is zero or empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

from negotiator.plugin import LimitIndex, SubjectKind
from negotiator_limits.usage import Usage, UsageNode, holders, tree

#: By user and application the group that it counts for; empty for none.
Groups: TypeAlias = Mapping[tuple[str, str], str]

_NOWHERE: Mapping[str, Collection[str]] = {}


def user_usage(
    scope: LimitIndex,
    usage: Usage,
    groups: Groups,
    covered: Mapping[str, Collection[str]] = _NOWHERE,
    *,
    spec_names: bool = False,
) -> list[dict[str, Any]]:
    """One entry for each user.

    :param covered: by user, the queues in which a wildcard's limit is told though nothing is used there.
    :param spec_names: with the names and empty values of the specification.
    """
    of_user: dict[str, dict[str, str]] = {}
    for (user, application), group in sorted(groups.items()):
        if group:
            of_user.setdefault(user, {})[application] = group
    entries = []
    for name in holders(scope, SubjectKind.USER, usage, covered):
        node = tree(
            scope, SubjectKind.USER, name, usage.get((SubjectKind.USER, name), {}), covered.get(name, ())
        )
        if node:
            own = of_user.get(name, {})
            entries.append(_entry("userName", name, {"groups": own}, node, spec_names=spec_names))
    return entries


def group_usage(
    scope: LimitIndex, usage: Usage, groups: Groups, *, spec_names: bool = False
) -> list[dict[str, Any]]:
    """One entry for each group that a limit names, the wildcard's among them.

    :param spec_names: with the names and empty values of the specification, and users in the place of applications.
    """
    entries = []
    for name in holders(scope, SubjectKind.GROUP, usage, {}):
        node = tree(scope, SubjectKind.GROUP, name, usage.get((SubjectKind.GROUP, name), {}))
        if node:
            running = set(node.applications)
            users = _sorted(
                user for (user, each), group in groups.items() if group == name and each in running
            )
            more = {"users": users} if spec_names else {"applications": list(node.applications)}
            entries.append(_entry("groupName", name, more, node, spec_names=spec_names))
    return entries


def _entry(key: str, name: str, more: dict[str, Any], node: UsageNode, *, spec_names: bool) -> dict[str, Any]:
    entry = {key: name, **more, "queues": queue_usage(node, spec_names=spec_names)}
    return entry if spec_names else _full(entry)


def queue_usage(node: UsageNode, *, spec_names: bool = False) -> dict[str, Any]:
    """One queue and all below it."""
    entry = {
        "queuename" if spec_names else "queuePath": node.path,
        "resourceUsage": dict(node.resources),
        "runningApplications": list(node.applications),
        "children": [queue_usage(child, spec_names=spec_names) for child in node.children],
        "maxApplications": node.holding.applications if node.holding else 0,
        "maxResources": dict(node.holding.resources) if node.holding else {},
    }
    return entry if spec_names else _full(entry)


def _full(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(set(names))
