"""Prints the summary of a cycle: at most a screen of 24 lines, however large the pool is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeVar

import attrs
import click

from negotiator.app.cycle_report import CycleResult
from negotiator.bundle.model import Bundle
from negotiator.cli.overfills import overfill_line
from negotiator.cli.phrases import number, rule
from negotiator.cli.render import coloured, printable, terminal_columns, uses_colour
from negotiator.cli.screen import SCREEN
from negotiator.cli.table_layout import cut
from negotiator.cli.time_limits import limit_lines
from negotiator.records import CORE, Mode, Problem, Reason

#: Entries of each part. An entry of a plugin's rule has two lines.
SUBMITTERS, RULES, DISCARDS = 3, 3, 1
#: Lines that follow the summary; blank lines are left out where it would take more than a screen with them.
_FOOTER = 2

_Key: TypeAlias = tuple[object, ...]
_T = TypeVar("_T")


@attrs.define
class _BlockedJobs:
    """The jobs that one rule blocked; ``reasons`` are the texts with their numbers of jobs."""

    reason: Reason
    jobs: int = 0
    texts: Counter[str] = attrs.field(factory=Counter)


def print_summary(problems: Sequence[Problem], result: CycleResult, bundle: Bundle) -> None:
    """Print the totals of a cycle, the rules that blocked most jobs, the set-aside ads, and the failures of plugins."""
    room, colour = terminal_columns(), uses_colour()
    parts = [
        [*_heading(problems, result, bundle, room)],
        [*_matched(result)],
        [*_blocked(result, room)],
        [*_out_of_time(result, room)],
        [*_discarded(result, room)],
        [*_notes(result, room)],
    ]
    filled = [part for part in parts if part]
    is_short = sum(map(len, filled)) + len(filled) + _FOOTER <= SCREEN
    for part in filled:
        for line in part:
            click.echo(line, color=colour)
        if is_short:
            click.echo()


def _heading(
    problems: Sequence[Problem], result: CycleResult, bundle: Bundle, room: int | None
) -> Iterator[str]:
    counts = result.counts
    blocked = sum(outcome.unmatched for outcome in result.outcomes)
    ads = ", ".join((number(counts.slots, "slot"), number(counts.jobs, "job")))
    yield f"Cycle {result.number} over {ads}: {len(result.matches)} matched, {blocked} not matched"
    yield cut(f"Policies: sha256 {result.digest[:12]}, {printable(str(bundle.folder))}", room)
    if problems:
        yield f"Ads: {number(len(problems), 'problem')}, above"


def _matched(result: CycleResult) -> Iterator[str]:
    """Yield the number of matches of each submitter and queue, the most first."""
    counts = Counter((match.submitter, match.queue) for match in result.matches)
    if not counts:
        return
    yield click.style(f"Matched: {number(len(result.matches), 'job')}", bold=True)
    shown = _first(counts.most_common(), SUBMITTERS)
    for (submitter, queue), count in shown:
        where = f" in {printable(queue)}" if queue else ""
        yield f"{count:7}  {printable(submitter)}{where}"
    yield from _more(len(counts) - len(shown), sum(counts.values()), shown)


def _blocked(result: CycleResult, room: int | None) -> Iterator[str]:
    """Yield the rules that took the last slots of most jobs, each with its most frequent reason."""
    found: dict[_Key, _BlockedJobs] = {}
    for rejection in result.rejections:
        reason = rejection.reason
        # The core's own reasons name the expression of each job.
        is_core = reason.provenance.plugin == CORE
        key = (CORE if is_core else reason.provenance, reason.code, reason.verdict)
        entry = found.setdefault(key, _BlockedJobs(reason))
        entry.jobs += rejection.jobs
        entry.texts[reason.text] += rejection.jobs
    if not found:
        return
    ranked = sorted(found.values(), key=lambda each: -each.jobs)
    total = sum(each.jobs for each in ranked)
    title = f"Not matched: {number(total, 'job')}, by the rule that took their last slots"
    yield click.style(title, bold=True)
    for each in ranked[:RULES]:
        (text, _), *others = each.texts.most_common()
        more = f" ({len(others)} more like it)" if others else ""
        head = f"{each.jobs:7}  {each.reason.verdict}  "
        tail = cut(f"{printable(text)}", room and max(room - len(head) - len(more), 20))
        yield f"{each.jobs:7}  {coloured('VERDICT', str(each.reason.verdict))}  {tail}{more}"
        if each.reason.provenance.plugin != CORE:
            yield f"         {printable(rule(each.reason))}"
    yield from _more(len(ranked) - RULES, total, [(each, each.jobs) for each in ranked[:RULES]])


def _out_of_time(result: CycleResult, room: int | None) -> Iterator[str]:
    """Yield the first of those who ran out of time."""
    lines = [*limit_lines(result)]
    if not lines:
        return
    others = len(lines) - 1
    head = f"{click.style('Out of time', bold=True)}: "
    more = f" and {number(others, 'other')}" if others else ""
    yield f"{head}{cut(printable(lines[0]), room and max(room - len('Out of time: ') - len(more), 20))}{more}"


def _discarded(result: CycleResult, room: int | None) -> Iterator[str]:
    """Yield the reasons that set most ads aside."""
    enforced = [each for each in result.discarded if each.reason.mode is Mode.ENFORCE]
    if not enforced:
        return
    total = sum(each.count for each in enforced)
    yield click.style(f"Set aside: {number(total, 'ad')}", bold=True)
    ranked = sorted(enforced, key=lambda each: -each.count)
    first = _first(ranked, DISCARDS)
    for each in first:
        by = "" if each.reason.provenance.plugin == CORE else f" ({rule(each.reason)})"
        head = f"{each.count:7}  {each.reason.verdict}  "
        text = printable(f"{each.kind}: {each.reason.text}{by}")
        shown = cut(text, room and max(room - len(head), 20))
        yield f"{each.count:7}  {coloured('VERDICT', str(each.reason.verdict))}  {shown}"
    yield from _more(len(ranked) - len(first), total, [(each, each.count) for each in first])


def _notes(result: CycleResult, room: int | None) -> Iterator[str]:
    """Yield the rejections that are not enforced, the most exceeded limit, changes of queues, and the first failure of a plugin."""
    if (line := _not_enforced(result)) is not None:
        yield cut(line, room)
    if line := overfill_line(result):
        yield f"{click.style('Overfilled', fg='yellow')}: {cut(printable(line), room and room - len('Overfilled: '))}"
    if result.changes:
        kinds = Counter(str(change.change) for change in result.changes)
        yield f"Queues: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}"
    if result.failures:
        title = f"Failures of plugins: {len(result.failures)}"
        detail = cut(f": {printable(str(result.failures[0]))}", room and room - len(title))
        yield f"{click.style(title, fg='red')}{detail}"


def _not_enforced(result: CycleResult) -> str | None:
    """Return how much rules in mode warn or dryrun would have rejected, and the rule that most of it is due to."""
    matches = sum(1 for match in result.matches if match.warnings)
    discarded = [each for each in result.discarded if each.reason.mode is not Mode.ENFORCE]
    ads = sum(each.count for each in discarded)
    by_rule = Counter(_rule_and_mode(reason) for match in result.matches for reason in match.warnings)
    for each in discarded:
        by_rule[_rule_and_mode(each.reason)] += each.count
    if not by_rule:
        return None
    found = " and ".join(number(*each) for each in ((matches, "match"), (ads, "ad")) if each[0])
    ((name, count),) = by_rule.most_common(1)
    many = f"{count} of them by" if len(by_rule) > 1 else "by"
    return printable(f"Not enforced: {found} would have been rejected, {many} {name}")


def _rule_and_mode(reason: Reason) -> str:
    return f"{rule(reason)}, mode {reason.mode}"


def _first(ranked: Sequence[_T], most: int) -> Sequence[_T]:
    """Return the first entries, one line each; also the next one if it is the last, since the line "1 other" would be as long."""
    return ranked if len(ranked) == most + 1 else ranked[:most]


def _more(others: int, total: int, shown: Sequence[tuple[object, int]]) -> Iterator[str]:
    if others > 0:
        yield f"{total - sum(count for _, count in shown):7}  {number(others, 'other')}"
