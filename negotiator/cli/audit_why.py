"""``negotiator audit why``, ``who`` and ``changes``: what was decided about a job or a slot, and records by their properties."""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import attrs
import click

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.record_words import Record, record_words
from negotiator.cli.phrases import number, record_time
from negotiator.cli.render import Row, print_wrapped, printable, terminal_lines
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import CORE

if TYPE_CHECKING:
    from negotiator.app.audit_why import DecisionHistory, DecisionPeriod, RuleText

_CHANGES: Final = frozenset({"admin", "reload", "recovery"})
_JOB: Final = re.compile(r"\d+(\.\d+)?", re.ASCII)
_DIGITS: Final = 12  # of a digest: enough to find it with negotiator audit bundle
_TEXTS: Final = 2  # rules whose text is printed on a terminal


def why(
    targets: CommandTargets,
    subject: str,
    kinds: tuple[str, ...],
    limit: int | None,
    *,
    full: bool,
    records: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Print the decisions about a job or a slot and the text of the rules, or records."""
    log, query = targets.audit_log, AuditQuery(kinds=frozenset(kinds), **given)
    if records:
        _print_all(log, subject, query, limit)
    elif subject:
        _print_story(log, subject, query, limit, full=full, as_json=as_json)
    else:
        _print_newest(log, query, limit, full=full, as_json=as_json)


def who(
    targets: CommandTargets,
    name: str,
    since: float | None,
    until: float | None,
    limit: int | None,
    *,
    as_json: bool,
) -> None:
    """Print the newest matches of a slot, a job or a user."""
    job, other = (name, "") if _JOB.fullmatch(name) else ("", name)
    query = AuditQuery(kinds=frozenset({"match"}), job=job, name=other, since=since, until=until)
    _print_newest(targets.audit_log, query, limit, as_json=as_json)


def changes(
    targets: CommandTargets, since: float | None, until: float | None, limit: int | None, *, as_json: bool
) -> None:
    """Print the newest changes by administrators and reloads of the bundle."""
    query = AuditQuery(kinds=_CHANGES, since=since, until=until)
    nothing = "no change by an administrator, and no reload of the bundle,"
    _print_newest(targets.audit_log, query, limit, as_json=as_json, nothing=nothing)


def _print_all(log: Path, subject: str, query: AuditQuery, limit: int | None) -> None:
    """Print the records of the whole log, one JSON object a line, the oldest one first."""
    from negotiator.app.audit_why import records_about  # noqa: PLC0415 - imports NumPy

    found: Iterable[Record] = records_about(log, subject, query)
    last = None
    for last in found if limit is None else deque(found, limit):
        click.echo(json.dumps(last))
    if last is None:
        _exit_without_record(log)


def _print_newest(
    log: Path,
    query: AuditQuery,
    limit: int | None,
    *,
    full: bool = False,
    as_json: bool,
    nothing: str = "no such record",
) -> None:
    screen = None if full else terminal_lines()
    page = audit_page(log, query, limit or screen or sys.maxsize)
    if as_json:
        for record in page.records:
            click.echo(json.dumps(record))
    else:
        headers = ("TIME", "KIND", "WHO", "WHAT", "WHY", "BUNDLE")
        rows = [_record_row(each) for each in page.records]
        table = ScreenTable("Records, the newest one first", headers, rows, noun="record")
        details = "Details: --limit, --since, --until, or --json"
        print_tables([table], full=full or limit is not None, details=details)
    if page.before is not None:
        more = "there may be more" if page.searched else "the search ended before the beginning of the log"
        click.echo(f"{more}: use --limit, --since or --until", err=True)
    if not page.records:
        _exit_without_record(log, nothing)


def _exit_without_record(log: Path, nothing: str = "no such record") -> NoReturn:
    click.echo(f"{nothing} in {log}", err=True)
    sys.exit(ExitCode.NOT_DONE)


def _record_row(record: Record) -> Row:
    words = record_words(record)
    fields = (
        record_time(str(record.get("time", ""))),
        str(record.get("kind", "")),
        words.who,
        words.what,
        f"{words.why} ({words.source})" if words.source else words.why,
        str(record.get("new_bundle") or record.get("bundle") or "")[:_DIGITS],
    )
    return tuple(map(printable, fields))


def _print_story(
    log: Path, subject: str, query: AuditQuery, limit: int | None, *, full: bool, as_json: bool
) -> None:
    """Print the decisions about a job or a slot, the newest one first, and the text of the rules."""
    from negotiator.app.audit_why import decision_history  # noqa: PLC0415 - imports NumPy

    found = decision_history(log, subject, query, limit)
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
    if not found.is_complete and limit is not None:
        click.echo("there may be more: use --limit, --since or --until", err=True)
    elif not found.is_complete:
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
