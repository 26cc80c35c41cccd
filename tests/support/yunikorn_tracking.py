"""Usage as YuniKorn's own code counts it, where it is better not to.

Source: YuniKorn's user group manager. Two of its answers differ from ``Tracking``: a decrease in a queue that has no
usage takes from the queues above, all but the nearest; and where a limit of a group is removed, usage that the group
has is forgotten, so that it goes below zero when its applications end. For comparisons with a YuniKorn scheduler.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from negotiator.queues import QueueConfig
from negotiator.queues.checks.limits import SubjectKind
from negotiator.queues.limits import LimitIndex
from negotiator.queues.names import below, parent_of, upwards
from negotiator_limits.application_usage import ApplicationUsage
from negotiator_limits.overdraft_counters import NO_SETS
from negotiator_limits.single_match import SingleMatchLimits
from negotiator_limits.tracking import Tracking


class YuniKornTracking(Tracking):
    """The same, with the two flaws."""

    def __init__(self, root: QueueConfig) -> None:
        self._unlinked: set[tuple[str, str]] = set()  # applications whose group was forgotten
        super().__init__(root)

    def update(self, root: QueueConfig) -> None:
        """Take over another configuration, and forget the usage of groups where they have no limit any more."""
        before: LimitIndex = self.scope
        super().update(root)
        for name in sorted(before.names(SubjectKind.GROUP)):
            for path in sorted(
                {*before.queues(SubjectKind.GROUP, name)} - {*self.scope.queues(SubjectKind.GROUP, name)}
            ):
                self._forget(name, path)

    def decrease(
        self, user: str, queue: str, application: str, usage: Mapping[str, int], *, remove_app: bool = False
    ) -> None:
        """Take a match away; above a queue without usage, begin one level above the lowest that has some."""
        found = (path for path in upwards(queue.lower()) if self._is_tracked(SubjectKind.USER, user, path))
        lowest = next(found, "")
        start = lowest if lowest == queue.lower() else parent_of(lowest)
        if start:
            super().decrease(user, start, application, usage, remove_app=remove_app)

    def _see(
        self, user: str, groups: Collection[str], path: str, application: str
    ) -> tuple[ApplicationUsage, SingleMatchLimits]:
        seen = self.seen.get((user, application))
        if seen and (user, application) in self._unlinked:
            seen.group = self.scope.group(groups, path)
            if seen.group:
                sets = self._group_sets(seen.group, [each for each in upwards(path) if each in seen.running])
                self.books.charge(NO_SETS, (), sets, application, limited=False)
        self._unlinked.discard((user, application))
        return super()._see(user, groups, path, application)

    def _forget(self, group: str, path: str) -> None:
        used = self.usage().get((SubjectKind.GROUP, group), {})
        gone = used[path].applications if path in used else ()
        for at, seen in self.seen.items():
            if seen.group == group and at[1] in gone:
                seen.group = ""
                self._unlinked.add(at)
        for each, here in used.items():
            if each in set(upwards(path)) or each.startswith(below(path, "")):
                self._shift(group, {(each, name): -amount for name, amount in here.resources.items()})
                for member, count in here.applications.items():
                    for _ in range(count):
                        self.books.take(NO_SETS, (), self._group_sets(group, [each]), member)
