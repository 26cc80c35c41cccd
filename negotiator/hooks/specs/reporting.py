"""The hooks that report and observe: a failure is reported, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from negotiator.hooks import checks
from negotiator.hooks.hook import AnswerShape, OnFailure, deferred, hookspec

if TYPE_CHECKING:
    from negotiator.hooks.access import QueueNotice
    from negotiator.hooks.charges import CounterUsage
    from negotiator.hooks.records import Cycle, Match
    from negotiator.hooks.reports import CycleSummary, Report
    from negotiator.queues import QueueTree


@hookspec(
    "dict",
    check=deferred(lambda: checks.checked_entry),
    on_failure=OnFailure.REPORT,
    own=("settings", "used"),
)
def negotiator_usage(  # type: ignore[empty-body]
    report: str, used: CounterUsage, queues: QueueTree, settings: Any, policy: Any = None
) -> Iterable[Mapping[str, Any]]:
    """Report the usage of the limits of this plugin.

    Called by ``negotiator usage``. A failure is reported.

    Example::

        @hookimpl
        def negotiator_usage(report, used):
            if report == "hosts":
                for (_, host), count in used.sums.items():
                    yield {"host": host, "jobs": count}

    :param report: the name of the report: ``users``, ``groups``, or any other name that a plugin knows.
    :param used: the amounts on this plugin's counters.
    :param queues: the queues as they are now, with their configuration.
    :param settings: this plugin's part of the bundle.
    :param policy: what ``negotiator_policy`` of this plugin returned.
    :return: the entries, as values that JSON has; none for an unknown report.
    """


@hookspec("Report", check=deferred(lambda: checks.checked_report), on_failure=OnFailure.REPORT)
def negotiator_reports(settings: Any) -> Iterable[Report]:  # type: ignore[empty-body]
    """Bring reports about a pool, which the HTTP interface serves at ``/api/v1/reports/NAME``.

    Called when the pool was read, and when the interface is described. A failure is reported.

    Example::

        @attrs.frozen
        class HostJobs:
            host: str
            jobs: int

        def collect(source):
            return [HostJobs(host, jobs) for (_, host), jobs in source.usage.counters.sums.items()]

        @hookimpl
        def negotiator_reports():
            yield Report(name="host-jobs", summary="Jobs on each machine", row=HostJobs, collect=collect,
                         rows=lambda found, given: found)

    :param settings: this plugin's part of the bundle.
    :return: the reports; a name that is already used is refused.
    """


@hookspec(shape=AnswerShape.NOTHING, on_failure=OnFailure.REPORT, batch="matches")
def negotiator_matches_made(matches: Sequence[Match], settings: Any, cycle: Cycle) -> None:
    """Observe the matches that were delivered; for a pool of files all matches.

    Called once a cycle that takes place (``run``, ``serve``), after the matches are in the audit log and were delivered. A failure is
    reported, and nothing else changes.

    Example::

        @hookimpl
        def negotiator_matches_made(matches):
            for match in matches:
                print(match.job, match.slot)

    :param matches: all matches of the cycle that were delivered; for a pool of files all, whatever the program prints.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    """


@hookspec(shape=AnswerShape.NOTHING, on_failure=OnFailure.REPORT)
def negotiator_cycle_ended(summary: CycleSummary, settings: Any, cycle: Cycle) -> None:
    """Observe the whole result of a cycle: matches, denials with their reasons, discarded ads, failures and timings.

    Called once a cycle, after its outcome is in the audit log. A failure is reported, and nothing else changes.

    Example::

        @hookimpl
        def negotiator_cycle_ended(summary):
            waiting = sum(denial.jobs for denial in summary.denials)
            print(f"{len(summary.matches)} matched, {waiting} waiting")

    :param summary: the result of the cycle.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    """


@hookspec(shape=AnswerShape.NOTHING, on_failure=OnFailure.REPORT, batch="changes")
def negotiator_queues_changed(changes: Sequence[QueueNotice], settings: Any, cycle: Cycle) -> None:
    """Observe changes of queues, and the queues that are still draining, to notify administrators and owners.

    Called once a cycle, after it was recorded, if there are any. A failure is reported, and nothing else changes.

    Example::

        @hookimpl
        def negotiator_queues_changed(changes, cycle):
            for notice in changes:
                if notice.change == "draining":
                    days = (cycle.now - notice.since) / 86400
                    mail(notice.owners, f"{notice.queue} is closing, since {days:.0f} days: move your jobs")

    :param changes: the changes since the last cycle, and every queue that is draining.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    """
