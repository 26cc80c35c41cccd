"""Prints the placement of all applications of a pool."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from negotiator.app.placement import rejection
from negotiator.app.pool_placement import PoolPlacement
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.cli.selection import Selection
from negotiator.placement import Placement
from negotiator.placement.chain import NO_RULE_MATCHED, ApplicationPlacement

_DETAILS = "Details: --full, or --user NAME, --queue PATH, --job ID"


def show_pool_placement(result: PoolPlacement, selection: Selection, *, as_json: bool) -> None:
    """Print the placements of a pool's applications: the totals, and the selected ones or those that fit on a screen."""
    if as_json:
        click.echo(json.dumps(result.values, indent=2))
        return
    chosen = result.selected(selection.user, selection.queue, selection.job)
    new = {change.path for change in result.result.changes}
    table = ScreenTable(
        "Applications, grouped by everything that placement rules read",
        ("JOBS", "USER", "REQUESTED", "PLACEMENT", "RULE", "FIRST JOB"),
        [_row(kind, new) for kind in chosen],
        (0,),
        noun="kind",
    )
    print_tables([table], full=selection.is_detailed, details=_DETAILS, heading=[*_totals(result)])
    if selection.is_part and not chosen:
        click.echo("\nNo application of this selection would be placed now.")


def _totals(result: PoolPlacement) -> Iterator[str]:
    rejected = sum(kind.jobs for kind in result.placements if not kind.placement.placed)
    total = sum(kind.jobs for kind in result.placements)
    yield f"Jobs: {total - rejected} placed, {rejected} rejected"
    others = (
        (result.already_placed, "of applications that have a queue already"),
        (result.held, "of applications that an administrator holds"),
        (
            len(result.snapshot.jobs) - result.admitted,
            "not idle, or discarded before placement (see negotiator run)",
        ),
    )
    for count, text in others:
        if count:
            yield f"      {count} {text}"


def _row(kind: ApplicationPlacement, new: set[str]) -> tuple[str, ...]:
    application, placement = kind.application, kind.placement
    tags = (f"{name}={text}" for name, text in application.tags.items())
    requested = ", ".join(filter(None, (application.queue, *tags, "forced" if application.forced else "")))
    queue = f"{placement.queue}{' (new)' if placement.queue in new else ''}"
    text = queue if placement.placed else f"rejected: {rejection(placement)}"
    return str(kind.jobs), application.user, requested, text, _rules(placement), kind.first_job


def _rules(placement: Placement) -> str:
    """Return the rule that decided; if none matched, the result of each."""
    if placement.code == NO_RULE_MATCHED:
        results = ((f"{number} {step.rule}", step.code) for number, step in enumerate(placement.steps, 1))
        return ", ".join(f"{rule}: {code.replace('_', ' ')}" for rule, code in results)
    return f"{len(placement.steps)} {placement.steps[-1].rule}" if placement.steps else ""
