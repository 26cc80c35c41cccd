"""``negotiator why`` and ``idle``: why jobs get no slot, or a slot no job."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import click

from negotiator.app.why.answer import WhyTable, WhyText, why_answer
from negotiator.app.why.idle import IdleBy, idle_groups, idle_report, idle_values, selected
from negotiator.app.why.slot import WhyNot, why_not_values
from negotiator.app.why.slot import why_not as find_why_not
from negotiator.app.why.subject import WhyKind
from negotiator.app.why.texts import idle_text
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.phrases import sentence
from negotiator.cli.problems import print_problems, print_problems_of_ads
from negotiator.cli.render import print_wrapped, printable, terminal_lines, wrapped_lines
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def why(
    word: str, slot: str | None, kind: str | None, targets: CommandTargets, *, full: bool, as_json: bool
) -> None:
    """Print why a job, or the jobs of a user or a queue, get no slot, or a slot no job, or why a job does not get a certain slot."""
    if slot is not None:
        if kind not in {None, WhyKind.JOB}:
            raise click.UsageError(f"with a SLOT, {word!r} is the id of a job: leave out --{kind}")
        _why_not(word, slot, targets, as_json=as_json)
        return
    view = load_view(targets)
    answer = why_answer(view, word, WhyKind(kind) if kind else None)
    print_failures(answer.failures)
    if as_json:
        click.echo(json.dumps(answer.values, indent=2))
        return
    print_problems_of_ads(view.snapshot.problems, full=False)
    print_text(answer.text, full=full, details="Details: --full, --json")


def print_text(text: WhyText, *, full: bool, details: str) -> None:
    """Print an answer, on a terminal what fits of it unless ``full``; ``details`` is how to print the rest."""
    heading = [line for each in text.sentences for line in wrapped_lines(printable(each))]
    print_tables([*map(_table, text.tables)], full=full, details=details, heading=heading)


def _table(table: WhyTable) -> ScreenTable:
    return ScreenTable(table.title, table.headers, table.rows, table.numbers, table.noun)


def _why_not(job: str, slot: str, targets: CommandTargets, *, as_json: bool) -> None:
    """Print why a job does not get a slot."""
    view = load_view(targets)
    answer = find_why_not(view, job, slot)
    if as_json:
        click.echo(json.dumps(why_not_values(answer), indent=2))
        return
    print_problems_of_ads(view.snapshot.problems, full=False)
    for line in _answer_of_slot(answer):
        print_wrapped(printable(line))


def _answer_of_slot(answer: WhyNot) -> Iterator[str]:
    found = answer.found
    yield f"Job {answer.job} and {answer.slot}"
    yield from (f"  {sentence(each)}" for each in (*found.reasons, *found.quotas))
    if found.reasons or found.quotas:
        return
    if found.chosen == answer.slot:
        yield "Nothing keeps them apart: alone the job would get this slot."
    else:
        other = f"prefers {found.chosen}" if found.chosen else "gets no slot"
        yield f"Nothing keeps them apart, but alone the job {other}."


def idle(
    targets: CommandTargets, by: str, user: str, queue: str | None, *, full: bool, as_json: bool
) -> None:
    """Print why the idle jobs of a pool get no slot."""
    view = load_view(targets)
    report = idle_report(view)
    print_problems(view.snapshot.problems, err=True)
    print_failures(report.failures)
    report = selected(report, user, queue)
    if as_json:
        click.echo(json.dumps(idle_values(report), indent=2))
    else:
        group = IdleBy(by)
        groups = idle_groups(report.idle, group, by_text=True)
        room = terminal_lines()
        if not full and room is not None and len(groups) > room:
            groups = idle_groups(report.idle, group)
        text = idle_text(report, group, groups)
        details = "Details: --full, --by user or queue, or negotiator why JOB"
        print_text(text, full=full, details=details)
    sys.exit(ExitCode.PLUGIN if report.failures else ExitCode.DONE)
