"""The users that a wildcard's limit has reached, as YuniKorn lists them: a query about a user is enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from negotiator.queues import ROOT, QueueConfig
from negotiator.queues.checks.limits import SubjectKind
from negotiator.queues.names import WILDCARD, upwards
from negotiator_limits.limit_index import LimitIndex


class ReachedUsers:
    """The queues in which users were seen below a wildcard's limit, as long as that limit exists."""

    def __init__(self) -> None:
        self._paths: defaultdict[str, set[str]] = defaultdict(set)
        self._index = LimitIndex(QueueConfig(ROOT, leaf=False))

    def configure(self, root: QueueConfig) -> None:
        """Replace the limits; queues without one are forgotten."""
        self._index = LimitIndex(root)
        for user, paths in self._paths.items():
            paths &= {path for path in paths if self._limit(user, path)}

    def see(self, user: str, queue: str) -> None:
        """Record a user who runs in a queue, or who is named in a query."""
        limits = ((path, self._limit(user, path)) for path in upwards(queue))
        self._paths[user] |= {path for path, limit in limits if limit and limit.name == WILDCARD}

    def cover(self, users: Iterable[str]) -> None:
        """Let the wildcard's limits reach known users."""
        for user in users:
            self._paths[user] |= {*self._index.queues(SubjectKind.USER, WILDCARD)}

    def added_to(self, entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the entries of a report of users, with the queues in which they use nothing."""
        found = {entry["userName"]: entry for entry in entries}
        for user, paths in self._paths.items():
            for path in sorted(paths):
                entry = found.setdefault(user, {"userName": user, "queues": {"queuePath": ROOT}})
                self._add(entry["queues"], user, path)
        return [found[user] for user in sorted(found)]

    def _add(self, node: dict[str, Any], user: str, path: str) -> None:
        """Add a queue below a node, with its parents."""
        for above in reversed([*upwards(path)][:-1]):
            children = node.setdefault("children", [])
            known = next((child for child in children if child["queuePath"] == above), None)
            if known is None:
                known = {"queuePath": above, **self._limits(user, above)}
                children.append(known)
                children.sort(key=lambda child: child["queuePath"])
            node = known
        node |= self._limits(user, node["queuePath"])

    def _limits(self, user: str, path: str) -> dict[str, Any]:
        limit = self._limit(user, path)
        found = (
            {"maxResources": dict(limit.resources), "maxApplications": limit.applications} if limit else {}
        )
        return {key: value for key, value in found.items() if value}

    def _limit(self, user: str, path: str):
        return self._index.limit(SubjectKind.USER, user, path)
