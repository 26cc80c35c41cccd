"""``negotiator audit search``, ``who`` and ``changes``: records of the audit log by their properties."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.cli.render import Row, print_table, printable
from negotiator.exit_codes import ExitCode

#: A record as it was read.
Record: TypeAlias = Mapping[str, Any]

_CHANGES: Final = frozenset({"admin", "reload", "recovery"})
_JOB: Final = re.compile(r"\d+(\.\d+)?", re.ASCII)
_DIGITS: Final = 12  # of a digest: enough to find it with negotiator audit bundle
_RANGES: Final = 3  # of jobs in a cell


def search(
    folder: Path, kinds: tuple[str, ...], job: str | None, limit: int, *, as_json: bool, **given: Any
) -> None:
    """Print the newest records that have all given properties."""
    query = AuditQuery(kinds=frozenset(kinds), job=job or "", **given)
    _print(folder, query, limit, as_json=as_json)


def who(
    name: str, folder: Path, since: float | None, until: float | None, limit: int, *, as_json: bool
) -> None:
    """Print the newest matches of a slot, a job or a user."""
    job, other = (name, "") if _JOB.fullmatch(name) else ("", name)
    query = AuditQuery(kinds=frozenset({"match"}), job=job, name=other, since=since, until=until)
    _print(folder, query, limit, as_json=as_json)


def changes(folder: Path, since: float | None, until: float | None, limit: int, *, as_json: bool) -> None:
    """Print the newest changes by administrators and reloads of the bundle."""
    _print(folder, AuditQuery(kinds=_CHANGES, since=since, until=until), limit, as_json=as_json)


def _print(folder: Path, query: AuditQuery, limit: int, *, as_json: bool) -> None:
    page = audit_page(folder, query, limit)
    if as_json:
        for record in page.records:
            click.echo(json.dumps(record))
    else:
        headers = ("TIME", "KIND", "WHO", "JOB", "WHERE", "WHAT", "BUNDLE")
        print_table("Records, the newest one first", headers, [_row(each) for each in page.records])
    if page.before is not None:
        more = "there may be more" if page.searched else "the search ended after 256 MB of the log"
        click.echo(f"{more}: use --limit, --since or --until", err=True)
    if not page.records:
        click.echo(f"no such record in {folder}", err=True)
        sys.exit(ExitCode.NOT_DONE)


def _row(record: Record) -> Row:
    fields = (
        str(record.get("time", ""))[:19].replace("T", " "),
        str(record.get("kind", "")),
        str(record.get("user") or record.get("submitter") or ""),
        _jobs(record),
        str(record.get("slot") or record.get("queue") or ""),
        _what(record),
        str(record.get("new_bundle") or record.get("bundle") or "")[:_DIGITS],
    )
    return tuple(map(printable, fields))


def _jobs(record: Record) -> str:
    if record.get("kind") == "match":
        return str(record.get("job"))
    ids = record.get("job_ids") or [record.get("first_job") or record.get("application") or ""]
    more = "" if len(ids) <= _RANGES else f" and {len(ids) - _RANGES} more"
    return ", ".join(map(str, ids[:_RANGES])) + more


def _what(record: Record) -> str:
    """Return what a record says, in one sentence."""
    match record.get("kind"):
        case "denial":
            return _denial(record)
        case "match":
            return f"rank {record.get('rank')} among {record.get('candidates')} candidates"
        case "admin":
            done = "" if record.get("ok") else "refused: "
            return f"{record.get('action')}: {done}{record.get('text')}"
        case "reload":
            accepted = "is active" if record.get("accepted") else "was refused"
            return f"{record.get('trigger')}: the bundle {accepted}"
        case "recovery":
            return "; ".join(map(str, record.get("differences", ())))
        case "cycle":
            return f"{record.get('matches')} matches, {record.get('denials')} denials"
    reason = record.get("reason")
    text = reason.get("text") if isinstance(reason, dict) else record.get("message") or record.get("change")
    return str(text or "")


def _denial(record: Record) -> str:
    place, reasons = record.get("decisive"), record.get("reasons") or []
    if isinstance(place, int) and place < len(reasons):
        return f"{reasons[place].get('verdict')}: {reasons[place].get('text')}"
    return (
        "other jobs took the last slots"
        if "decisive" in record
        else "; ".join(str(each.get("text")) for each in reasons[:1])
    )
