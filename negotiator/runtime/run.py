"""Run cycles with their I/O: read the pool, decide, record the intent, settle, record the outcome, notify observers.

No match is handed out before its record is on disk; a cycle whose records cannot be written hands out none. Between two
cycles requests of administrators are carried out, and a changed bundle may replace the active one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress

import attrs

from negotiator.audit.administration import admin_record, drain_record, reload_record
from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.records import intent_records, outcome_records
from negotiator.bundle.model import Bundle
from negotiator.cycle.claim_reuse import ReuseReport
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.cycle_time import MeasuredTime, ProgressWatcher, unwatched
from negotiator.cycle.jobs import with_idle_jobs
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult, summarize
from negotiator.errors import StateError
from negotiator.hooks.delivery import Delivery, DeliveryStatus, with_status
from negotiator.hooks.manager import HookFailure, SlowCalls
from negotiator.hooks.overruns import EvictionOutcome
from negotiator.hooks.records import Cycle
from negotiator.hooks.reports import CycleSummary
from negotiator.pool import ClaimVault
from negotiator.pool.snapshot import Snapshot
from negotiator.runtime.admin_actions import AdminResult, perform, reload_announcement, reload_answer
from negotiator.runtime.bundle_identity import identity
from negotiator.runtime.cycle_history import CycleBeginning, CycleSeconds
from negotiator.runtime.cycle_pool import CyclePool, Shown
from negotiator.runtime.cycle_timer import StopRequest
from negotiator.runtime.drain_notices import DrainNotified, DrainNotifier
from negotiator.runtime.journal_clock import Uptime, system_uptime
from negotiator.runtime.live_pool import uncharged
from negotiator.runtime.reload import Reload, Reloader
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from negotiator.runtime.state_manager import StateManager


class OutcomeLostError(AuditError):
    """Matches were handed out, but their outcome could not be recorded: the audit log has their intent only."""


class ReleaseError(StateError):
    """Matches were handed out and recorded; those that were not delivered could not be removed from the state."""


@attrs.frozen
class CycleReport:
    """A completed cycle: its decisions, and the outcome of each match."""

    snapshot: Snapshot
    state: CycleState  # that it began with
    decided: CycleResult  # by the cycle alone, without what happened between the cycles
    result: CycleResult
    deliveries: tuple[Delivery, ...]
    observers: tuple[HookFailure, ...]  # observers that failed, which changes nothing else
    head: str  # "seq:hash" of the last audit record; empty without a log
    show_error: OSError | None = None  # the output could not be written
    clock_jump: float = 0.0  # seconds by which the wall clock moved more than is proven; see JournalTime
    slow: tuple[SlowCalls, ...] = ()  # calls of plugins that took longer than the bundle allows
    evicted: tuple[EvictionOutcome, ...] = ()  # what became of the running jobs that were asked to end
    reuse: ReuseReport | None = None  # what schedds may do with claims; None if nobody claims anything
    reuse_before: ReuseReport | None = None  # in the cycle before
    seconds: Mapping[str, float] = attrs.field(factory=dict)  # that each part of it took, by name


@attrs.define
class Runtime:
    """Everything outside the pure cycle.

    :param pool: where the ads come from, and where the matches go.
    :param clock: returns the time in seconds since the epoch.
    :param audit: the audit log; None for no log.
    :param store: keeps queues and applications beyond the process; with None they are in memory only.
    :param uptime: returns the uptime of the machine, which proves that time passed.
    :param reloader: finds a changed bundle between cycles; with None the first one stays active.
    :param monotonic: returns the seconds that time limits go by, from any beginning.
    :param stop: an administrator's wish that a cycle ends.
    :param watch: called with the progress of each cycle, until its decisions are complete.
    :param show: prints the decisions of a cycle before its matches are handed out, and flushes the output. It returns False if
        the output does not contain the matches, and raises OSError if it cannot be written.
    """

    bundle: Bundle
    pool: CyclePool
    clock: Callable[[], float]
    audit: AuditLog | None
    store: StateStore | None = None
    reloader: Reloader | None = None
    uptime: Callable[[], Uptime] = system_uptime
    monotonic: Callable[[], float] = time.monotonic
    stop: StopRequest = attrs.field(factory=StopRequest)
    watch: ProgressWatcher = unwatched
    show: Callable[[Snapshot, CycleResult], bool] = lambda *_: False
    notifier: DrainNotifier = attrs.field(factory=DrainNotifier)
    _state_manager: StateManager | None = None
    _cycles: int = 0  # the number of the last cycle
    _reuse: ReuseReport | None = None  # of the last cycle
    _last_match: str = ""  # the last one in the audit log that was recorded with this state

    def __attrs_post_init__(self) -> None:
        mark = self.store.mark() if self.store else None
        self._last_match = mark.last_match if mark else ""
        self._cycles = max(self._cycles, self.store.cycles() if self.store else 0)

    @property
    def state_manager(self) -> StateManager:
        """Queues and applications between the cycles."""
        if self._state_manager is None:
            self._state_manager = StateManager.begin(self.bundle, self.clock(), self.store, self.uptime)
            self._state_manager.join_peers()
        return self._state_manager

    def next_cycle(self) -> CycleReport:
        """Run one more cycle.

        Its number is that after the last one of this process, of the state and of the audit log, so that the ids of matches are unique.
        """
        return self.cycle(max(self._cycles, self.audit.last_cycle if self.audit else 0) + 1)

    def cycle(self, number: int) -> CycleReport:
        """Run one cycle.

        :raises AuditError: its intent could not be recorded, and nothing was handed out.
        :raises StateError: queues could not be written, and nothing was handed out.
        :raises OutcomeLostError: matches were handed out, but their outcome could not be recorded.
        :raises ReleaseError: undelivered matches could not be removed from the state.
        """
        seconds = CycleSeconds()
        begun = CycleBeginning.now(self.clock(), self.monotonic())
        manager = self.state_manager
        with seconds.timed("read"):
            manager.read_peers()  # before the pool: it shows what they remove from now on
            self.pool.awaits_claims = not all(entry.shown for entry in manager.matches)
            snapshot, vault = self.pool.read()
        with self.stop.listening():
            return self._cycle(number, begun, snapshot, vault, seconds)

    def _cycle(
        self,
        number: int,
        begun: CycleBeginning,
        snapshot: Snapshot,
        vault: ClaimVault,
        seconds: CycleSeconds,
    ) -> CycleReport:
        """Decide, record, settle, record and notify observers."""
        cycle = Cycle(number, self.clock(), self.bundle.digest)
        with seconds.timed("cycle"):
            state, unknown = self.state_manager.cycle_state(snapshot, cycle.now, vault)
            decided, result = self._decide(snapshot, cycle, state, unknown, begun.monotonic, seconds)
        manager = self.state_manager
        with manager.turn() as news:
            if news.matches:
                # Others have recorded matches since this cycle began: only with them is every quota exact. Nobody records any now.
                state = attrs.evolve(state, journal=manager.matches, order_rows=manager.order_rows)
                decided, result = self._decide(snapshot, cycle, state, unknown, self.monotonic(), seconds)
            elif news.rows:
                result = manager.rebased(result)
            with seconds.timed("record_intent"):
                self._record_intent(result, snapshot, vault, state)
        with seconds.timed("settle"):
            shown = self._show(snapshot, result)
            deliveries = tuple(self.pool.settle(result, vault, shown))
            evicted = tuple(self.pool.evict(result.evictions))
        with seconds.timed("record_outcome"):
            try:
                self._record_outcome(result, deliveries, evicted)
            finally:
                self._release_undelivered(result, deliveries)
        # The next cycle reports a state that fails.
        with suppress(StateError):
            self.state_manager.note_claims(result, vault)
        if self.audit and self.store:
            with suppress(StateError):  # the mark is then that of the intent, which is enough
                self.store.move_mark(self.audit.head, self._last_match)
        summary = self._summary(result, deliveries, seconds, begun)
        observers = self._tell_observers(result, summary, cycle)
        self.notifier.find_draining(self.state_manager)
        slow = self.bundle.hooks.end_cycle()
        head = self.audit.head if self.audit else ""
        jump = self.state_manager.clock_jump
        reuse_before, self._reuse = self._reuse, self.pool.reuse
        return CycleReport(
            snapshot=snapshot,
            state=state,
            decided=decided,
            result=result,
            deliveries=deliveries,
            observers=observers,
            head=head,
            show_error=shown.error,
            clock_jump=jump,
            slow=slow,
            evicted=evicted,
            reuse=self.pool.reuse,
            reuse_before=reuse_before,
            seconds=seconds.of,
        )

    def between_cycles(self) -> tuple[tuple[Reload, ...], tuple[AdminResult, ...]]:
        """Carry out the requests of administrators since the last cycle, and a requested reload of the bundle.

        Requests for a reload are answered with its outcome, after it was recorded.

        :raises AuditError: a request could not be recorded, and was not carried out.
        """
        done = tuple(self._perform_requests())
        found = self.reloader.poll() if self.reloader else None
        reload = None if found is None else self._reload(found)
        done = tuple(self._answered(each, reload) if self._awaits_reload(each) else each for each in done)
        return (() if reload is None else (reload,)), done

    def record_shadow_report(self, values: Mapping[str, object]) -> None:
        """Record how the decisions of a cycle in shadow mode differ from those of the pool's negotiator.

        :raises AuditError: it could not be recorded.
        """
        self._record([{"kind": "shadow_report", **values}])

    def notify(self, *, finish: bool = False) -> tuple[DrainNotified, ...]:
        """Notify people of draining queues: start the next commands, and record and return those that ended.

        :param finish: wait for the commands, because the program ends.
        :raises AuditError: the end of a command could not be recorded.
        :raises StateError: the start of a command could not be noted; nobody is notified yet.
        """
        advance = self.notifier.finish if finish else self.notifier.advance
        ended = tuple(advance(self.state_manager))
        if ended:
            self._record([self._drain_record(each) for each in ended])
        return ended

    def _decide(
        self,
        snapshot: Snapshot,
        cycle: Cycle,
        state: CycleState,
        unknown: Sequence[HookFailure],
        begun: float,
        seconds: CycleSeconds,
    ) -> tuple[CycleResult, CycleResult]:
        """Run the pure cycle; return its result, and that with what changed between the cycles."""
        manager = self.state_manager
        limits = self._limits(begun)
        with seconds.stations() as begin:
            decided = result = run_cycle(
                *(snapshot, self.bundle, cycle, state),
                time=limits,
                watch=self.watch,
                begin=begin,
            )
        if self.pool.is_shadow:
            quiet = run_cycle(with_idle_jobs(snapshot), self.bundle, cycle, state, time=self._limits(begun))
            result = uncharged(result, quiet)
        if not self.pool.can_evict:
            result = attrs.evolve(result, evictions=())  # nobody is asked, so none is recorded as asked
        changes, failures = (*manager.changes, *result.changes), (*unknown, *result.failures)
        return decided, attrs.evolve(result, changes=changes, failures=failures)

    def _limits(self, begun: float) -> MeasuredTime:
        """Return the time limits of a cycle that began at a time of the monotonic clock."""
        return MeasuredTime(
            self.bundle.time_limits, lambda: self.monotonic() - begun, lambda: self.stop.is_requested
        )

    def _show(self, snapshot: Snapshot, result: CycleResult) -> Shown:
        """Print the decisions; that the output cannot be written is reported after the cycle."""
        try:
            return Shown(is_complete=self.show(snapshot, result))
        except OSError as error:
            return Shown(error=error)

    def _record_intent(
        self, result: CycleResult, snapshot: Snapshot, vault: ClaimVault, state: CycleState
    ) -> None:
        """Record on disk the matches about to be handed out; then take over the cycle's queues and applications."""
        inputs = {"snapshot": snapshot.digest, "state": state.digest} if self.audit else {}
        last_match = result.matches[-1].id if result.matches else self._last_match
        if self.store:
            inputs["last_match"] = last_match
        self._record(intent_records(result, self.bundle.audit, inputs))
        # The log is on disk before the state is, so after a crash the state is never ahead of it.
        mark = (self.audit.head, last_match) if self.audit else None
        self.state_manager.adopt(result, mark, vault)
        self._last_match, self._cycles = last_match, result.number

    def _record_outcome(
        self, result: CycleResult, deliveries: Sequence[Delivery], evicted: Sequence[EvictionOutcome]
    ) -> None:
        ids = {
            status: [match.id for match in with_status(deliveries, status)]
            for status in (DeliveryStatus.DELIVERED, DeliveryStatus.PRINTED, DeliveryStatus.WITHHELD)
        }
        try:
            self._record(outcome_records(result, failed=_undelivered(deliveries), evicted=evicted, **ids))
        except AuditError as error:
            raise OutcomeLostError(
                f"{error}: the outcome of cycle {result.number} is not recorded; {_handed_out_text(deliveries)}"
            ) from error

    def _release_undelivered(self, result: CycleResult, deliveries: Sequence[Delivery]) -> None:
        """Release what undelivered matches were charged. Nothing is undone: the others were handed out."""
        undelivered = _undelivered(deliveries)
        try:
            self.state_manager.release_undelivered(result, undelivered)
        except StateError as error:
            raise ReleaseError(
                f"{error}: the matches that were not delivered in cycle {result.number} stay charged until "
                f"claim_timeout: {', '.join(undelivered)}; {_handed_out_text(deliveries)}"
            ) from error

    def _summary(
        self,
        result: CycleResult,
        deliveries: Sequence[Delivery],
        seconds: CycleSeconds,
        begun: CycleBeginning,
    ) -> CycleSummary:
        delivered, span = self.pool.observed(deliveries), begun.span(self.clock())
        return summarize(result, delivered, seconds.of, span, seconds.processor)

    def _tell_observers(
        self, result: CycleResult, summary: CycleSummary, cycle: Cycle
    ) -> tuple[HookFailure, ...]:
        """Call the hooks that observe; their failures are reported and change nothing else."""
        notices = () if self.pool.is_shadow else self.state_manager.notices(result)
        failures = self.bundle.hooks.observe(summary, cycle, self.bundle.settings, notices)
        return (*failures, *self.pool.cycle_ended(summary))

    def _perform_requests(self) -> Iterator[AdminResult]:
        """Carry out the requests of administrators; each is recorded before the state is written."""
        for request in self.store.waiting() if self.store else ():
            yield self._perform(request)

    def _perform(self, request: AdminRequest) -> AdminResult:
        """Carry out one request; others change no shared rows meanwhile."""
        changes_rows = request.action is AdminAction.CHANGE_ORDER
        with self.state_manager.turn() if changes_rows else nullcontext():
            done = perform(request, self.state_manager, self.clock())
            if self._awaits_reload(done):
                done = attrs.evolve(done, answer=reload_announcement(request))
            self._record([self._admin_record(done)])
            if done.kill is not None:
                done = done.killed(is_shadow=self.pool.is_shadow)
                self._record([self._admin_record(done)])
            if self.reloader and self._awaits_reload(done):
                self.reloader.request(f"command by {request.by}")
            else:
                # State and answer in one transaction: after a crash a request is repeated only if its effect is not there.
                self.state_manager.write(answered=(request.number, done.answer))
        return done

    def _awaits_reload(self, done: AdminResult) -> bool:
        """True if the outcome of a reload is the answer to a request."""
        reloads = done.request.action is AdminAction.RELOAD or done.request.action.is_change
        return reloads and done.answer.ok and self.reloader is not None

    def _answered(self, done: AdminResult, reload: Reload | None) -> AdminResult:
        """Answer a request with the outcome of the reload."""
        done = attrs.evolve(done, answer=reload_answer(done.request, reload))
        self.state_manager.write(answered=(done.request.number, done.answer))
        return done

    def _reload(self, reload: Reload) -> Reload:
        """Record a reload, and replace the bundle if the new one has no errors."""
        if reload.bundle is not None:
            warnings = self.state_manager.queue_warnings(reload.bundle)
            reload = attrs.evolve(reload, queue_warnings=warnings, problems=(*reload.problems, *warnings))
        new = () if reload.bundle is None else (reload.bundle,)
        self._record([self._reload_record(reload)], *new)
        if reload.bundle is not None:
            self.bundle = reload.bundle
            self.state_manager.use_bundle(reload.bundle, self.clock())
            if self.store:
                self.store.use_bundle(identity(reload.bundle))
        return reload

    def _reload_record(self, reload: Reload) -> dict[str, object]:
        return reload_record(
            now=self.clock(),
            bundle=self.bundle.digest,
            trigger=reload.trigger,
            new_bundle=reload.digest,
            problems=(*reload.errors, *reload.queue_warnings),
            accepted=reload.bundle is not None,
        )

    def _drain_record(self, ended: DrainNotified) -> dict[str, object]:
        return drain_record(
            now=self.clock(),
            bundle=self.bundle.digest,
            queue=ended.notice.queue,
            since=ended.notice.since,
            users=ended.notice.owners,
            administrators=ended.notice.administrators,
            program=ended.program,
            failure=ended.failure,
        )

    def _admin_record(self, done: AdminResult) -> dict[str, object]:
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
            order=request.order,
            change=request.change,
            ok=done.answer.ok,
            text=done.answer.text,
            rule=done.by_rule,
        )

    def _record(self, records: Sequence[dict[str, object]], *new_bundles: Bundle) -> None:
        """Append records and make them durable; the bundles that they name are stored before."""
        if self.audit:
            for bundle in (*new_bundles, self.bundle):
                self.audit.store_bundle(bundle.digest, bundle.files)
            self.audit.append(
                [{**each, "shadow": True} for each in records] if self.pool.is_shadow else records
            )
            self.audit.sync()


def _undelivered(deliveries: Sequence[Delivery]) -> Mapping[str, str]:
    """Return why the delivery of each match that nobody has failed, by its id."""
    return {each.match.id: each.text for each in deliveries if each.status is DeliveryStatus.FAILED}


def _handed_out_text(deliveries: Sequence[Delivery]) -> str:
    """Return a part of a message: the matches that were handed out, and those that may have been."""
    handed_out = [each.match.id for each in deliveries if each.is_handed_out]
    unknown = [match.id for match in with_status(deliveries, DeliveryStatus.UNKNOWN)]
    text = f"handed out were: {', '.join(handed_out) or 'none'}"
    return f"{text}; unknown: {', '.join(unknown)}" if unknown else text
