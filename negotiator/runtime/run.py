"""Run cycles: snapshot, decide, record the intent, settle, record the outcome.

Nothing is handed out before its record is on disk. A cycle whose records cannot be written hands out no match. Between
two cycles administrators' acts are done, and another bundle may take the place of the one that is active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from negotiator.audit.administration import admin_record, reload_record
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.records import intent_records, outcome_records
from negotiator.bundle.model import Bundle
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult
from negotiator.hooks import specs
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Match
from negotiator.pool.snapshot import Snapshot
from negotiator.runtime.admin_actions import AdminResult, perform
from negotiator.runtime.reload import Reload, Reloader
from negotiator.runtime.settle import Delivery, Settler
from negotiator.runtime.state import AdminAction, StateStore
from negotiator.runtime.state_manager import StateManager


class OutcomeLostError(AuditError):
    """Matches were handed out, and the audit log does not say which: it holds their intent only."""


@attrs.frozen
class CycleReport:
    """A cycle that ran to its end: what was decided, what became of it, and where the audit log stands."""

    snapshot: Snapshot
    result: CycleResult
    deliveries: tuple[Delivery, ...]
    observers: tuple[HookFailure, ...]  # observers that failed; the cycle is none the worse for it
    head: str  # "seq:hash" of the last audit record, empty without a log


@attrs.define
class Runtime:
    """What a cycle needs of the outside world.

    ``read`` gives the pool as it is now, ``clock`` the time in seconds since the epoch. With a ``store`` queues and
    applications outlive the process; with a ``reloader`` the bundle may change between cycles.
    """

    bundle: Bundle
    read: Callable[[], Snapshot]
    clock: Callable[[], float]
    settler: Settler
    audit: AuditLog | None
    store: StateStore | None = None
    reloader: Reloader | None = None
    _state_manager: StateManager | None = None
    _cycles: int = 0

    @property
    def state_manager(self) -> StateManager:
        """Queues and applications between the cycles."""
        if self._state_manager is None:
            self._state_manager = StateManager.begin(self.bundle, self.clock(), self.store)
        return self._state_manager

    def cycles(self, count: int) -> Iterator[CycleReport]:
        """Run so many cycles, one after the other; raises ``AuditError`` where one could not be recorded."""
        for _ in range(count):
            yield self.cycle(self._number())

    def next_cycle(self) -> CycleReport:
        """Run one more cycle."""
        return self.cycle(self._number())

    def between_cycles(self) -> tuple[tuple[Reload, ...], tuple[AdminResult, ...]]:
        """Do what was asked for since the last cycle: acts of administrators, and another bundle.

        :raises AuditError: it could not be recorded, and was not done.
        """
        done = tuple(self._acts())
        reload = self.reloader.poll() if self.reloader else None
        if reload is None:
            return (), done
        if reload.bundle is not None:
            queue_warnings = self.state_manager.queue_warnings(reload.bundle)
            reload = attrs.evolve(
                reload, queue_warnings=queue_warnings, problems=(*reload.problems, *queue_warnings)
            )
        self._record([self._told(reload)])
        if reload.bundle is not None:
            self.bundle = reload.bundle
            self.state_manager.use_bundle(reload.bundle, self.clock())
        return (reload,), done

    def cycle(self, number: int) -> CycleReport:
        """Run one cycle.

        :raises AuditError: its intent could not be recorded, and nothing was handed out.
        :raises StateError: queues could not be written down, and nothing was handed out.
        :raises OutcomeLostError: its outcome could not be recorded: matches were handed out, and the audit log holds
            the intent only.
        """
        snapshot = self.read()
        state_manager = self.state_manager
        cycle = Cycle(number, self.clock(), self.bundle.digest)
        state, unknown = state_manager.cycle_state(snapshot, cycle.now)
        result = run_cycle(snapshot, self.bundle, cycle, state)
        result = attrs.evolve(
            result, changes=(*state_manager.changes, *result.changes), failures=(*unknown, *result.failures)
        )
        self._record(intent_records(result, self.bundle.audit))
        state_manager.adopt(result)
        deliveries = tuple(self.settler.settle(result))
        delivered = [item.match for item in deliveries if item.delivered]
        failed = {item.match.id: item.text for item in deliveries if not item.delivered}
        state_manager.release_undelivered(result, failed)
        self._record_outcome(result, delivered, failed)
        observers = self._tell(result, delivered, cycle)
        self.bundle.hooks.end_cycle()
        head = self.audit.head if self.audit else ""
        return CycleReport(snapshot, result, deliveries, observers, head)

    def _tell(self, result: CycleResult, delivered: Sequence[Match], cycle: Cycle) -> tuple[HookFailure, ...]:
        hooks, settings = self.bundle.hooks, self.bundle.settings
        notices = self.state_manager.notices(result)
        failures = (
            hooks.ask(
                specs.negotiator_queues_changed, changes=tuple(notices), cycle=cycle, settings=settings
            ).failures
            if notices
            else ()
        )
        return (
            *failures,
            *hooks.ask(
                specs.negotiator_matches_made, matches=tuple(delivered), cycle=cycle, settings=settings
            ).failures,
        )

    def _acts(self) -> Iterator[AdminResult]:
        """What administrators asked for, each recorded before it is written down."""
        for request in self.store.waiting() if self.store else ():
            done = perform(request, self.state_manager, self.clock())
            self._record([self._recorded(done)])
            # One step: a request that is done again after a crash must not find that it was done.
            self.state_manager.write(answered=(request.number, done.answer))
            if (
                done.answer.ok
                and request.action in {AdminAction.RELOAD, AdminAction.CHANGE}
                and self.reloader
            ):
                self.reloader.request(f"command by {request.by}")
            yield done

    def _told(self, reload: Reload) -> dict[str, object]:
        return reload_record(
            now=self.clock(),
            trigger=reload.trigger,
            previous_bundle=self.bundle.digest,
            bundle=reload.digest,
            problems=(*reload.errors, *reload.queue_warnings),
            accepted=reload.bundle is not None,
        )

    def _recorded(self, done: AdminResult) -> dict[str, object]:
        request = done.request
        return admin_record(
            now=self.clock(),
            bundle=self.bundle.digest,
            request=request.number,
            action=request.action,
            user=request.by,
            requested_at=request.at,
            application=request.application,
            queue=request.queue,
            note=request.note,
            ok=done.answer.ok,
            text=done.answer.text,
            rule=done.by_rule,
        )

    def _number(self) -> int:
        """A number that no earlier cycle in the audit log has, so that the ids of matches are unique in it."""
        written = int(self.audit.head.partition(":")[0]) if self.audit else self._cycles
        self._cycles += 1
        return written + 1

    def _record_outcome(
        self, result: CycleResult, delivered: Sequence[Match], failed: Mapping[str, str]
    ) -> None:
        try:
            self._record(outcome_records(result, [match.id for match in delivered], failed))
        except AuditError as error:
            raise OutcomeLostError(
                f"{error}: the outcome of cycle {result.number} is not recorded; handed out were: "
                f"{', '.join(match.id for match in delivered) or 'none'}"
            ) from error

    def _record(self, records: Sequence[dict[str, object]]) -> None:
        if self.audit:
            self.audit.append(records)
            self.audit.sync()
