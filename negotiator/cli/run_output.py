"""The output of ``negotiator run``: tables if it ends after some cycles, timestamped lines if it runs on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import attrs
import click

from negotiator.app.cycle_report import CycleProgress, CycleReport, CycleResult, ReuseReport, cycle_values
from negotiator.app.runner import AdminResult, DeliveryStatus, Reload, RunObserver
from negotiator.app.shadow import ShadowReport, ShadowTotals, report_values, totals_values
from negotiator.app.status import status_of
from negotiator.bundle import Bundle
from negotiator.cli.cycle_summary import print_summary
from negotiator.cli.event_log import level_number
from negotiator.cli.options import LEVELS
from negotiator.cli.overruns import print_overrun_changes
from negotiator.cli.problems import located, print_problems, print_problems_of_ads
from negotiator.cli.progress import ProgressLine
from negotiator.cli.render import printable
from negotiator.cli.report import print_plugin_failures, print_report
from negotiator.cli.selection import Selection
from negotiator.cli.shadow import print_shadow_report
from negotiator.cli.time_limits import owner
from negotiator.errors import BundleError, NegotiatorError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.plugin_watch import LongCall
from negotiator.hooks.records import Match
from negotiator.records import Problem, Severity

_CLOCK_DOUBTED = "matches that the pool does not show yet stay counted for claim_timeout of proven time"
_BYPASSES = 20  # rules of a cycle that are printed
_DIGITS = 12  # of a digest: enough to find it with negotiator audit bundle
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "info"}


class RunOutput(RunObserver, Protocol):
    """Prints what happens while cycles run."""

    def hook_call(self, text: str) -> None:
        """Print a call of a hook."""

    def reporting_errors(self) -> AbstractContextManager[None]:
        """Return a context in which exceptions that end the run are printed."""


@attrs.frozen
class TableOutput:
    """Prints for people who wait for the end: tables to standard output, the rest to standard error.

    ``details`` is the command that prints the reasons that a summary folds. ``folder`` is the folder of the bundle. With ``as_json`` each cycle is one JSON object instead of tables.
    """

    folder: Path
    as_json: bool = False
    selection: Selection = attrs.field(factory=Selection)
    line: ProgressLine = attrs.field(factory=ProgressLine)
    details: str = "--full"

    def problems(self, problems: Iterable[Problem]) -> None:
        """Print problems with the lines they are in."""
        print_problems(problems, folder=self.folder, err=True)

    def notice(self, text: str) -> None:
        """Print a notice, such as of a repair of the audit log."""
        click.echo(f"warning: {printable(text)}", err=True)

    def peer(self, text: str) -> None:
        """Print a sentence on a daemon or a tool of a live pool."""
        click.echo(f"warning: {printable(text)}", err=True)

    def hook_call(self, text: str) -> None:
        """Print a call of a hook."""
        click.echo(text, err=True)

    def admin(self, done: AdminResult) -> None:
        """Print a request of an administrator, and its answer."""
        request = done.request
        click.echo(f"{request.action} by {printable(request.by)}: {printable(done.answer.text)}", err=True)

    def reload(self, reload: Reload) -> None:
        """Print an attempt to reload the bundle, after the problems of the bundle."""
        self.problems(_shown(reload))
        state = "is active" if reload.bundle else "has errors: the previous one stays active"
        click.echo(
            f"reload ({printable(reload.trigger)}): bundle {reload.digest[:_DIGITS]} {state}", err=True
        )

    def plugin_call(self, call: LongCall) -> None:
        """Print a call of a plugin that goes on for long, and that it has ended."""
        click.echo(f"warning: {printable(str(call))}", err=True)

    def progress(self, progress: CycleProgress) -> None:
        """Show the progress of a long cycle."""
        self.line(progress)

    def decisions(self, problems: Sequence[Problem], result: CycleResult, bundle: Bundle) -> bool:
        """Print the summary, the tables or the records (JSON) of a cycle; True if all matches were listed."""
        self.line.hide()
        detailed = self.as_json or self.selection.is_detailed
        above = print_problems_of_ads(problems, full=detailed)
        if self.as_json:
            _print_json(result)
            return True
        if detailed:
            print_report(problems, result, bundle, self.selection)
        else:
            print_summary(problems, result, bundle, self.details, above)
        sys.stdout.flush()
        return len(self.selection.matches(result)) == len(result.matches) if detailed else not result.matches

    def cycle(self, report: CycleReport) -> None:
        """Print a doubted clock, the plugins that failed to observe the cycle, and the head of the audit log."""
        if report.clock_jump:
            text = f"moved {report.clock_jump:+.0f} s more than is proven: {_CLOCK_DOUBTED}"
            click.echo(f"clock: {text}", err=True)
        if self.as_json:
            return
        print_plugin_failures((*report.observers, *report.slow))
        if not self.selection.is_detailed:
            click.echo("Details: --full, or --user NAME, --queue PATH, --job ID")
        if report.head:
            click.echo(f"Audit log head: {report.head}")

    def shadow(self, report: ShadowReport, totals: ShadowTotals) -> None:
        """Print nothing: only cycles that run on are compared."""

    def no_cycle(self, error: NegotiatorError) -> None:
        """Print why a cycle did not take place."""
        click.echo(f"no cycle: {printable(str(error))}", err=True)

    def reporting_errors(self) -> AbstractContextManager[None]:
        """Return a context that leaves exceptions to the program, which prints them."""
        return nullcontext()


@attrs.frozen
class LogOutput:
    """Prints one line an event, with time, level and fields, to standard error.

    With ``as_json`` each cycle is one JSON object on standard output as well. ``level`` is the level of ``log``.
    ``lists_matches``: with a line for each match, which the log of the pool may have instead.
    """

    log: Any  # a bound logger of structlog, whose methods depend on the level
    folder: Path
    as_json: bool = False
    level: str = "info"
    line: ProgressLine = attrs.field(factory=ProgressLine)
    lists_matches: bool = True

    def problems(self, problems: Iterable[Problem]) -> None:
        """Print a line for each problem."""
        for problem in problems:
            place = located(problem, self.folder)
            where = {"file": place, "line": problem.source.line} if problem.source.line else {"file": place}
            fields = {**where, "hint": problem.hint} if problem.hint else where
            self.log.log(level_number(_LEVEL[problem.severity]), "problem", message=problem.message, **fields)

    def notice(self, text: str) -> None:
        """Print a notice, such as of a repair of the audit log."""
        self.log.warning("notice", detail=text)

    def peer(self, text: str) -> None:
        """Print a sentence on a daemon or a tool of a live pool."""
        self.log.warning("peer", detail=text)

    def hook_call(self, text: str) -> None:
        """Print a call of a hook, at any level but warning and error."""
        self.log.info("hook call", call=text)

    def admin(self, done: AdminResult) -> None:
        """Print a request of an administrator, and its answer."""
        request = done.request
        write = self.log.info if done.answer.ok else self.log.warning
        write(
            "admin request done" if done.answer.ok else "admin request refused",
            action=str(request.action),
            user=request.by,
            application=request.application,
            answer=done.answer.text,
        )

    def reload(self, reload: Reload) -> None:
        """Print an attempt to reload the bundle, after the problems of the bundle."""
        self.problems(_shown(reload))
        fields = {"bundle": reload.digest[:_DIGITS], "trigger": reload.trigger}
        if reload.bundle:
            self.log.info("bundle reloaded", **fields)
        else:
            self.log.error("bundle rejected, the previous one stays active", **fields)

    def plugin_call(self, call: LongCall) -> None:
        """Print a call of a plugin that goes on for long, and that it has ended."""
        about = {"about": printable(call.about)} if call.about else {}
        event = "plugin call ended" if call.has_ended else "plugin call goes on"
        self.log.warning(event, call=call.subject, seconds=round(call.seconds, 1), **about)

    def progress(self, progress: CycleProgress) -> None:
        """Show the progress of a long cycle."""
        self.line(progress)

    def decisions(self, problems: Sequence[Problem], result: CycleResult, bundle: Bundle) -> bool:  # noqa: ARG002 - tables name its folder
        """Print the changes of queues and the matches, at level info; True if the matches were printed."""
        self.line.hide()
        self.problems(problems)
        self._failures(result.failures)
        for change in result.changes:
            self.log.info("queue changed", queue=change.path, change=str(change.change))
        for match in result.matches if self.lists_matches else ():
            self.log.info("match", **_match_fields(match))
        if self.as_json:
            _print_json(result)
        return self.as_json or (self.lists_matches and LEVELS.index(self.level) <= LEVELS.index("info"))

    def cycle(self, report: CycleReport) -> None:
        """Print the summary of a cycle, the matches that were not delivered, and changes of overruns."""
        result = report.result
        if report.clock_jump:
            self.log.warning("clock jumped", seconds=round(report.clock_jump), detail=_CLOCK_DOUBTED)
        for reached in result.reached:
            self.log.warning("time limit reached", of=owner(reached), detail=reached.reason.text)
        self._failures(report.observers)
        for slow in report.slow:
            self.log.warning("plugin slow", plugin=slow.plugin, hook=slow.hook, detail=slow.detail)
        for delivery in report.deliveries:
            if delivery.status is DeliveryStatus.FAILED:
                self.log.warning("match not delivered", **_match_fields(delivery.match), detail=delivery.text)
        print_overrun_changes(self.log, report)
        overruns = {"overruns": len(result.overruns)} if result.overruns else {}
        unjudged = {"unjudged": result.unjudged} if result.unjudged else {}
        self._reuse(report.reuse_before or ReuseReport(), report.reuse or ReuseReport())
        self.log.info(
            "cycle",
            number=result.number,
            slots=result.counts.slots,
            jobs=result.counts.jobs,
            matched=len(result.matches),
            unmatched=sum(outcome.unmatched for outcome in result.outcomes),
            discarded=sum(each.count for each in result.discarded),
            **overruns,
            **unjudged,
            bundle=result.digest[:_DIGITS],
            **({"head": report.head} if report.head else {}),
        )

    def shadow(self, report: ShadowReport, totals: ShadowTotals) -> None:
        """Print what the pool's negotiator did since a cycle, and the totals: at most a screen."""
        print_shadow_report(self.log, report, totals)
        if self.as_json:
            click.echo(json.dumps({"shadow_report": report_values(report), "totals": totals_values(totals)}))

    def no_cycle(self, error: NegotiatorError) -> None:
        """Print why a cycle did not take place."""
        self.log.error("no cycle", message=str(error))

    def _reuse(self, before: ReuseReport, now: ReuseReport) -> None:
        """Print which rules further jobs of a claim may break since a cycle, and which no longer."""
        for change, found, known in (("begun", now, before), ("ended", before, now)):
            new = [each for each in found.bypasses if each not in known.bypasses]
            write = self.log.warning if change == "begun" else self.log.info
            for each in new[:_BYPASSES]:
                place = {"place": str(each.source)} if each.source else {}
                write("rule can be bypassed", change=change, rule=each.rule, **place, why=each.why)
            if len(new) > _BYPASSES:
                write("rule can be bypassed", change=change, other_rules=len(new) - _BYPASSES)
        for note in now.notes:
            if note not in before.notes:
                self.log.info("claims", slots=f"{now.one_job} of {now.slots}", detail=note)

    def _failures(self, failures: Iterable[HookFailure]) -> None:
        for failure in failures:
            self.log.warning("plugin failed", plugin=failure.plugin, hook=failure.hook, detail=failure.detail)

    @contextmanager
    def reporting_errors(self) -> Iterator[None]:
        """Print an exception that ends the run as a line, and exit with its code."""
        try:
            yield
        except NegotiatorError as error:
            if isinstance(error, BundleError):
                self.problems(error.problems)
                self.log.error("the bundle has errors")  # noqa: TRY400 - no traceback for a mistake of the user
            else:
                self.log.error("ended by an error", message=str(error))  # noqa: TRY400 - the same
            sys.exit(status_of(error).exit_code)


def _shown(reload: Reload) -> tuple[Problem, ...]:
    """Return the problems to print: the errors of a bundle that was rejected, else its warnings."""
    if reload.bundle is None:
        return reload.errors
    return tuple(each for each in reload.problems if each.severity is Severity.WARNING)


def _print_json(result: CycleResult) -> None:
    click.echo(json.dumps(cycle_values(result), sort_keys=True))
    sys.stdout.flush()


def _match_fields(match: Match) -> dict[str, str]:
    return {"id": match.id, "job": match.job, "slot": match.slot, "queue": match.queue}
