"""Use case: run negotiation cycles over a pool, with the audit log, the state and reloads of the bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import BinaryIO
from weakref import ref

import attrs

from negotiator.app.context import caller
from negotiator.app.cycle_status import CycleStatus
from negotiator.app.exclusive import open_audit_log, open_state
from negotiator.app.pool_view import pool_reader
from negotiator.app.run_observer import RunObserver as RunObserver
from negotiator.app.service_settings import PoolDriver
from negotiator.app.shadow import MOST_RECORDED, ShadowComparison, report_values
from negotiator.app.standby import Standby
from negotiator.app.targets import bound, bundle_folder, clock, examine, loaded, without_state_bundle
from negotiator.audit.errors import AuditError
from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.bundle.pool_configuration import POOL_FILE, AskPool, store_configuration
from negotiator.bundle.time_limits import CycleIntervals
from negotiator.cycle.cycle_time import CycleProgress
from negotiator.defaults import LOCAL_ENGINE
from negotiator.engines.choice import note_of_single_cycles
from negotiator.errors import PluginFailureError, PoolError, StateError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.delivery import DeliveryStatus as DeliveryStatus
from negotiator.hooks.guard import Tracer
from negotiator.hooks.plugin_watch import LongCall, reporting_long_calls
from negotiator.pool import Snapshot
from negotiator.records import Severity
from negotiator.runtime.admin_actions import AdminResult as AdminResult
from negotiator.runtime.bundle_identity import check_bundle, use_bundle
from negotiator.runtime.collector import collect_unreachable, exempt_reachable, rare_collections
from negotiator.runtime.consistency import Recovery, check_consistency
from negotiator.runtime.cycle_pool import CyclePool, FilePool, save_pool
from negotiator.runtime.cycle_recorder import CycleRecorder
from negotiator.runtime.cycle_timer import CycleTimer, CycleTrigger
from negotiator.runtime.journal_clock import OrderedClock
from negotiator.runtime.live_pool import ServedPool, ShadowPool
from negotiator.runtime.notices import Notices
from negotiator.runtime.peer_matches import register_negotiator
from negotiator.runtime.pool_requests import PoolRequests
from negotiator.runtime.reload import Reload as Reload
from negotiator.runtime.reload import Reloader
from negotiator.runtime.run import CycleReport, OutcomeLostError, ReleaseError, Runtime
from negotiator.runtime.state import StateStore

_IN_THIS_CYCLE = " in this cycle"


@attrs.define(eq=False, kw_only=True)
class Runner:
    """A negotiator that is ready to run.

    ``notices`` are sentences on repairs of the audit log, and on differences between it and the state that were accepted.
    ``peers`` are sentences on daemons and tools of a live pool. ``driver`` is that of a service, whose cycle is left out if its
    pool cannot be read, and the next one tried at its time; the ads of a live pool are saved in the folder of the state.
    ``comparison`` compares the cycles of shadow mode, ``recorder`` records cycles.
    """

    runtime: Runtime
    reloader: Reloader
    notices: tuple[str, ...]
    driver: PoolDriver | None
    trigger: CycleTrigger
    peers: Notices
    comparison: ShadowComparison | None
    recorder: CycleRecorder | None = None
    status: CycleStatus | None = attrs.field(default=None, init=False)
    _saved: Callable[[], Snapshot | None] = attrs.field(default=lambda: None, init=False)
    _offers_again: bool = attrs.field(default=False, init=False)

    def run(self, observer: RunObserver, every: float | None = None, count: int | None = None) -> bool:
        """Run cycles until ``count`` is reached, or until SIGTERM or SIGINT, which end the current one at its next turn.

        Requests of administrators and reloads are carried out before each cycle and while waiting for it.

        :param every: seconds between the beginnings of two cycles; None for the intervals that the bundle has for a service,
            and for no pause without one.
        :param count: None for no end; for 1 cycle without a pause.
        :return: True if all plugins that take part in decisions worked: in each cycle, or without an end in the last one.
        :raises StateError, AuditError: no match of the cycle was handed out.
        :raises OutcomeLostError, ReleaseError: matches were handed out, but their outcome is not recorded.
        :raises PoolError: the pool cannot be read.
        :raises OSError: the observer could not print the matches of a cycle; their outcome is recorded as unknown.
        """
        self.runtime.show = lambda snapshot, result: observer.decisions(
            snapshot.problems, result, self.runtime.bundle
        )
        self.runtime.watch = lambda progress: self._progress(observer, progress)
        intervals = self._intervals(every)
        total = count or (1 if intervals is None else None)
        complete = True
        folder = self.runtime.store.folder if self.runtime.store else None
        bundle, clock = self.runtime.bundle, self.runtime.clock
        self.status = status = CycleStatus.begin(folder, bundle, clock, intervals, observer.notice)
        self._store_configuration(observer)
        stop, trigger = self.runtime.stop, self.trigger
        timer = CycleTimer(self.reloader.request, intervals, total, stop=stop, trigger=trigger)
        with rare_collections(), timer:
            for number in timer.cycles(lambda: self._between_cycles(observer)):
                complete = self._cycle(observer, status) and (complete or total is None)
                if number == 1 != total:
                    exempt_reachable()  # modules, the bundle, and what the first cycle loaded
                elif number != total:
                    collect_unreachable()
        self._report_peers(observer, finish=True)
        self._notify(observer, finish=True)
        return complete

    def _intervals(self, every: float | None) -> Callable[[], CycleIntervals] | None:
        """Return what returns the intervals between cycles; None if there is no pause."""
        if every is None:
            return (lambda: self.runtime.bundle.cycle_intervals) if self.driver is not None else None
        if self.driver is not None:
            return lambda: CycleIntervals.every(every, self.runtime.bundle.cycle_intervals)
        fixed = CycleIntervals.every(every)
        return lambda: fixed

    def _cycle(self, observer: RunObserver, status: CycleStatus) -> bool:
        """Run a cycle and forget it, before the pool is read again; return True if all plugins worked."""
        status.cycle_begins()
        try:
            with _nothing_handed_out(_IN_THIS_CYCLE):
                report = self.runtime.next_cycle()
        except (PoolError, PluginFailureError) as error:
            if self.driver is None:
                raise
            if isinstance(error, PoolError) and self.trigger.is_ending:
                return True  # what was read so far is of no use
            status.cycle_failed(error)
            observer.no_cycle(error)
            return False
        if report.show_error:
            raise report.show_error
        status.cycle_ended(report, self.runtime.bundle, self.runtime.pool.unanswered)
        observer.cycle(report)
        self._save_pool(report, observer)
        self._record_cycle(report, observer)
        if self.comparison is not None and (compared := self.comparison.next(report)) is not None:
            self.runtime.record_shadow_report(report_values(compared, MOST_RECORDED))
            observer.shadow(compared, self.comparison.totals)
        self._offer_again(report)
        self._notify(observer)
        return not report.result.failures

    def _save_pool(self, report: CycleReport, observer: RunObserver) -> None:
        """Save the ads of a live pool for other processes: files can be read by anybody."""
        store = self.runtime.store
        if self.driver is not PoolDriver.LIVE or store is None or self._saved() is report.snapshot:
            return
        try:
            save_pool(store.folder, report.snapshot)
            self._saved = ref(report.snapshot)
        except OSError as error:
            observer.notice(f"{store.folder}: cannot save the ads of the cycle: {error.strerror or error}")

    def _record_cycle(self, report: CycleReport, observer: RunObserver) -> None:
        """Record a cycle with what it was decided from; that it cannot be written changes nothing else."""
        failed = bool(report.result.failures or report.observers or report.result.reached)
        if self.recorder is None or not self.recorder.wants(report.result.number, failed=failed):
            return
        files = self.runtime.bundle.files
        recorded = RecordedCycle.of(report.decided, report.snapshot, report.state, files)
        try:
            self.recorder.record(recorded, self.runtime.clock())
        except OSError as error:
            observer.notice(f"{self.recorder.folder}: cannot record the cycle: {error.strerror or error}")

    def _offer_again(self, report: CycleReport) -> None:
        """Start the next cycle at once after matches that could not be delivered: their slots are free for others.

        Once only: a schedd that fails in every cycle must not keep the pool busy.
        """
        failed = any(each.status is DeliveryStatus.FAILED for each in report.deliveries)
        if failed and self.comparison is None and not self._offers_again:
            self.trigger.start_cycle()
        self._offers_again = failed

    def _notify(self, observer: RunObserver, *, finish: bool = False) -> None:
        """Notify people of draining queues, and the observer of what failed there, which changes nothing else.

        Nobody is notified in shadow mode.
        """
        if self.comparison is not None:
            return
        try:
            ended = self.runtime.notify(finish=finish)
        except (AuditError, StateError) as error:
            observer.notice(f"draining queues: {error}")
            return
        for each in ended:
            if each.failure:
                observer.notice(str(each))

    def _between_cycles(self, observer: RunObserver) -> None:
        with _nothing_handed_out(_IN_THIS_CYCLE):
            reloads, requests = self.runtime.between_cycles()
        self._report_peers(observer)
        self._notify(observer)
        for done in requests:
            observer.admin(done)
        for reload in reloads:
            observer.reload(reload)
            exempt_reachable()
            if self.status is not None:
                self.status.reloaded(reload)
            self._store_configuration(observer)
        if self.runtime.pool.close_if_changed():
            self.trigger.start_cycle()  # which opens the pool as the new bundle says

    def _store_configuration(self, observer: RunObserver) -> None:
        """Write the pool's configuration that is in force for other processes, which load the same bundle."""
        folder = self.runtime.store.folder if self.runtime.store else None
        if self.driver is None or folder is None:
            return
        try:
            store_configuration(folder, self.runtime.bundle.files.get(POOL_FILE))
        except OSError as error:
            observer.notice(f"{folder}: cannot write the pool's configuration: {error.strerror or error}")

    def _progress(self, observer: RunObserver, progress: CycleProgress) -> None:
        self.trigger.work.note()
        observer.progress(progress)

    def _report_peers(self, observer: RunObserver, *, finish: bool = False) -> None:
        for text in self.peers.take(finish=finish):
            observer.peer(text)


def run_cycles(
    targets: CommandTargets,
    observer: RunObserver,
    *,
    every: float | None = None,
    count: int | None = None,
    audit: bool | None = True,
    watch: float | None = None,
    tracer: Tracer | None = None,
    stdin: BinaryIO | None = None,
    change_bundle: bool = False,
    recover: bool = False,
    driver: PoolDriver | None = None,
    bind: tuple[str, int] | None = None,
    shadow: bool = False,
    recorder: CycleRecorder | None = None,
    engine: str = LOCAL_ENGINE,
) -> bool:
    """Open a runner, run cycles, and close it; with a shared state, while this negotiator leads, and wait for that before.

    The parameters are those of ``open_runner`` and ``Runner.run``, which has the meaning of the result too.
    """
    targets = without_state_bundle(targets)
    trigger = CycleTrigger()
    runners: list[Runner] = []

    def report(call: LongCall) -> None:
        for runner in runners:
            if runner.status is not None:
                runner.status.plugin_call(call)
        observer.plugin_call(call)

    def run(store: StateStore | None = None) -> bool:
        with (
            reporting_long_calls(report),
            open_runner(
                targets,
                audit=audit,
                watch=watch,
                tracer=tracer,
                stdin=stdin,
                change_bundle=change_bundle,
                recover=recover,
                driver=driver,
                bind=bind,
                shadow=shadow,
                recorder=recorder,
                engine=engine,
                store=store,
                trigger=trigger,
            ) as runner,
        ):
            runners.append(runner)
            problems = runner.runtime.bundle.problems
            observer.problems(each for each in problems if each.severity is Severity.WARNING)
            for notice in (*runner.notices, *runner.runtime.state_manager.damaged):
                observer.notice(notice)
            return runner.run(observer, every, count)

    location = targets.state_location
    if driver is None or location is None or location.database is None:
        return run()
    # The errors of a bundle are reported now, not when this negotiator is needed.
    examination = examine(targets, tracer, ask_pool=_ask_pool(driver))
    bundle = loaded(bound(examination, bind), bundle_folder(targets))
    return Standby(location, bundle, clock(targets), observer.notice, trigger).run(run)


@contextmanager
def open_runner(
    targets: CommandTargets,
    *,
    audit: bool | None = True,
    watch: float | None = None,
    tracer: Tracer | None = None,
    stdin: BinaryIO | None = None,
    change_bundle: bool = False,
    recover: bool = False,
    driver: PoolDriver | None = None,
    bind: tuple[str, int] | None = None,
    shadow: bool = False,
    store: StateStore | None = None,
    trigger: CycleTrigger | None = None,
    recorder: CycleRecorder | None = None,
    engine: str = LOCAL_ENGINE,
    ads: Callable[[], Snapshot] | None = None,
    extra_plugins: Mapping[str, object] = MappingProxyType({}),
) -> Iterator[Runner]:
    """Load the bundle, and open the state and the audit log for as long as the runner is used.

    :param audit: write an audit log; None writes one if there is a state, or if the bundle asks for it.
    :param watch: reload the bundle when its files have changed, and then were unchanged for so many seconds; None does not
        watch them.
    :param tracer: called with each call of a plugin.
    :param stdin: the stream that is read for the path ``-`` of the pool.
    :param change_bundle: let the state belong to this bundle from now on.
    :param recover: continue although the state and the audit log do not agree; that is recorded.
    :param driver: serve the live pool of the bundle, or files, until stopped; None for cycles over files that end with a pool
        that cannot be read.
    :param bind: the host and port where the tools and daemons of a live pool connect; None if the bundle decides.
    :param store: the state, if it is open and locked already; None opens that of the targets.
    :param trigger: starts cycles before their time, and ends them.
    :param recorder: records cycles, as far as it wants them.
    :param engine: the name of an engine (``engines.choice``): a notice tells that it decides no cycles that follow each other.
    :raises InvalidEngineError: there is no such engine.
    :param ads: returns the ads of the pool, if they were read already; None reads the files of the targets.
    :param extra_plugins: further plugins by name, as modules or objects.
    :param shadow: with a live pool: only observe the pool, hand out nothing, and compare with its own negotiator.
    :raises BundleError: the bundle has errors.
    :raises PoolError: the bundle has no live pool, and ``driver`` names one.
    :raises BundleChangedError: the state belongs to another bundle.
    :raises StateError: the state cannot be used, another negotiator uses it, or it does not agree with the audit log.
    :raises AuditError: the audit log cannot be used, was changed, or does not agree with the state.
    """
    targets = without_state_bundle(targets)
    note = note_of_single_cycles(engine)
    # The reloader looks at the files before they are read, so that it misses no change in between.
    reloader = Reloader(
        bundle_folder(targets),
        lambda: bound(
            examine(targets, tracer, extra_plugins=extra_plugins, ask_pool=_ask_pool(driver)), bind
        ),
        watch=watch is not None,
        stable_seconds=watch or 0.0,
    )
    bundle = loaded(reloader.examine(), bundle_folder(targets))
    live = driver is PoolDriver.LIVE
    location = targets.state_location
    if live and bundle.source.chosen is None:
        raise PoolError(f"{bundle.folder}: the bundle has no live pool: write source: NAME in pool.yaml")
    reloader.use(bundle)
    with ExitStack() as stack:
        with _nothing_handed_out():
            # Admin commands take the two locks in the same order, so that neither waits for the other for ever.
            if store is None and location is not None:
                store = stack.enter_context(open_state(location))
            if store and not change_bundle:
                check_bundle(store, bundle)
            if audit is None:
                audit = store is not None or bundle.audit.write
            rotate = bundle.audit.rotate_bytes
            log = (
                stack.enter_context(open_audit_log(targets.audit_log, targets.key_file, rotate))
                if audit
                else None
            )
            user, now = caller()[0], clock(targets)()
            accepted = check_consistency(store, log, Recovery(user, now, bundle.digest) if recover else None)
            if store:
                use_bundle(store, bundle, log, user, now)
            register_negotiator(store, bundle)
        trigger = trigger or CycleTrigger()
        peers = Notices()
        ordered = OrderedClock(clock(targets), report=peers.add)
        requests = PoolRequests(lambda: runtime.bundle, location, trigger, ordered, peers)
        pool: CyclePool = FilePool(ads or pool_reader(targets.pool, stdin))
        if shadow:
            pool = ShadowPool(lambda: runtime.bundle)
        elif live:
            pool = ServedPool(lambda: runtime.bundle, requests)
        stack.callback(pool.close)
        runtime = Runtime(bundle, pool, ordered, log, store, reloader, stop=trigger.stop)
        yield Runner(
            runtime=runtime,
            reloader=reloader,
            notices=(
                *(log.notices if log else ()),
                *([f"recovered: {accepted}"] if accepted else ()),
                *([note] if note else ()),
            ),
            driver=driver,
            trigger=trigger,
            peers=peers,
            comparison=ShadowComparison() if shadow else None,
            recorder=recorder,
        )


def _ask_pool(driver: PoolDriver | None) -> AskPool:
    return AskPool.NO if driver is None else AskPool.SERVE


@contextmanager
def _nothing_handed_out(when: str = "") -> Iterator[None]:
    """Add to the messages of exceptions that no match was handed out; ``when`` limits that to a time."""
    try:
        yield
    except (OutcomeLostError, ReleaseError):
        raise
    except (StateError, AuditError) as error:
        raise type(error)(f"{error}: no match was handed out{when}") from error
