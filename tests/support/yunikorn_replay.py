"""YuniKorn's user and group manager, replayed on the engine of a cycle: the limits plugin's hooks, and the ledger.

An increase is a request for one job, admitted with its limits or charged without them, as a cycle charges what runs. A
decrease releases a receipt; where no match has exactly that usage, the ledger is rebuilt from what still runs, as each
cycle does. Another configuration is another queue tree, and a rebuilt ledger. Questions are probes of one request.

A cycle never takes away more than was charged. What the cases take away beyond that is charged on a second ledger,
``excess``: usage is the difference, and limits are that much higher.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs
import numpy as np

from negotiator.classad import Ad, Table
from negotiator.cycle.charge import Charges
from negotiator.hooks import specs
from negotiator.hooks.charges import CounterUsage
from negotiator.hooks.hook import per_plugin
from negotiator.hooks.placement import PlacedApplication
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Ledger, Receipt
from negotiator.queues import QueueConfig, QueueTree
from negotiator.queues.names import parent_of, upwards
from negotiator.records import Mode
from yunikorn_pool import NOW, bundle
from yunikorn_trackers import ReachedUsers

PLUGIN = "limits"
SLOT = np.zeros(1, np.intp)


@attrs.define(eq=False)
class AppMatch:
    """The usage of one match of an application, and its group; ``running`` until the application ends."""

    user: str
    group: str
    queue: str
    application: str
    usage: dict[str, int]
    running: bool = True
    receipt: Receipt | None = None


class Replay:
    """The running matches of a partition, the ledger that they are charged on, and the group of each application.

    An application keeps the group that it had when it was first seen, by whatever call. Where no limit names that group
    any more, it gets another one when it is seen again, and its matches with it.
    """

    def __init__(self, root: QueueConfig) -> None:
        self.groups: dict[tuple[str, str], str] = {}
        self.matches: list[AppMatch] = []
        self.excessive: list[AppMatch] = []
        self.reached = ReachedUsers()
        self.configure(root)

    def configure(self, root: QueueConfig) -> None:
        """Replace the queue configuration."""
        self.root, self.queues = root, QueueTree.of(root, NOW)
        self._rebuild()
        self.reached.configure(root)
        self.reached.cover(self.names("users"))

    def increase(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> None:
        """Charge a match without limits; ignored if the user, the queue or the application is missing."""
        if user and queue and application:
            match = AppMatch(user, self._see(user, groups, queue, application), queue, application, {**usage})
            match.receipt = self._count(self.ledger, self._charges(match))
            self._add(match)

    def try_increase(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> bool:
        """Charge a match if all its limits allow it."""
        if not (user and queue and application):
            return False
        match = AppMatch(user, self._see(user, groups, queue, application), queue, application, {**usage})
        admission = self._raised(self._charges(match)).admit(self.ledger, SLOT, 1, Mode.ENFORCE)
        (match.receipt,) = self.ledger.commit(admission) or (None,)
        if match.receipt is None:
            return False
        self._add(match)
        return True

    def decrease(
        self, user: str, queue: str, application: str, usage: Mapping[str, int], *, remove_app: bool = False
    ) -> None:
        """Release what a match uses; ignored in a queue where the user has neither usage nor limits."""
        own = [each for each in self.matches if (each.user, each.application) == (user, application)]
        here = [each for each in own if each.queue == queue]
        exact = [each for each in here if each.usage == usage]
        runs = any(queue in upwards(each.queue) for each in own)
        is_last = sum(each.running for each in here) == 1  # those that ended may still use something
        if exact and remove_app is is_last and exact[0].running:
            self.ledger.release(exact[0].receipt)
            self.matches.remove(exact[0])
        elif runs or queue in self.paths("users", user):
            group = self.groups.get((user, application), "")
            if not runs and queue not in self.paths("groups", group):
                group = ""
            self._reduce(here, AppMatch(user, group, queue, application, {**usage}, running=not remove_app))
        if remove_app and not any(each.running for each in self.matches if each in own):
            self.groups.pop((user, application), None)

    def headroom(
        self, user: str, groups: Collection[str], queue: str, application: str
    ) -> dict[str, int] | None:
        """Return what the limits leave of each limited resource, the least of all charges; None without a limit."""
        limits = (limit for each in self.root.walk() for limit in each.limits)
        probe = dict.fromkeys((name for limit in limits for name in limit.resources), 0)
        left: dict[str, int] = {}
        for each in self._probe(user, groups, queue, application, probe).sums:
            name, limit = each.record.label.resource, each.record.limit
            if limit is not None:
                free = limit - self.ledger.counters().used(each.record.counter)
                left[name] = min(free, left.get(name, free))
        return left or None

    def fits(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> bool:
        """True if amounts fit, whatever the limits of running applications."""
        charges = self._probe(user, groups, queue, application, usage)
        return len(Charges(charges.sums, ()).admit(self.ledger, SLOT, 1, Mode.ENFORCE)) == 1

    def can_run(self, user: str, groups: Collection[str], queue: str, application: str) -> bool:
        """True if the application runs already, or may run beside the others."""
        charges = self._probe(user, groups, queue, application, {})
        return len(charges.admit(self.ledger, SLOT, 1, Mode.ENFORCE)) == 1

    def resolve_group(self, groups: Collection[str], queue: str) -> str:
        """Return the group that a new application would count for, or empty."""
        placed = PlacedApplication("", tuple(groups), queue)
        (group,), failures = bundle().hooks.application_groups([placed], self.queues, bundle().settings)
        assert not failures, failures
        return group

    def app_group(self, user: str, application: str) -> str:
        """Return the group that an application counts for; empty if no limit names it."""
        group = self.groups.get((user, application), "")
        return group if group in self.names("groups") else ""

    def report(self, report: str) -> list[Mapping[str, object]]:
        """Return the entries that the plugin reports of users or groups."""
        counters, excess = self.ledger.counters(), self.excess.counters()
        keys = {key for key, _ in (*counters, *excess)}
        sums = {key[1:]: counters.used(key) - excess.used(key) for key in keys}
        sets = {key[1:]: members for key, members in counters.key_sets()}
        used = CounterUsage(sums, sets, self.groups)
        answers = bundle().hooks.ask(
            specs.negotiator_usage,
            report=report,
            used=per_plugin(lambda _: used),
            queues=self.queues,
            settings=bundle().settings,
        )
        assert not answers.failures, answers.failures
        entries = [each.record for each in answers.records]
        return self.reached.added_to(entries) if report == "users" else entries

    def names(self, report: str) -> list[str]:
        """Return the users, or groups, of a report."""
        return [str(next(iter(entry.values()))) for entry in self.report(report)]

    def tree(self, report: str, name: str):
        """Return the root queue in the entry of a user or group; None without an entry."""
        entries = (entry["queues"] for entry in self.report(report) if name == next(iter(entry.values())))
        return next(entries, None)

    def paths(self, report: str, name: str) -> set[str]:
        """Return the queues in the entry of a user or group."""
        waiting, paths = [self.tree(report, name)], set()
        while waiting:
            node = waiting.pop()
            if node:
                paths.add(node["queuePath"])
                waiting += node.get("children", ())
        return paths

    def _see(self, user: str, groups: Collection[str], queue: str, application: str) -> str:
        """Return the group of an application, resolved if it is new or if no limit names its group any more."""
        self.reached.see(user, queue)
        group = self.groups.get((user, application))
        if group is None:
            group = self.groups[user, application] = self.resolve_group(groups, queue)
        elif group and group not in self.names("groups"):
            group = self.resolve_group(groups, queue) or group
            self._regroup(user, application, group)
        return group

    def _regroup(self, user: str, application: str, group: str) -> None:
        self.groups[user, application] = group
        for each in self.matches + self.excessive:
            if (each.user, each.application) == (user, application):
                each.group = group
        self._rebuild()

    def _reduce(self, matches: list[AppMatch], by: AppMatch) -> None:
        """Replace the matches of an application in a queue by what is left of them."""
        used = {
            name: sum(each.usage.get(name, 0) for each in matches) for each in matches for name in each.usage
        }
        left = {name: used.get(name, 0) - by.usage.get(name, 0) for name in {**used, **by.usage}}
        self.matches = [each for each in self.matches if each not in matches]
        if matches:
            running = by.running and any(each.running for each in matches)
            usage = {name: amount for name, amount in left.items() if amount > 0}
            self.matches.append(attrs.evolve(by, usage=usage, running=running))
        missing = {name: -amount for name, amount in left.items() if amount < 0}
        self.excessive += [attrs.evolve(by, usage=missing)] if missing else []
        self._rebuild()

    def _probe(
        self, user: str, groups: Collection[str], queue: str, application: str, usage: Mapping[str, int]
    ) -> Charges:
        group = self._see(user, groups, queue, application)
        return self._raised(self._charges(AppMatch(user, group, queue, application, {**usage})))

    def _charges(self, match: AppMatch) -> Charges:
        """Return the plugin's charges of a match."""
        request = Request(
            submitter=match.user,
            schedd="",
            ad=Ad(),
            count=1,
            first_job="1.0",
            queue=match.queue,
            user=match.user,
            group=match.group,
            resources=match.usage,
            applications=(match.application,),
        )
        slots, cycle = Table.from_ads([Ad()]), Cycle(1, NOW, bundle().digest)
        answers = bundle().hooks.ask(
            specs.negotiator_charges,
            request=request,
            slots=slots,
            queues=self.queues,
            settings=bundle().settings,
            cycle=cycle,
            order="names",
        )
        assert not answers.failures, answers.failures
        charges = Charges.of([each for each in answers.records if each.plugin == PLUGIN], enforcing=True)
        return charges if match.running else Charges(charges.sums, ())

    def _raised(self, charges: Charges) -> Charges:
        """Return the charges, with limits raised by what was released in excess."""
        excess = self.excess.counters()

        def raised(record):
            limit = None if record.limit is None else record.limit + excess.used(record.counter)
            return attrs.evolve(record, limit=limit)

        return Charges(
            tuple(each._replace(record=raised(each.record)) for each in charges.sums), charges.keys
        )

    def _add(self, match: AppMatch) -> None:
        """Store a charged match; its application's excess there is settled."""
        self.matches.append(match)
        key = _key(match)
        for each in [each for each in self.excessive if _key(each) == key]:
            paid = {name: min(each.usage[name], match.usage.get(name, 0)) for name in each.usage}
            match.usage = {name: amount - paid.get(name, 0) for name, amount in match.usage.items()}
            each.usage = {name: amount - paid[name] for name, amount in each.usage.items()}
            self._rebuild()
        self.excessive = [each for each in self.excessive if any(each.usage.values())]

    def _rebuild(self) -> None:
        """Charge the running matches on new counters, without limits."""
        self.ledger, self.excess = Ledger(), Ledger()
        for match in self.matches:
            match.receipt = self._count(self.ledger, self._charges(match))
        for match in self.excessive:
            charged = self._charges(match).sums
            self._count(self.excess, Charges(tuple(each for each in charged if each.record.counter[2]), ()))

    @staticmethod
    def _count(ledger: Ledger, charges: Charges) -> Receipt:
        (receipt,) = ledger.commit(charges.unlimited().admit(ledger, SLOT, 1, Mode.ENFORCE))
        return receipt


class FlawedReplay(Replay):
    """The same with two flaws of YuniKorn's code, for the cases that record them (``follow: code``).

    A decrease in a queue without usage takes from the queues above, all but the nearest. Where a limit of a group is
    removed, the usage of the group there is forgotten, and goes below zero when its applications end.
    """

    def configure(self, root: QueueConfig) -> None:
        """Replace the configuration; forget the usage of groups where a limit of theirs was removed."""
        if hasattr(self, "root"):
            for group, path in sorted(_group_limits(self.root) - _group_limits(root)):
                for each in self.matches:
                    if each.group == group and path in upwards(each.queue):
                        each.group = ""
                        self.groups.pop((each.user, each.application), None)
        super().configure(root)

    def decrease(
        self, user: str, queue: str, application: str, usage: Mapping[str, int], *, remove_app: bool = False
    ) -> None:
        """Release what a match uses; in a queue without usage, start one level above the lowest that has some."""
        tracked = self.paths("users", user)
        lowest = next((path for path in upwards(queue) if path in tracked), "")
        start = lowest if lowest == queue else parent_of(lowest)
        if start:
            super().decrease(user, start, application, usage, remove_app=remove_app)

    def _see(self, user: str, groups: Collection[str], queue: str, application: str) -> str:
        known = (user, application) in self.groups
        group = super()._see(user, groups, queue, application)
        own = [each for each in self.matches if (each.user, each.application) == (user, application)]
        if group and own and not known:  # seen again: only its later usage counts for the group
            forgotten = [attrs.evolve(each, user="", group=group) for each in own]
            self.excessive += forgotten
            self._regroup(user, application, group)
        return group


def _key(match: AppMatch) -> tuple[str, ...]:
    return match.user, match.group, match.queue, match.application


def _group_limits(root: QueueConfig) -> set[tuple[str, str]]:
    return {(group, queue.path) for queue in root.walk() for limit in queue.limits for group in limit.groups}
