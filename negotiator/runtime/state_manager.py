"""Manages queues, applications, holds and the journal between cycles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Table
from negotiator.cycle.applications import application_keys, application_users, users_without_groups
from negotiator.cycle.claims import ClaimIndex, JobsInUse, claimed_jobs, slots_of
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import Strings
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.result import CycleResult
from negotiator.hooks import specs
from negotiator.hooks.access import QueueNotice
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.order import OrderRows
from negotiator.hooks.overruns import Overrun
from negotiator.pool.snapshot import Snapshot
from negotiator.pool.vault import ClaimVault
from negotiator.queues import MutableQueueTree, QueueChange, QueueChangeKind, QueueConfig, QueueTree
from negotiator.queues.applications import ApplicationHold, ApplicationId, ApplicationRegistry, RegistryMark
from negotiator.queues.names import upwards
from negotiator.records import Problem, Severity
from negotiator.runtime.journal import Journal, SlotClaims
from negotiator.runtime.journal_clock import JournalTime, Uptime, pool_times, system_uptime
from negotiator.runtime.peer_matches import PeerMatches, by_order, valid_rows
from negotiator.runtime.state import AdminAnswer, SharedRowsChange, StateStore
from negotiator.runtime.state.cycle_rows import RowName

_KIND_CHANGED = "they stay in their queues: let them end, or move them (negotiator admin move)"


@attrs.frozen
class PeerNews:
    """Whether other negotiators of the pool recorded matches, and whether they changed shared rows."""

    matches: bool = False
    rows: bool = False


@attrs.define(eq=False)
class StateManager:
    """The state between cycles, in memory and, with a store, on disk.

    ``changes`` are changes of queues that no cycle has recorded yet. ``time`` is the time by which the matches of the
    journal age, as of the last cycle; ``clock_jump`` the seconds by which the wall clock moved more than it did then.
    ``damaged`` are sentences on what could not be read of the stored state, and was set aside. ``peers`` has the matches of the
    other negotiators of the pool, and the rows of orders that are shared with them; None if this is the only one. ``overruns`` are those of
    the last cycle. ``costly_owners`` (``CycleState``) are not stored: owners who wait begin anew with the process.
    """

    bundle: Bundle
    queues: QueueTree
    time: JournalTime
    uptime: Callable[[], Uptime]
    store: StateStore | None = None
    registry: ApplicationRegistry = attrs.field(factory=ApplicationRegistry)
    held: dict[ApplicationId, ApplicationHold] = attrs.field(factory=dict)
    changes: list[QueueChange] = attrs.field(factory=list)
    journal: Journal = attrs.field(factory=Journal)
    damaged: tuple[str, ...] = ()
    peers: PeerMatches | None = None
    order_rows: Mapping[str, OrderRows] = attrs.field(factory=dict)
    overruns: tuple[Overrun, ...] = ()
    costly_owners: tuple[str, ...] = ()
    _written: RegistryMark = attrs.field(factory=lambda: ApplicationRegistry().mark())
    _written_rows: Mapping[RowName, Mapping[str, Any]] = attrs.field(factory=dict)
    _last: float = 0.0  # time of the last snapshot
    clock_jump: float = 0.0

    @classmethod
    def begin(
        cls,
        bundle: Bundle,
        now: float,
        store: StateStore | None = None,
        uptime: Callable[[], Uptime] = system_uptime,
    ) -> StateManager:
        """Restore what an earlier process saved, if there is a store; else begin with the configured queues.

        :param uptime: returns the uptime of the machine.
        """
        if store is None:
            time = JournalTime.begin(now, uptime())
            return cls(bundle, QueueTree.of(bundle.partition.root, now), time, uptime, last=now)
        stored = store.load(now)
        time = stored.time or JournalTime.begin(now, uptime())
        if not stored.queues:
            state_manager = cls(bundle, QueueTree.of(bundle.partition.root, now), time, uptime, store)
        else:
            queues = MutableQueueTree({queue.path: queue for queue in stored.queues})
            changes = queues.apply(bundle.partition.root, now)
            queues.renew_templates()
            state_manager = cls(bundle, queues.view, time, uptime, store)
            state_manager.changes += (each for each in changes if each.change is not QueueChangeKind.CHANGED)
        state_manager.registry = ApplicationRegistry(stored.applications)
        state_manager.held = dict(stored.held)
        for entry in stored.journal:
            # An entry without a time counts from now on.
            state_manager.journal.add([entry], stored.made.get(entry.key) or time.time)
        state_manager._written_rows, unknown = valid_rows(bundle, stored.order_rows)
        state_manager.order_rows = by_order(state_manager._written_rows)
        state_manager.damaged = tuple(f"{store.name}: {each}" for each in (*stored.damaged, *unknown))
        state_manager._last = min(stored.last, now)
        state_manager.overruns = stored.overruns
        if store.peers is not None:
            state_manager.peers = PeerMatches(store.peers)
            state_manager.read_peers()
            state_manager.damaged += tuple(
                f"{store.name}: {each}" for each in state_manager.peers.shared.damaged
            )
        state_manager._written = state_manager.registry.mark(state_manager._last)
        return state_manager

    def cycle_state(
        self, snapshot: Snapshot, now: float, claims: ClaimVault | None = None
    ) -> tuple[CycleState, tuple[HookFailure, ...]]:
        """Return the state for the next cycle, after removing gone applications and empty queues, and looking up groups."""
        env = Environment(now=now)
        settings = self.bundle.placement
        if len(self.registry) and len(snapshot.jobs):
            self.registry.touch(application_keys(snapshot.jobs, settings, env, self.registry), now)
        self._last = now
        if self.registry.forget(now - settings.forget_after, now):
            self.held = {each: hold for each, hold in self.held.items() if each in self.registry}
        before = self.time
        self.time = before.advanced(now, self.uptime(), pool_times(snapshot.slots))
        self.clock_jump = self.time.jump(before)
        self._update_journal(snapshot, now, claims or ClaimVault())
        queues = self.queues.mutable()
        self.changes += queues.clean(self.registry.busy(), now)
        self.queues = queues.view
        users = users_without_groups(snapshot.jobs, settings, env) if self.bundle.chain else ()
        groups, failures = self._groups(users, now)
        # A copy: the state stays as it is when administrators move applications, or a later snapshot is read.
        registry = self.registry.copy()
        state = CycleState(
            *(self.queues, registry, dict(self.held), self.matches, groups, self.order_rows),
            shared=self.peers is not None,
            overruns=self.overruns,
            costly_owners=self.costly_owners,
        )
        return state, failures

    @property
    def matches(self) -> tuple[JournalEntry, ...]:
        """The matches of earlier cycles that count, also those of other negotiators of the pool, oldest first."""
        if self.peers is None:
            return self.journal.entries
        return tuple(sorted((*self.journal.entries, *self.peers.entries), key=lambda entry: entry.at))

    def read_peers(self, *, further: bool = False) -> PeerNews:
        """Read what the other negotiators of the pool recorded since the last call; nothing if this is the only one.

        :param further: leave out the matches that they removed: the pool was read before.
        :raises StateError: it cannot be read.
        """
        if self.peers is None:
            return PeerNews()
        known = self.peers.shared.change
        matches = self.peers.read_further() if further else self.peers.read()
        self.order_rows = self.peers.shared.begin(self.bundle, self.order_rows)
        return PeerNews(matches, self.peers.shared.change != known)

    @contextmanager
    def turn(self) -> Iterator[PeerNews]:
        """Let no other negotiator of the pool record matches or change shared rows; yield what they recorded since the last call.

        :raises StateError: it cannot be read.
        """
        if self.peers is None:
            yield PeerNews()
            return
        with self.peers.turn():
            yield self.read_peers(further=True)

    def rebased(self, result: CycleResult) -> CycleResult:
        """Return the result of a cycle whose rows are applied to the shared rows as they are now.

        :raises StateError: the plugin of an order failed.
        """
        if self.peers is None or result.state is None:
            return result
        rows = self.peers.shared.rebase(self.bundle, result.state.order_rows)
        return attrs.evolve(result, state=attrs.evolve(result.state, order_rows=rows))

    def join_peers(self) -> None:
        """Add the rows of this negotiator, as the only one, to those that it shares from now on; once.

        :raises StateError: they cannot be written, or the plugin of an order failed.
        """
        if self.peers is None or not self.peers.shared.split(self.bundle, by_order(self._written_rows))[1]:
            return
        with self.turn():
            self.order_rows = self.peers.shared.join(self.bundle, by_order(self._written_rows))
            self.write()

    def _update_journal(self, snapshot: Snapshot, now: float, claims: ClaimVault) -> None:
        """Find out which matches the pool shows, and remove those that ended."""
        if not self.matches:
            return
        running = snapshot.running
        rows = slots_of(running, snapshot.slots)
        claimed, of_claims = claimed_jobs(snapshot.slots, running, rows, self.bundle.resources)
        tables = ((running, rows), (claimed, of_claims))
        in_use = ClaimIndex(
            [JobsInUse(jobs, self._users(jobs, now), own) for jobs, own in tables], snapshot.slots
        )
        slots = SlotClaims.of(snapshot.slots, self.journal.pending, claims)
        before = self.time.time - self.bundle.placement.claim_timeout
        if self.peers is not None:
            self.peers.update(in_use, self.time.time, before)
        change = self.journal.update(in_use, before, self.journal.ended_claims(slots, self.time.time))
        if self.store is not None and (change.shown or change.gone):
            self.store.update_matches(change.shown, change.gone)

    def _users(self, jobs: Table, now: float) -> Strings:
        """Return the users of jobs as the placement of a cycle does: none if nothing places jobs."""
        if self.bundle.chain is None:
            return np.full(len(jobs), "", np.object_)
        return application_users(jobs, self.bundle.placement, Environment(now=now))

    def adopt(
        self, result: CycleResult, mark: tuple[str, str] | None = None, claims: ClaimVault | None = None
    ) -> None:
        """Apply the result of a recorded cycle, and save it.

        :param mark: the head of the audit log with the intent of the cycle, and the id of the last match.
        :param claims: the claim ids that will be handed out.

        :raises StateError: it cannot be written; the cycle must hand nothing out.
        """
        if result.state is not None:
            self.queues, self.registry = result.state.queues, result.state.registry
            self.order_rows, self.costly_owners = result.state.order_rows, result.state.costly_owners
        before, self.overruns = (
            self.overruns,
            self.overruns if result.state is None else result.state.overruns,
        )
        self.changes.clear()
        matches = tuple(_with_claims(result.pending, claims or ClaimVault()))
        self.journal.add(matches, self.time.time)
        self.write(
            queues=self.queues,
            matches=matches,
            mark=mark,
            cycle=result.number,
            overruns=None if self.overruns == before else self.overruns,
        )

    def note_claims(self, result: CycleResult, claims: ClaimVault) -> None:
        """Note which claim id each match of a cycle was handed out with, also for a later process.

        :raises StateError: it cannot be written; a later process then keeps the matches until ``claim_timeout``.
        """
        found = self.journal.note_claims(result.pending, claims.taken)
        if found and self.store is not None:
            self.store.note_claims(found)

    def release_undelivered(self, result: CycleResult, matches: Collection[str]) -> None:
        """Remove from the journal the matches of a cycle that were not delivered, so that they are no longer charged."""
        gone = [entry.key for entry in result.journal if entry.id in matches]
        self.journal.drop(gone)
        if self.store is not None and gone:
            self.store.drop_matches(gone)

    def queue_warnings(self, bundle: Bundle) -> tuple[Problem, ...]:
        """Return a warning for each queue in use that another bundle would turn from a parent into a leaf, or the reverse."""
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
        change = (
            "was a parent queue and becomes a leaf"
            if config.leaf
            else "was a leaf and becomes a parent queue"
        )
        place = "below it" if config.leaf else "in it"
        message = f"{config.path} {change}, with {count} {noun} {place}"
        return Problem(Severity.WARNING, config.source, message, _KIND_CHANGED)

    def use_bundle(self, bundle: Bundle, now: float) -> tuple[QueueChange, ...]:
        """Replace the active bundle; return the changes of queues."""
        queues = self.queues.mutable()
        changes = queues.apply(bundle.partition.root, now)
        self.queues = queues.view
        self.bundle = bundle
        self.changes += changes
        return changes

    def write(
        self,
        *,
        queues: QueueTree | None = None,
        answered: tuple[int, AdminAnswer] | None = None,
        matches: Iterable[JournalEntry] = (),
        mark: tuple[str, str] | None = None,
        cycle: int | None = None,
        overruns: Iterable[Overrun] | None = None,
    ) -> None:
        """Save what changed since the last call, with the answer to a request; nothing without a store.

        Queues are saved only after their changes were recorded. After a crash before that, the next process finds the
        changes again and records them.

        :raises StateError: it cannot be written.
        """
        if self.store is None:
            return
        changed, gone = self.registry.since(self._written, self._last)
        rows, shared = self._split_rows()
        self.store.save(
            changed,
            gone,
            self.held.items(),
            queues=queues,
            answered=answered,
            matches=matches,
            last=self._last,
            mark=mark,
            cycle=cycle,
            now=self.time,
            order_rows={name: row for name, row in rows.items() if self._written_rows.get(name) != row},
            order_gone=self._written_rows.keys() - rows.keys(),
            shared=self._shared_change(shared),
            overruns=overruns,
        )
        self._written_rows = rows
        if self.peers is not None:
            self.peers.shared.written(shared)
        self._written = self.registry.mark(self._last)

    def _split_rows(self) -> tuple[dict[RowName, Mapping[str, Any]], dict[RowName, Mapping[str, Any]]]:
        """Return the rows of orders that are those of this negotiator alone, and the shared ones."""
        if self.peers is not None:
            return self.peers.shared.split(self.bundle, self.order_rows)
        return {(order, key): row for order, own in self.order_rows.items() for key, row in own.items()}, {}

    def _shared_change(self, rows: Mapping[RowName, Mapping[str, Any]]) -> SharedRowsChange | None:
        """Return what changed of the shared rows since they were read or written; None if nothing did."""
        if self.peers is None:
            return None
        known = self.peers.shared
        changed = {name: row for name, row in rows.items() if known.rows.get(name) != row}
        gone = frozenset(known.rows.keys() - rows.keys())
        return SharedRowsChange(known.change, changed, gone) if changed or gone else None

    def notices(self, result: CycleResult) -> tuple[QueueNotice, ...]:
        """Return the notices of a cycle for plugins: its changes of queues, and all draining queues.

        Empty if no plugin implements the hook.
        """
        if not self.bundle.hooks.implements(specs.negotiator_queues_changed):
            return ()
        changed = [each for each in result.changes if each.change is not QueueChangeKind.DRAINING]
        noticed = [(each.path, str(each.change), each.at) for each in changed]
        noticed += ((each.path, "draining", each.since) for each in self.queues if each.draining)
        users = self.registry.users({path for path, _, _ in noticed}) if noticed else {}
        return tuple(
            self._notice(path, change, since, users.get(path, ())) for path, change, since in noticed
        )

    def drain_notice(self, path: str) -> QueueNotice | None:
        """Return the notice of a draining queue; None if it no longer drains."""
        queue = self.queues.get(path)
        if queue is None or not queue.draining:
            return None
        users = self.registry.users({path}).get(path, ())
        return self._notice(path, str(QueueChangeKind.DRAINING), queue.since, users)

    def mark_notified(self, path: str) -> None:
        """Note, on disk too, that people were notified that a queue drains.

        :raises StateError: it cannot be written.
        """
        queues = self.queues.mutable()
        queues.mark_notified(path)
        self.write(queues=queues.view)
        self.queues = queues.view

    def _notice(self, path: str, change: str, since: float, owners: tuple[str, ...]) -> QueueNotice:
        lists = [queue.config.admin for queue in map(self.queues.get, upwards(path)) if queue]
        users = (user for acl in lists for user in sorted(acl.users))
        groups = (f"@{group}" for acl in lists for group in sorted(acl.groups))
        administrators = tuple(dict.fromkeys((*users, *groups)))
        return QueueNotice(path, change, since, owners, administrators)

    def _groups(
        self, users: tuple[str, ...], now: float
    ) -> tuple[Mapping[str, tuple[str, ...] | None], tuple[HookFailure, ...]]:
        """Return the groups of users. If a plugin failed, users that no other plugin knows have None: it might have known."""
        if not users:
            return {}, ()
        found, failures = self.bundle.hooks.user_groups(users, now, self.bundle.settings)
        if not failures:
            return found, ()
        return {**dict.fromkeys(users), **found}, failures


def _with_claims(entries: Iterable[JournalEntry], vault: ClaimVault) -> Iterator[JournalEntry]:
    """Yield the matches that will be handed out, with the claim ids of slots that have one only."""
    for entry in entries:
        claims = vault.public_parts(entry.slot)
        yield attrs.evolve(entry, claim=next(iter(claims))) if len(claims) == 1 else entry
