"""Writes the status of a running negotiator for ``negotiator status``."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

import attrs

from negotiator.app.cycle_details import cycle_details, rule_effects
from negotiator.bundle import Bundle
from negotiator.bundle.rules import BundleRules, bundle_rules
from negotiator.bundle.time_limits import CycleIntervals
from negotiator.cycle.claim_reuse import ReuseReport
from negotiator.cycle.result import CycleResult
from negotiator.errors import StateError
from negotiator.hooks.delivery import DeliveryStatus
from negotiator.hooks.plugin_watch import LongCall
from negotiator.hooks.turn_time import TimeLimit
from negotiator.pool.secrets import redact
from negotiator.records import CORE, Problem
from negotiator.records.text import printable
from negotiator.runtime.cycle_history import (
    CycleDetails,
    CycleEntry,
    CycleHistory,
    RuleActivity,
    read_history,
    with_cycle,
    write_history,
)
from negotiator.runtime.reload import Reload
from negotiator.runtime.run import CycleReport
from negotiator.runtime.status_file import (
    LastCycle,
    NegotiatorStatus,
    PluginCallStatus,
    UnmatchedJobs,
    write_status,
)

_MOST: Final = 20  # names of each kind
_LONGEST: Final = 500  # characters of a text
_MOST_REASONS: Final = 100


@attrs.define(eq=False)
class CycleStatus:
    """The status of this process, which is written before and after each cycle.

    :param folder: of the state; None writes nothing.
    :param clock: returns the time in seconds since the epoch.
    :param intervals: returns the intervals between cycles; None if there are none.
    :param report: called with a sentence when the status cannot be written.
    """

    folder: Path | None
    clock: Callable[[], float]
    intervals: Callable[[], CycleIntervals] | None
    report: Callable[[str], None]
    _status: NegotiatorStatus
    _history: CycleHistory = attrs.field(factory=CycleHistory)
    _rules: tuple[Bundle, BundleRules] | None = None  # those of the last bundle
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    @classmethod
    def begin(
        cls,
        folder: Path | None,
        bundle: Bundle,
        clock: Callable[[], float],
        intervals: Callable[[], CycleIntervals] | None,
        report: Callable[[str], None],
    ) -> Self:
        """Return the status at the start, and write it."""
        started = clock()
        status = NegotiatorStatus.of_this_process(started, bundle.digest, _limit(bundle))
        status = attrs.evolve(status, differences=_texts(map(str, bundle.differences)))
        found = cls(folder, clock, intervals, report, status, _earlier_cycles(folder, report))
        found._write(next_cycle=started)
        return found

    def cycle_begins(self) -> None:
        """Write that a cycle runs."""
        self._write(cycle_since=self.clock())

    def cycle_ended(self, done: CycleReport, bundle: Bundle, unanswered: Sequence[Problem]) -> None:
        """Write what a cycle did.

        :param unanswered: the parts of the pool that did not answer.
        """
        result, reuse = done.result, done.reuse or ReuseReport()
        last = LastCycle(
            number=result.number,
            begun=self._status.cycle_since or result.now,
            ended=self.clock(),
            slots=result.counts.slots,
            jobs=result.counts.jobs,
            matches=len(result.matches),
            rejections=len(result.rejections),
            undelivered=sum(each.status is DeliveryStatus.FAILED for each in done.deliveries),
            unanswered=_texts(map(str, unanswered)),
            plugins=_texts(str(each.plugin) for each in (*result.failures, *done.observers)),
            overruns=result.jobs_in_overrun,
            overrun_rules=len(result.overrun_counts) - len(result.shadow_overruns),
            limits_exceeded=sum(each.is_limit for each in result.overruns),
            unjudged=result.unjudged,
            unmatched=tuple(_unmatched(result)),
            bypassed=_texts(map(str, reuse.bypasses)),
            one_job_slots=reuse.one_job,
            reuse=_texts(reuse.notes),
        )
        totals = self._status.totals
        self._write(
            bundle=bundle.digest,
            cycle_limit=_limit(bundle),
            cycle_since=None,
            next_cycle=self._next(last.begun),
            last=last,
            failure="",
            failed=None,
            totals=attrs.evolve(
                totals,
                cycles=totals.cycles + 1,
                seconds=totals.seconds + max(0.0, last.ended - last.begun),
                matches=totals.matches + last.matches,
                undelivered=totals.undelivered + last.undelivered,
            ),
        )
        self._add_to_history(
            CycleEntry(
                number=last.number,
                begun=last.begun,
                ended=last.ended,
                bundle=bundle.digest,
                seconds=dict(done.seconds),
                slots=last.slots,
                jobs=last.jobs,
                matches=last.matches,
                unmatched=sum(each.jobs for each in last.unmatched),
                undelivered=last.undelivered,
                overruns=last.overruns,
                limits_exceeded=last.limits_exceeded,
                unjudged=last.unjudged,
            ),
            *self._details(result, last.ended, bundle),
        )

    def reloaded(self, reload: Reload) -> None:
        """Write what became of a reload: the reason why the bundle was rejected, and the differences of one that was not."""
        if reload.bundle is None:
            errors = _texts(map(str, reload.errors))
            self._write(rejected=self.clock(), rejection=errors)
        else:
            differences = _texts(map(str, reload.bundle.differences))
            last, due = self._status.last, self._status.next_cycle
            if last is not None and due is not None and self.intervals is not None:
                due = self.intervals().due(last.begun, last.ended)
            self._write(rejected=None, rejection=(), differences=differences, next_cycle=due)

    def plugin_call(self, call: LongCall) -> None:
        """Write that a call of a plugin goes on for long, until it has ended; any thread may call this."""
        text, about = _texts([call.subject])[0], _texts([call.about])[0]
        present = None if call.has_ended else PluginCallStatus(call=text, about=about, since=call.began)
        self._write(plugin_call=present)

    def cycle_failed(self, error: Exception) -> None:
        """Write why a cycle did not take place."""
        now = self.clock()
        (text,) = _texts([str(error)])
        since = self._status.cycle_since or now
        totals = attrs.evolve(self._status.totals, failed=self._status.totals.failed + 1)
        self._write(cycle_since=None, next_cycle=self._next(since), failure=text, failed=now, totals=totals)
        bundle = self._status.bundle
        self._add_to_history(CycleEntry(begun=since, ended=now, bundle=bundle, failure=text))

    def _details(
        self, result: CycleResult, ended: float, bundle: Bundle
    ) -> tuple[CycleDetails, tuple[RuleActivity, ...]]:
        """Return the details of a cycle, and what each rule of the bundle did until its end."""
        if self._rules is None or self._rules[0] is not bundle:
            self._rules = bundle, bundle_rules(bundle)
        rules, effects = self._rules[1], rule_effects(result)
        active = {
            rule.digest
            for each in effects
            if each.plugin != CORE and (rule := rules.find(each.plugin, each.rule, each.source))
        }
        details = cycle_details(result, ended, effects, bundle.hooks.plugins)
        return details, with_cycle(self._history.rules, rules.rules, active, ended)

    def _next(self, begun: float) -> float | None:
        return None if self.intervals is None else self.intervals().due(begun, self.clock())

    def _add_to_history(
        self,
        entry: CycleEntry,
        details: CycleDetails | None = None,
        rules: Sequence[RuleActivity] = (),
    ) -> None:
        self._history = self._history.with_cycle(entry, details, rules)
        if self.folder is None:
            return
        try:
            write_history(self.folder, self._history)
        except OSError as error:
            self.report(f"{self.folder}: cannot write the last cycles: {error.strerror or error}")

    def _write(self, **changes: Any) -> None:
        with self._lock:
            self._status = attrs.evolve(self._status, **changes)
            if self.folder is None:
                return
            try:
                write_status(self.folder, self._status)
            except OSError as error:
                self.report(f"{self.folder}: cannot write the status: {error.strerror or error}")


def _earlier_cycles(folder: Path | None, report: Callable[[str], None]) -> CycleHistory:
    """Return the cycles of an earlier process; none if they cannot be read, which is reported."""
    if folder is None:
        return CycleHistory()
    try:
        return read_history(folder)
    except StateError as error:
        report(f"{error}: the history of cycles begins anew")
        return CycleHistory()


def _unmatched(result: CycleResult) -> Iterator[UnmatchedJobs]:
    """Yield the jobs without a slot by station, verdict and code of the reason; the rarest together as ``other``."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for each in result.rejections:
        reason = each.reason
        counts[str(reason.provenance.station), str(reason.verdict), printable(reason.code)[:_LONGEST]] += (
            each.jobs
        )
    found = counts.most_common()
    for (station, verdict, code), jobs in found[:_MOST_REASONS]:
        yield UnmatchedJobs(station=station, verdict=verdict, code=code, jobs=jobs)
    if rest := sum(jobs for _, jobs in found[_MOST_REASONS:]):
        yield UnmatchedJobs(station="", verdict="", code="other", jobs=rest)


def _limit(bundle: Bundle) -> float:
    return bundle.time_limits.seconds(TimeLimit.CYCLE)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(redact(printable(each))[:_LONGEST] for each in texts))
    more = len(found) - _MOST
    return found if more <= 0 else (*found[:_MOST], f"and {more} more")
