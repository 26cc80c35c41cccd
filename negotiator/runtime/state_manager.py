"""Keeps queues and applications from one cycle to the next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment
from negotiator.cycle.applications import application_keys, users_without_groups
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.holds import ApplicationHold
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.result import CycleResult
from negotiator.hooks import specs
from negotiator.hooks.access import QueueNotice
from negotiator.hooks.manager import HookFailure
from negotiator.pool.snapshot import Snapshot
from negotiator.queues import QueueChange, QueueChangeKind, QueueConfig, QueueTree
from negotiator.queues.applications import ApplicationId, ApplicationRegistry, RegistryMark
from negotiator.queues.names import upwards
from negotiator.records import Problem, Severity
from negotiator.runtime.journal import Journal
from negotiator.runtime.state import AdminAnswer, StateStore

_KIND_CHANGED = "they go on where they are: let them end, or move them (negotiator admin move)"


@attrs.define(eq=False)
class StateManager:
    """The cycle state between cycles, in memory and, with a store, on disk.

    ``changes`` are those of queues that no cycle has told of yet.
    """

    bundle: Bundle
    queues: QueueTree
    store: StateStore | None = None
    registry: ApplicationRegistry = attrs.field(factory=ApplicationRegistry)
    held: dict[ApplicationId, ApplicationHold] = attrs.field(factory=dict)
    changes: list[QueueChange] = attrs.field(factory=list)
    journal: Journal = attrs.field(factory=Journal)
    _written: RegistryMark = attrs.field(factory=lambda: ApplicationRegistry().mark())
    _last: float = 0.0  # when somebody last looked who is there

    @classmethod
    def begin(cls, bundle: Bundle, now: float, store: StateStore | None = None) -> StateManager:
        """Take up what an earlier process left, if there is a store."""
        if store is None:
            return cls(bundle, QueueTree.of(bundle.partition.root, now), last=now)
        stored = store.load(now)
        if not stored.queues:
            state_manager = cls(bundle, QueueTree.of(bundle.partition.root, now), store)
        else:
            queues = QueueTree({queue.path: queue for queue in stored.queues})
            changes = queues.apply(bundle.partition.root, now)
            queues.renew_templates()
            state_manager = cls(bundle, queues, store)
            state_manager.changes += (each for each in changes if each.change is not QueueChangeKind.CHANGED)
        state_manager.registry = ApplicationRegistry(stored.applications)
        state_manager.held = dict(stored.held)
        state_manager.journal.add(stored.journal)
        state_manager._last = min(stored.last, now)
        state_manager._written = state_manager.registry.mark(state_manager._last)
        return state_manager

    def cycle_state(self, snapshot: Snapshot, now: float) -> tuple[CycleState, tuple[HookFailure, ...]]:
        """What the next cycle has to know: gone applications leave, empty queues go, groups are looked up."""
        env = Environment(now=now)
        settings = self.bundle.placement
        if len(self.registry) and len(snapshot.jobs):
            self.registry.touch(application_keys(snapshot.jobs, settings, env, self.registry), now)
        self._last = now
        if self.registry.forget(now - settings.forget_after, now):
            self.held = {each: hold for each, hold in self.held.items() if each in self.registry}
        gone = self.journal.expire(snapshot, now - settings.claim_timeout)
        if self.store is not None and gone:
            self.store.drop_matches(gone)
        self.changes += self.queues.clean(self.registry.busy(), now)
        users = users_without_groups(snapshot.jobs, settings, env) if self.bundle.chain else ()
        groups, failures = self._groups(users, now)
        return CycleState(self.queues, self.registry, dict(self.held), self.journal.entries, groups), failures

    def adopt(self, result: CycleResult) -> None:
        """Take over what a recorded cycle did, and write it down.

        :raises StateError: it can't be written; the cycle must not hand anything out.
        """
        if result.state is not None:
            self.queues, self.registry = result.state.queues, result.state.registry
        self.changes.clear()
        self.journal.add(result.journal)
        self.write(queues=self.queues, matches=result.journal)

    def release_undelivered(self, result: CycleResult, matches: Collection[str]) -> None:
        """Give back what matches of a cycle were charged that could not be handed out."""
        gone = [entry.key for entry in result.journal if entry.id in matches]
        self.journal.drop(gone)
        if self.store is not None and gone:
            self.store.drop_matches(gone)

    def queue_warnings(self, bundle: Bundle) -> tuple[Problem, ...]:
        """Warnings of what another bundle would do to queues in use: make leaves of parents, or the reverse."""
        busy = self.registry.counts()
        return tuple(filter(None, (self._queue_warning(each, busy) for each in bundle.partition.root.walk())))

    def _queue_warning(self, config: QueueConfig, busy: Mapping[str, int]) -> Problem | None:
        old = self.queues.get(config.path)
        if old is None or old.leaf == config.leaf:
            return None
        count = sum(number for path, number in busy.items() if config.path in upwards(path))
        if not count:
            return None
        noun = "application" if count == 1 else "applications"
        what = (
            "was a parent queue and becomes a leaf"
            if config.leaf
            else "was a leaf and becomes a parent queue"
        )
        where = "below it" if config.leaf else "in it"
        message = f"{config.path} {what}, with {count} {noun} {where}"
        return Problem(Severity.WARNING, config.source, message, _KIND_CHANGED)

    def use_bundle(self, bundle: Bundle, now: float) -> tuple[QueueChange, ...]:
        """Work with another bundle from now on."""
        changes = self.queues.apply(bundle.partition.root, now)
        self.bundle = bundle
        self.changes += changes
        return changes

    def write(
        self,
        *,
        queues: QueueTree | None = None,
        answered: tuple[int, AdminAnswer] | None = None,
        matches: Iterable[JournalEntry] = (),
    ) -> None:
        """Write to the store what is not what was written last, and with it the answer to a request.

        Queues are written once their changes are recorded: those of a crash before are found, and told, again.
        """
        if self.store is None:
            return
        changed, gone = self.registry.since(self._written, self._last)
        self.store.save(
            changed,
            gone,
            self.held.items(),
            queues=queues,
            answered=answered,
            matches=matches,
            last=self._last,
        )
        self._written = self.registry.mark(self._last)

    def notices(self, result: CycleResult) -> tuple[QueueNotice, ...]:
        """What is to be told of queues after a cycle: its changes, and all that are draining.

        Nothing where no plugin listens.
        """
        if not self.bundle.hooks.implements(specs.negotiator_queues_changed):
            return ()
        changed = [each for each in result.changes if each.change is not QueueChangeKind.DRAINING]
        told = [(each.path, str(each.change), each.at) for each in changed]
        told += ((each.path, "draining", each.since) for each in self.queues if each.draining)
        users = self.registry.users({path for path, _, _ in told}) if told else {}
        return tuple(self._notice(path, change, since, users.get(path, ())) for path, change, since in told)

    def _notice(self, path: str, change: str, since: float, owners: tuple[str, ...]) -> QueueNotice:
        lists = [queue.config.admin for queue in map(self.queues.get, upwards(path)) if queue]
        users = (user for acl in lists for user in sorted(acl.users))
        groups = (f"@{group}" for acl in lists for group in sorted(acl.groups))
        administrators = tuple(dict.fromkeys((*users, *groups)))
        return QueueNotice(path, change, since, owners, administrators)

    def _groups(
        self, users: tuple[str, ...], now: float
    ) -> tuple[Mapping[str, tuple[str, ...] | None], tuple[HookFailure, ...]]:
        """The groups of users; None for those whom nobody knows while a plugin fails, since it might have."""
        if not users:
            return {}, ()
        found, failures = self.bundle.hooks.user_groups(users, now, self.bundle.settings)
        if not failures:
            return found, ()
        return {**dict.fromkeys(users), **found}, failures
