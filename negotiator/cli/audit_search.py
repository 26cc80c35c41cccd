"""``negotiator audit search``, ``who`` and ``changes``: records of the audit log by their properties."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import click

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.record_words import Record, record_words
from negotiator.cli.phrases import record_time
from negotiator.cli.render import Row, printable, terminal_lines
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.exit_codes import ExitCode

_CHANGES: Final = frozenset({"admin", "reload", "recovery"})
_JOB: Final = re.compile(r"\d+(\.\d+)?", re.ASCII)
_DIGITS: Final = 12  # of a digest: enough to find it with negotiator audit bundle


def search(
    folder: Path, kinds: tuple[str, ...], job: str | None, limit: int | None, *, as_json: bool, **given: Any
) -> None:
    """Print the newest records that have all given properties."""
    query = AuditQuery(kinds=frozenset(kinds), job=job or "", **given)
    _print(folder, query, limit, as_json=as_json)


def who(
    name: str, folder: Path, since: float | None, until: float | None, limit: int | None, *, as_json: bool
) -> None:
    """Print the newest matches of a slot, a job or a user."""
    job, other = (name, "") if _JOB.fullmatch(name) else ("", name)
    query = AuditQuery(kinds=frozenset({"match"}), job=job, name=other, since=since, until=until)
    _print(folder, query, limit, as_json=as_json)


def changes(
    folder: Path, since: float | None, until: float | None, limit: int | None, *, as_json: bool
) -> None:
    """Print the newest changes by administrators and reloads of the bundle."""
    query = AuditQuery(kinds=_CHANGES, since=since, until=until)
    nothing = "no change by an administrator, and no reload of the bundle,"
    _print(folder, query, limit, as_json=as_json, nothing=nothing)


def _print(
    folder: Path, query: AuditQuery, limit: int | None, *, as_json: bool, nothing: str = "no such record"
) -> None:
    page = audit_page(folder, query, limit or terminal_lines() or sys.maxsize)
    if as_json:
        for record in page.records:
            click.echo(json.dumps(record))
    else:
        headers = ("TIME", "KIND", "WHO", "WHAT", "WHY", "BUNDLE")
        rows = [_row(each) for each in page.records]
        table = ScreenTable("Records, the newest one first", headers, rows, noun="record")
        print_tables([table], full=limit is not None, details="Details: --limit, --since, --until, or --json")
    if page.before is not None:
        more = "there may be more" if page.searched else "the search ended before the beginning of the log"
        click.echo(f"{more}: use --limit, --since or --until", err=True)
    if not page.records:
        click.echo(f"{nothing} in {folder}", err=True)
        sys.exit(ExitCode.NOT_DONE)


def _row(record: Record) -> Row:
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
