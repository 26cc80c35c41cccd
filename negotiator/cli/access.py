"""``negotiator access``: the permissions of a user, and the access control lists that grant them."""

from __future__ import annotations

import json
from typing import Any

import click

from negotiator.app.access import AccessAnswer, AccessReport, access_report
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.render import print_table, printable
from negotiator.hooks.access import AccessKind
from negotiator.hooks.command_targets import CommandTargets

_SCHEDULER = "the scheduler"
_HEADERS = ("QUEUE", "ACCESS", "GRANTED", "REASON", "RULE")


def access(
    paths: tuple[str, ...],
    user: str | None,
    groups: tuple[str, ...],
    targets: CommandTargets,
    *,
    as_json: bool,
) -> None:
    """Print whether a user may submit to queues, administer them, and change settings or queues; and which rule decides."""
    view = load_view(targets)
    report = access_report(view.bundle, user or "", groups, paths, view.now)
    print_failures(report.subject.failures)
    if as_json:
        click.echo(json.dumps(_as_json(report), indent=2))
        return
    click.echo(printable(f"For {report.subject}"))
    click.echo()
    print_table("Permissions", _HEADERS, [_row(answer) for answer in report.answers])


def _row(answer: AccessAnswer) -> tuple[str, ...]:
    record = answer.decided_by.record
    source = f" ({record.source})" if record.source else ""
    return (
        f"{answer.queue or _SCHEDULER}{'' if answer.exists else ' (does not exist)'}",
        str(answer.kind),
        "yes" if answer.granted else "no",
        record.text,
        f"{answer.decided_by.plugin}: {record.rule}{source}",
    )


def _as_json(report: AccessReport) -> dict[str, Any]:
    queues: dict[str, dict[str, Any]] = {}
    for answer in report.answers:
        if answer.queue:
            entry = queues.setdefault(answer.queue, {"queue": answer.queue, "exists": answer.exists})
            entry[str(answer.kind)] = _answer_json(answer)
    return {
        "user": report.subject.user,
        "groups": list(report.subject.groups),
        "queues": list(queues.values()),
        "scheduler": {
            str(AccessKind.CONFIGURE): _answer_json(answer) for answer in report.answers if not answer.queue
        },
    }


def _answer_json(answer: AccessAnswer) -> dict[str, Any]:
    """Return an answer as plain data; ``source`` is ``file:line:column``, null if it is unknown."""
    record = answer.decided_by.record
    return {
        "granted": answer.granted,
        "decision": str(record.decision),
        "plugin": answer.decided_by.plugin,
        "version": answer.decided_by.version,
        "rule": record.rule,
        "text": record.text,
        "source": str(record.source) if record.source else None,
    }
