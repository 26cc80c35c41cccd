"""Usage of users and groups, counted match by match, and the limits that hold for it.

Source: "User and Group Quota Enforcement"; where it is silent, YuniKorn's user group manager. The limits are those of
the configuration as it is now: nothing of them is kept with the usage, so that an update is a swap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from negotiator.ledger import LedgerError, check_amounts
from negotiator.plugin import WILDCARD, LimitIndex, QueueConfig, SubjectKind
from negotiator_limits.application_usage import ApplicationUsage
from negotiator_limits.keys import applications_key, resource_key
from negotiator_limits.levels import levels
from negotiator_limits.overdraft_counters import NO_SETS, CounterPlaces, OverdraftCounters
from negotiator_limits.report import group_usage, user_usage
from negotiator_limits.single_match import Denial, SingleMatchLimits
from negotiator_limits.usage import Usage, UsageNode, holders, read_usage, tree

#: How many layouts of levels are kept; with more, all are made anew.
KEPT = 20_000


class Tracking:
    """The usage of users and groups over the queues.

    An application counts for the group that it had when it was first seen, by whatever call; also for none. Only where
    no limit names that group any more it gets another one when it is seen again, and takes along what it uses.

    The path of a queue may be of any case. Amounts are integers in the unit of their resource: what is none raises
    ``LedgerError`` (``bad_amount``, ``negative_amount``, ``overflow``), and no counter has changed.
    """

    def __init__(self, root: QueueConfig) -> None:
        self.scope = LimitIndex(root)
        self.books = OverdraftCounters()
        self.seen: dict[tuple[str, str], ApplicationUsage] = {}
        self._standings: dict[tuple[str, str, str], SingleMatchLimits] = {}
        self._covered: dict[str, set[str]] = {}  # by user the queues in which a wildcard's limit reached them
        self._cover()

    def update(self, root: QueueConfig) -> None:
        """Take over another configuration; usage stays as it is, and a wildcard reaches all users who are known."""
        self.scope = LimitIndex(root)
        self._standings.clear()
        covered = (
            (user, {path for path in paths if self.scope.limit(SubjectKind.USER, user, path)})
            for user, paths in self._covered.items()
        )
        self._covered = {user: paths for user, paths in covered if paths}
        self._cover()

    def increase(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> None:
        """Count a match, whatever the limits; without a user, a queue or an application there is nothing to count."""
        if not (user and queue and application):
            return
        check_amounts(usage.values())
        queue = queue.lower()
        seen, standing = self._see(user, groups, queue, application)
        fresh = standing.fresh(seen.running)
        refused = self.books.charge(*standing.sums(usage), fresh, application, limited=False)
        if refused:
            raise LedgerError("overflow", str(standing.denial(refused, usage, seen.running)))
        seen.note(queue, usage, 1)
        seen.running |= standing.paths

    def try_increase(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> Denial | None:
        """Count a match if each level of its user and of its group allows it; otherwise no counter changes.

        :return: None where it was counted, otherwise the first limit that forbids it.
        :raises ValueError: without a user, a queue or an application.
        """
        if not (user and queue and application):
            raise ValueError(
                "a match is counted for a user, a queue and an application: one of them is missing"
            )
        check_amounts(usage.values())
        queue = queue.lower()
        seen, standing = self._see(user, groups, queue, application)
        fresh = standing.fresh(seen.running)
        refused = self.books.charge(*standing.sums(usage), fresh, application)
        if refused:
            return standing.denial(refused, usage, seen.running)
        seen.note(queue, usage, 1)
        if fresh is not NO_SETS:
            seen.running |= standing.paths
        return None

    def decrease(
        self, user: str, queue: str, application: str, usage: Mapping[str, int], *, remove_app: bool = False
    ) -> None:
        """Take a match away: never denied, though more may be taken away than there was.

        A queue in which the user has no usage changes nothing, on no level.

        :param remove_app: whether it was the last of the application in this queue.
        """
        check_amounts(usage.values())
        queue = queue.lower()
        seen = self.seen.get((user, application)) or ApplicationUsage("")
        group = seen.group
        tracked = queue in seen.running or self._is_tracked(SubjectKind.USER, user, queue)
        if tracked:
            if queue not in seen.running and not self._is_tracked(SubjectKind.GROUP, group, queue):
                group = ""
            standing = self._standing(user, group, queue)
            ending = standing.ending(seen.running) if remove_app else NO_SETS
            self.books.take(*standing.sums(usage), ending, application)
            seen.note(queue, usage, -1)
            seen.running.difference_update(standing.paths if remove_app else ())
        if remove_app and not seen.running:
            self.seen.pop((user, application), None)

    def headroom(
        self, user: str, groups: Collection[str], queue: str, application: str
    ) -> dict[str, int] | None:
        """What is left of each limited resource: the least of all levels, of user and group. None is no limit.

        It is negative where more is used than a lowered limit allows.
        """
        _, standing = self._see(user, groups, queue.lower(), application)
        left = self.books.left(standing.limited)
        return {name: min(left[span]) for name, span in standing.spans} or None

    def fits(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> bool:
        """Whether amounts fit the headroom; of applications nothing is asked."""
        left = self.headroom(user, groups, queue, application) or {}
        return all(amount <= max(0, left.get(name, amount)) for name, amount in usage.items())

    def can_run(self, user: str, groups: Collection[str], queue: str, application: str) -> bool:
        """Whether an application runs already or may be one more, on each level."""
        _, standing = self._see(user, groups, queue.lower(), application)
        return self.books.has_room(standing.sets, application)

    def resolve_group(self, groups: Collection[str], queue: str) -> str:
        """The group that a new application would count for; empty for none."""
        return self.scope.group(groups, queue.lower())

    def app_group(self, user: str, application: str) -> str:
        """The group that an application counts for; empty for none, or where no limit names it any more."""
        seen = self.seen.get((user, application))
        return seen.group if seen and seen.group in self.scope.names(SubjectKind.GROUP) else ""

    def usage(self) -> Usage:
        """What all users and groups use."""
        return read_usage(self.books.balances(), self.books.key_sets())

    def trackers(self, whom: SubjectKind) -> list[str]:
        """The users, or groups, that have usage or limits."""
        return holders(self.scope, whom, self.usage(), self._covered)

    def user_usage(self, user: str) -> UsageNode | None:
        """What a user uses, over the queues; None where they have neither usage nor limits."""
        return self._tree(SubjectKind.USER, user)

    def group_usage(self, group: str) -> UsageNode | None:
        """What a group uses, over the queues; None where no limit names it."""
        return self._tree(SubjectKind.GROUP, group)

    def report(self, whom: SubjectKind, *, spec_names: bool = False) -> list[dict[str, Any]]:
        """The usage of all users, or groups, as YuniKorn's REST interface tells it.

        :param spec_names: with the names and empty values of the specification.
        """
        names = self.scope.names(SubjectKind.GROUP)
        groups = {at: seen.group for at, seen in self.seen.items() if seen.group in names}
        if whom is SubjectKind.USER:
            return user_usage(self.scope, self.usage(), groups, self._covered, spec_names=spec_names)
        return group_usage(self.scope, self.usage(), groups, spec_names=spec_names)

    def _tree(self, whom: SubjectKind, name: str) -> UsageNode | None:
        covered = self._covered.get(name, ()) if whom is SubjectKind.USER else ()
        return tree(self.scope, whom, name, self.usage().get((whom, name), {}), covered)

    def _is_tracked(self, whom: SubjectKind, name: str, path: str) -> bool:
        root = self._tree(whom, name)
        return root is not None and any(node.path == path for node in root.walk())

    def _see(
        self, user: str, groups: Collection[str], path: str, application: str
    ) -> tuple[ApplicationUsage, SingleMatchLimits]:
        seen = self.seen.get((user, application))
        if seen is None:
            seen = self.seen[user, application] = ApplicationUsage(self.scope.group(groups, path))
        elif seen.group and seen.group not in self.scope.names(SubjectKind.GROUP):
            self._regroup(seen, application, self.scope.group(groups, path))
        return seen, self._standing(user, seen.group, path)

    def _standing(self, user: str, group: str, path: str) -> SingleMatchLimits:
        standing = self._standings.get((user, group, path))
        if standing is None:
            if len(self._standings) >= KEPT:
                self._standings.clear()
            found = levels(self.scope, user, group, path)
            standing = self._standings[user, group, path] = SingleMatchLimits(found, self.books)
            wild = {each.path for each in found if each.is_by_wildcard}
            if wild:
                self._covered.setdefault(user, set()).update(wild)
        return standing

    def _regroup(self, seen: ApplicationUsage, application: str, group: str) -> None:
        """Count an application for another group; without one it goes on for its own, which a limit may name again."""
        if not group:
            return
        own = seen.totals()
        self._shift(group, own)
        self._shift(seen.group, {at: -amount for at, amount in own.items()})
        self.books.charge(NO_SETS, (), self._group_sets(group, seen.running), application, limited=False)
        self.books.take(NO_SETS, (), self._group_sets(seen.group, seen.running), application)
        seen.group = group

    def _group_sets(self, group: str, paths: Iterable[str]) -> CounterPlaces:
        return self.books.set_spots(
            [(applications_key(SubjectKind.GROUP, group, path), None) for path in paths]
        )

    def _shift(self, group: str, amounts: Mapping[tuple[str, str], int]) -> None:
        """Add to what a group uses, by queue and resource."""
        spots = self.books.spots([(resource_key(SubjectKind.GROUP, group, *at), None) for at in amounts])
        if self.books.charge(spots, [*amounts.values()], limited=False):
            raise LedgerError("overflow", f"group {group} would use more than can be counted (2^63 - 1)")

    def _cover(self) -> None:
        """Let the wildcard's limits be told of all users who are known already."""
        wild = set(self.scope.queues(SubjectKind.USER, WILDCARD))
        for user in self.trackers(SubjectKind.USER) if wild else ():
            self._covered.setdefault(user, set()).update(wild)
