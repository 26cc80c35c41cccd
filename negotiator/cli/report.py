"""Prints a cycle for ``negotiator run``: the matches, why other jobs were not matched, and the discarded ads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from negotiator.app.cycle_report import (
    CycleResult,
    DiscardedAds,
    Removal,
    RequestOutcome,
)
from negotiator.app.why.idle import is_other_state, states_text
from negotiator.bundle.model import Bundle
from negotiator.cli.overruns import JOB_COLUMNS, LIMIT_COLUMNS, job_rows
from negotiator.cli.overruns import limit_rows as exceeded_rows
from negotiator.cli.phrases import number, rule
from negotiator.cli.render import print_table, print_wrapped, printable
from negotiator.cli.selection import Selection
from negotiator.cli.time_limits import COLUMNS, limit_rows
from negotiator.hooks.answers import HookFailure, SlowCalls
from negotiator.hooks.records import Match
from negotiator.records import Mode, Problem, Provenance, Reason

#: Legend of the counts in the tables of unmatched requests.
LEGEND = "REMOVED: slots that a reason removed from the remaining ones; REJECTED: slots that it rejects, independent of other reasons"
#: Jobs named for a rule that is not enforced.
EXAMPLES = 3


def print_report(
    problems: Sequence[Problem], result: CycleResult, bundle: Bundle, selection: Selection
) -> None:
    """Print the decisions of a cycle for people; ``problems`` are those of the ads, which were printed before."""
    _heading(problems, result, bundle)
    matches, unmatched = selection.matches(result), selection.unmatched(result)
    _matched(matches)
    if selection.is_part and not (matches or unmatched):
        click.echo("No job that takes part in this cycle is selected.\n")
    for outcome in unmatched:
        _unmatched(outcome, result.counts.admitted_slots)
    if any(outcome.removals for outcome in unmatched):
        print_wrapped(LEGEND)
        click.echo()
    print_table("Time limits that were reached", COLUMNS, [*limit_rows(result)], right=(1,))
    print_table(
        "Discarded ads",
        ("KIND", "COUNT", "VERDICT", "REASON", "RULE", "EXAMPLES"),
        [
            (item.kind, str(item.count), item.reason.verdict, *_reason(item))
            for item in result.discarded
            if item.reason.mode is Mode.ENFORCE and not is_other_state(item)
        ],
        right=(1,),
    )
    print_table(
        "Not enforced: ads and matches that rules in mode warn or dryrun would have rejected",
        ("KIND", "COUNT", "MODE", "REASON", "RULE", "EXAMPLES"),
        [*_gates_not_enforced(result), *_matches_not_enforced(result)],
        right=(1,),
    )
    print_table(
        "Overruns: limits that are exceeded by what is in use",
        LIMIT_COLUMNS,
        [*exceeded_rows(result)],
        right=(2, 3),
    )
    print_table("Overruns: running jobs that a policy would deny", JOB_COLUMNS, [*job_rows(result)])
    if result.unjudged:
        click.echo(f"{number(result.unjudged, 'running job')} unknown: not every policy could judge them.\n")
    print_table(
        "Queues",
        ("QUEUE", "CHANGE"),
        [(change.path, change.change) for change in result.changes],
    )
    print_plugin_failures(result.failures)


def print_plugin_failures(failures: Sequence[HookFailure | SlowCalls]) -> None:
    """Print the failures of plugins, and their slow calls; nothing if there are none."""
    print_table(
        "Plugins that failed, or were slow",
        ("PLUGIN", "HOOK", "DETAIL"),
        [(f"{item.plugin} {item.version}", item.hook, item.detail) for item in failures],
    )


def _matched(matches: Sequence[Match]) -> None:
    preempting = any(match.preempts for match in matches)
    rows = [
        (
            *(match.job, match.submitter, match.slot, match.queue, f"{match.rank:g}"),
            *((_preempted(match),) if preempting else ()),
            ", ".join(reason.provenance.rule for reason in match.warnings if reason.mode is Mode.WARN),
        )
        for match in matches
    ]
    title = f"Matched: {number(len(matches), 'job')}"
    columns = (
        "JOB",
        "SUBMITTER",
        "SLOT",
        "QUEUE",
        "RANK",
        *(("ENDS JOB OF",) if preempting else ()),
        "WARNINGS",
    )
    print_table(title, columns, rows, right=(4,))


def _preempted(match: Match) -> str:
    return f"{match.preempts.user} (by {match.preempts.by})" if match.preempts else ""


def _reason(item: DiscardedAds) -> tuple[str, ...]:
    return item.reason.text, rule(item.reason), ", ".join(item.examples)


def _gates_not_enforced(result: CycleResult) -> Iterator[tuple[str, ...]]:
    for item in result.discarded:
        if item.reason.mode is not Mode.ENFORCE:
            yield item.kind, str(item.count), item.reason.mode, *_reason(item)


def _matches_not_enforced(result: CycleResult) -> Iterator[tuple[str, ...]]:
    """Count the matches that each rule would have rejected; their jobs might have got other slots."""
    jobs: dict[Provenance, tuple[Reason, list[str]]] = {}
    for match in result.matches:
        for reason in match.warnings:
            jobs.setdefault(reason.provenance, (reason, []))[1].append(match.job)
    for reason, names in jobs.values():
        examples = ", ".join(names[:EXAMPLES])
        yield "match", str(len(names)), reason.mode, reason.text, rule(reason), examples


def _heading(problems: Sequence[Problem], result: CycleResult, bundle: Bundle) -> None:
    counts = result.counts
    ads = (
        number(counts.schedds, "schedd"),
        number(counts.submitters, "submitter"),
        number(counts.slots, "slot"),
        number(counts.jobs, "job"),
    )
    above = f"; {number(len(problems), 'problem')} of ads, above" if problems else ""
    print_wrapped(f"Cycle {result.number} over {', '.join(ads)}{above}")
    print_wrapped(
        f"Policies: {printable(str(bundle.folder))} (sha256 {result.digest[:12]}), plugins: {', '.join(result.plugins) or 'none'}"
    )
    print_wrapped(
        f"Admitted: {number(counts.admitted_slots, 'slot')}, {number(counts.admitted_jobs, 'job')}"
        f" in {number(counts.requests, 'request')}"
    )
    if states := states_text(result):
        print_wrapped(states)
    click.echo()


def _unmatched(outcome: RequestOutcome, slots: int) -> None:
    request = outcome.request
    matched = f", {len(outcome.matches)} of them matched" if outcome.matches else ""
    jobs = f"{number(request.count, 'job')} like {request.first_job}"
    queue = f" in {printable(request.queue)}" if request.queue else ""
    title = f"Not matched: {printable(request.submitter)}, {jobs}{queue}{matched}; of {number(slots, 'slot')}, {outcome.candidates} are candidates"
    print_table(
        title,
        ("REMOVED", "REJECTED", "VERDICT", "REASON", "RULE"),
        [_removal(item) for item in outcome.removals],
        right=(0, 1),
    )


def _removal(item: Removal) -> tuple[str, ...]:
    return str(item.removed), str(item.rejected), _verdict(item.reason), item.reason.text, rule(item.reason)


def _verdict(reason: Reason) -> str:
    return reason.verdict if reason.mode is Mode.ENFORCE else f"{reason.mode} only"
