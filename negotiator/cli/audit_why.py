"""``negotiator audit why``: what was decided about a job or a slot, and under which text of which rule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
import click

from negotiator.app.audit_why import DecisionHistory, DecisionPeriod, RuleText, decision_history
from negotiator.cli.phrases import number, record_time
from negotiator.cli.render import Row, print_wrapped, printable, terminal_lines
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.records import CORE

_DIGITS: Final = 12  # of a digest: enough to find it with negotiator audit bundle
_TEXTS: Final = 2  # rules whose text is printed on a terminal


def why(
    subject: str, folder: Path, since: float | None, until: float | None, *, full: bool, as_json: bool
) -> None:
    """Print the decisions about a job or a slot, the newest one first, and the text of the rules."""
    found = decision_history(folder, subject, since, until)
    if as_json:
        click.echo(json.dumps(attrs.asdict(found), indent=2))
        return
    heading = [printable(line) for line in _heading(found)]
    texts = list(_texts(found.periods))
    shown = texts if full or terminal_lines() is None else texts[:_TEXTS]
    table = ScreenTable(
        "Decisions, the newest first",
        ("DECISION", "TIMES", "FIRST", "LAST", "WHY", "BUNDLE"),
        [_row(each) for each in found.periods],
        right=(1,),
        noun="period",
    )
    print_tables([table], full=full, heading=heading, details="Details: --full, --since, --until")
    for title, lines in shown:
        print_wrapped(printable(title))
        for line in lines:
            click.echo(f"  {printable(line)}")
    if len(texts) > len(shown):
        click.echo(f"and {number(len(texts) - len(shown), 'more rule')}: use --full")
    if not found.is_complete:
        click.echo("the search ended before the beginning of the log: use --since or --until", err=True)


def _heading(found: DecisionHistory) -> Iterator[str]:
    newest = found.periods[0]
    user = f" of {found.user}" if found.user else ""
    queue = f", in {found.queue}" if found.queue else ""
    yield f"{found.subject.capitalize()}{user}{queue}"
    what = f" to {newest.slot or newest.jobs}" if newest.slot or newest.jobs else ""
    yield f"{newest.decision.capitalize()}{what} in cycle {newest.cycle}, {record_time(newest.last)}: {_why(newest)}"


def _row(period: DecisionPeriod) -> Row:
    what = f"{period.slot or period.jobs}: " if period.slot or period.jobs else ""
    return (
        period.decision,
        str(period.times),
        record_time(period.first),
        record_time(period.last),
        printable(f"{what}{_why(period)}"),
        period.bundle[:_DIGITS],
    )


def _why(period: DecisionPeriod) -> str:
    """Return the reason, with the rule of a policy and its place."""
    rule = "" if period.plugin in {"", CORE} else period.rule
    where = " at ".join(filter(None, (rule, period.source)))
    return f"{period.why} ({where})" if where else period.why


def _texts(periods: Sequence[DecisionPeriod]) -> Iterator[tuple[str, list[str]]]:
    """Yield a title and the numbered lines of each rule, once for all bundles that have the same lines there."""
    bundles: dict[RuleText, list[str]] = {}
    for period in periods:
        if period.text is not None:
            bundles.setdefault(period.text, []).append(period.bundle[:_DIGITS])
    for text, digests in bundles.items():
        title = f"{text.file}:{text.line} in bundle {', '.join(dict.fromkeys(digests))}"
        yield title, _numbered(text) or [f"not shown: {text.problem}"]


def _numbered(text: RuleText) -> list[str]:
    """Return the lines with their numbers, and a mark at the place of the rule."""
    lines = enumerate(text.lines, text.first)
    return [f"{'>' if number == text.line else ' '}{number:>4} | {each}" for number, each in lines]
