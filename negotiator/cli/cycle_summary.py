"""Prints the summary of a cycle: what the idle jobs got and why others got nothing, as much of it as the terminal has room for.

The heading answers first. Then come the reasons that leave idle jobs without a slot, those that deny before those that wait, the
matches, the ads that were set aside, and what else an administrator should know. In a pipe or a file nothing is left out. On a
terminal the reasons have the first claim to its lines, and what is folded has its number and the command that shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs
import click

from negotiator.app.cycle_report import CycleResult
from negotiator.app.why.idle import IdleBy, IdleGroup, idle_groups, idle_jobs, states_text
from negotiator.bundle.model import Bundle
from negotiator.cli.overruns import overrun_lines
from negotiator.cli.phrases import number, rule
from negotiator.cli.render import (
    coloured,
    hanging_lines,
    printable,
    terminal_lines,
    uses_colour,
    wrapped_lines,
)
from negotiator.cli.time_limits import limit_lines
from negotiator.hooks.ad_kinds import AdKind
from negotiator.records import CORE, Mode, Problem, Reason

#: Lines that follow the summary: how to see more, and the head of the audit log, which may take two.
_FOOTER: Final = 3
#: Rows of matches and of set-aside ads that come before blank lines do.
_FEW: Final = 3
_COUNT: Final = 7  # columns


@attrs.frozen
class _SummaryPart:
    """A part of the summary: its title, its rows with what each counts, and a noun for the rows that are folded.

    ``rows`` have the lines of each row, ``after`` are lines that follow them. ``wanted`` rows come before blank lines do.
    """

    title: Sequence[str]
    rows: Sequence[Sequence[str]] = ()
    amounts: Sequence[int] = ()
    noun: str = ""
    details: str = ""
    wanted: int = 0
    after: Sequence[str] = ()

    def lines(self, most: int | None = None) -> list[str]:
        """Return the title and the rows in so many lines, with the number of those that are folded; everything if None."""
        whole = [*self.title, *(line for row in self.rows for line in row), *self.after]
        if most is None or len(whole) <= most:
            return whole
        shown, left = [*self.title], most - len(self.title)
        for place, row in enumerate(self.rows):
            folded = self._folded(place + 1)
            if len(row) + len(folded) > left:
                return [*shown, *self._folded(place)][: max(most, len(self.title))]
            shown += row
            left -= len(row)
        return shown

    def needed(self, rows: int) -> int:
        """Return the lines of the title and of the first rows, with those for the others."""
        rows = min(rows, len(self.rows))
        return len(self.title) + sum(map(len, self.rows[:rows])) + len(self._folded(rows))

    def _folded(self, shown: int) -> Sequence[str]:
        others = len(self.rows) - shown
        if not others:
            return self.after
        what = f"{number(others, f'other {self.noun}')}{f': {self.details}' if self.details else ''}"
        return hanging_lines(f"{sum(self.amounts[shown:]):{_COUNT}}  ", what)


def print_summary(
    problems: Sequence[Problem], result: CycleResult, bundle: Bundle, details: str = "--full", above: int = 0
) -> None:
    """Print the summary of a cycle.

    :param details: the command that prints all reasons of idle jobs without a slot.
    :param above: the lines of the terminal that the problems of ads take.
    """
    screen = terminal_lines()
    heading = [*_heading(problems, result, bundle)]
    room = None if screen is None else max(screen - len(heading) - _FOOTER - above, _FEW)
    others = [*_matched(result), *_set_aside(result), *_notes(result)]
    reasons = [*_without_slot(result, details, None if room is None else room - _titles(others))]
    parts = [*reasons, *others]
    shown, is_airy = _fitting(parts, room)
    for place, lines in enumerate((heading, *shown)):
        if place and is_airy:
            click.echo()
        for line in lines:
            click.echo(line, color=uses_colour())
    if is_airy:
        click.echo()


def _titles(parts: Iterable[_SummaryPart]) -> int:
    return sum(len(part.title) for part in parts)


def _fitting(parts: Sequence[_SummaryPart], room: int | None) -> tuple[list[list[str]], bool]:
    """Return the lines of each part in so many lines, and whether blank lines fit between them; the first parts come first."""
    if room is None:
        return [part.lines() for part in parts], True
    shares = [len(part.title) for part in parts]
    left = room - sum(shares)
    blank = len(parts) + 1
    is_airy = False
    for is_last in (False, True):
        for place, part in enumerate(parts):
            wanted = len(part.lines()) if is_last or not part.wanted else part.needed(part.wanted)
            more = min(max(wanted - shares[place], 0), max(left, 0))
            shares[place] += more
            left -= more
        if not is_last and left >= blank:
            is_airy, left = True, left - blank
    return [part.lines(share) for part, share in zip(parts, shares, strict=True)], is_airy


def _heading(problems: Sequence[Problem], result: CycleResult, bundle: Bundle) -> Iterator[str]:
    idle = idle_jobs(result)
    matched, blocked = len(result.matches), sum(each.jobs for each in idle)
    answer = f"{matched} matched, {blocked} not matched" if matched or blocked else "nothing to match"
    over = ", ".join((number(result.counts.slots, "slot"), number(matched + blocked, "idle job")))
    yield from wrapped_lines(f"Cycle {result.number} over {over}: {answer}")
    if states := states_text(result):
        yield from wrapped_lines(states)
    yield from wrapped_lines(f"Policies: sha256 {result.digest[:12]}, {printable(str(bundle.folder))}")
    if problems:
        yield f"Ads: {number(len(problems), 'problem')}, above"


def _without_slot(result: CycleResult, details: str, room: int | None) -> Iterator[_SummaryPart]:
    """Yield the idle jobs without a slot by reason: each of its own, or where there is no room those of one rule together."""
    idle = idle_jobs(result)
    if not idle:
        return
    total = sum(each.jobs for each in idle)
    title = click.style(f"Not matched: {number(total, 'idle job')}, by the reason that decided", bold=True)
    single = _reasons(title, idle_groups(idle, IdleBy.REASON, by_text=True), details)
    if room is None or len(single.lines()) <= room:
        yield single
        return
    yield _reasons(title, idle_groups(idle, IdleBy.REASON), details)


def _reasons(title: str, groups: Sequence[IdleGroup], details: str) -> _SummaryPart:
    after = []
    if any(group.reasons > 1 for group in groups):
        after = hanging_lines(" " * (_COUNT + 2), f"each of them: {details}")
    return _SummaryPart(
        [title],
        [_reason_row(group) for group in groups],
        [group.jobs for group in groups],
        noun="reason",
        details=details,
        after=after,
    )


def _reason_row(group: IdleGroup) -> Sequence[str]:
    reason = group.most.reason
    more = f" (and {group.reasons - 1} more like it)" if group.reasons > 1 else ""
    return _counted(group.jobs, str(reason.verdict), f"{_with_rule(reason)}{more}")


def _counted(count: int, verdict: str, text: str) -> Sequence[str]:
    return hanging_lines(
        f"{count:{_COUNT}}  {verdict}  ",
        printable(text),
        f"{count:{_COUNT}}  {coloured('VERDICT', verdict)}  ",
    )


def _with_rule(reason: Reason) -> str:
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{reason.text}{where}"


def _matched(result: CycleResult) -> Iterator[_SummaryPart]:
    """Yield the number of matches of each submitter and queue, the most first."""
    counts = Counter((match.submitter, match.queue) for match in result.matches).most_common()
    if not counts:
        return
    rows = [
        hanging_lines(f"{count:{_COUNT}}  ", printable(f"{submitter}{f' in {queue}' if queue else ''}"))
        for (submitter, queue), count in counts
    ]
    title = click.style(f"Matched: {number(len(result.matches), 'job')}", bold=True)
    yield _SummaryPart([title], rows, [count for _, count in counts], "submitter", "--full", _FEW)


def _set_aside(result: CycleResult) -> Iterator[_SummaryPart]:
    """Yield the reasons that set slots, submitters and schedds aside; those of jobs are among the reasons of jobs."""
    found = [
        each for each in result.discarded if each.reason.mode is Mode.ENFORCE and each.kind is not AdKind.JOB
    ]
    if not found:
        return
    found.sort(key=lambda each: -each.count)
    rows = [
        _counted(each.count, str(each.reason.verdict), f"{each.kind}: {_with_rule(each.reason)}")
        for each in found
    ]
    title = click.style(f"Set aside: {number(sum(each.count for each in found), 'ad')}", bold=True)
    yield _SummaryPart([title], rows, [each.count for each in found], "reason", "--full", _FEW)


def _notes(result: CycleResult) -> Iterator[_SummaryPart]:
    """Yield the time limits that were reached, what is not enforced, overruns, changes of queues, and failures of plugins."""
    yield from _note("Out of time", [*limit_lines(result)])
    if (found := _not_enforced(result)) is not None:
        yield found
    exceeded, broken = overrun_lines(result)
    yield from _note(f"Overruns: {number(len(exceeded), 'limit')} exceeded", exceeded, "yellow")
    jobs = number(result.jobs_in_overrun, "job")
    verb = "runs" if result.jobs_in_overrun == 1 else "run"
    yield from _note(f"Overruns: {jobs} {verb} against {number(len(broken), 'rule')}", broken, "yellow")
    if result.unjudged:
        text = "not every policy could judge them"
        yield from _note(f"Unknown: {number(result.unjudged, 'running job')}", [text])
    if result.changes:
        kinds = Counter(str(change.change) for change in result.changes)
        yield _SummaryPart([f"Queues: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}"])
    failures = [*map(str, result.failures)]
    yield from _note(f"Failures of plugins: {len(failures)}", failures, "red")


def _note(title: str, texts: Sequence[str], colour: str | None = None) -> Iterator[_SummaryPart]:
    """Yield a part whose title has the first text, and whose rows are the others."""
    if not texts:
        return
    shown = click.style(title, fg=colour, bold=not colour)
    first = hanging_lines(f"{title}: ", printable(texts[0]), f"{shown}: ")
    rows = [hanging_lines(" " * (_COUNT + 2), printable(text)) for text in texts[1:]]
    yield _SummaryPart(first, rows, [1] * len(rows), "one", "--full")


def _not_enforced(result: CycleResult) -> _SummaryPart | None:
    """Return how much rules in mode warn or dryrun would have rejected, and each of these rules, if there are several."""
    matches = sum(1 for match in result.matches if match.warnings)
    discarded = [each for each in result.discarded if each.reason.mode is not Mode.ENFORCE]
    ads = sum(each.count for each in discarded)
    by_rule = Counter(_rule_and_mode(reason) for match in result.matches for reason in match.warnings)
    for each in discarded:
        by_rule[_rule_and_mode(each.reason)] += each.count
    if not by_rule:
        return None
    found = " and ".join(number(*each) for each in ((matches, "match"), (ads, "ad")) if each[0])
    ranked = by_rule.most_common()
    name, count = ranked[0]
    many = f"{count} of them by" if len(by_rule) > 1 else "by"
    title = wrapped_lines(printable(f"Not enforced: {found} would have been rejected, {many} {name}"))
    rows = [hanging_lines(f"{count:{_COUNT}}  ", printable(name)) for name, count in ranked[1:]]
    return _SummaryPart(title, rows, [count for _, count in ranked[1:]], "rule", "--full")


def _rule_and_mode(reason: Reason) -> str:
    return f"{rule(reason)}, mode {reason.mode}"
