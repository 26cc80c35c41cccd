"""Where the applications of a pool would go: the stations *admit* and *place* of a cycle, told for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from negotiator.audit.queueing import change_fields, placement_fields
from negotiator.bundle.model import Bundle
from negotiator.cli.pools import the_pool
from negotiator.cli.render import print_table, printable
from negotiator.cycle.admit import admit
from negotiator.cycle.place import PlacedJobs, place_idle
from negotiator.cycle.result import ApplicationPlacement
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.placement import Placement
from negotiator.placement.trace import NO_RULE_MATCHED
from negotiator.pool import Snapshot
from negotiator.runtime.state_manager import StateManager

#: Codes that come without a step of a rule.
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule has a queue for it",
    "no_user": "the job does not say whose it is",
    "groups_unknown": "a plugin failed, so the groups of the user could not be had",
}


@attrs.frozen
class _Found:
    """What a cycle would do with the jobs of a pool, up to the station *place*."""

    jobs: int
    admitted: int
    result: PlacedJobs
    failures: tuple[HookFailure, ...]

    @property
    def kinds(self) -> tuple[ApplicationPlacement, ...]:
        """The kinds of new applications: the rejected first, then those of most jobs."""
        return tuple(sorted(self.result.placements, key=lambda kind: (kind.placement.placed, -kind.jobs)))

    @property
    def settled(self) -> int:
        """The number of jobs whose application has its queue already."""
        return self.admitted - sum(kind.jobs for kind in self.result.placements)

    @property
    def held(self) -> int:
        """The number of jobs that an administrator keeps out of matching, wherever they go."""
        return sum(item.count for item in self.result.discarded if item.reason.code == "held_by_admin")


def place_pool(
    paths: Sequence[Path], bundle: Bundle, kept: StateManager, now: float, *, as_json: bool
) -> bool:
    """Print what would become of the applications of a pool; whether all of them go somewhere."""
    found = _find(the_pool(paths), bundle, kept, now)
    for failure in found.failures:
        click.echo(f"error: {printable(str(failure))}", err=True)
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=2))
    else:
        _print(found)
    return all(kind.placement.placed for kind in found.kinds)


def _find(snapshot: Snapshot, bundle: Bundle, kept: StateManager, now: float) -> _Found:
    cycle = Cycle(1, now, bundle.digest)
    state, unknown = kept.cycle_state(snapshot, now)
    admitted = admit(snapshot, bundle, cycle)
    result = place_idle(admitted.jobs, bundle, cycle, state)
    failures = dict.fromkeys((*unknown, *admitted.failures, *result.failures))
    return _Found(len(snapshot.jobs), len(admitted.jobs), result, tuple(failures))


def _print(found: _Found) -> None:
    rejected = sum(kind.jobs for kind in found.kinds if not kind.placement.placed)
    fresh = sum(kind.jobs for kind in found.kinds)
    click.echo(f"Jobs: {fresh - rejected} placed, {rejected} rejected")
    others = (
        (found.settled, "of applications that have a queue already"),
        (found.held, "of applications that an administrator holds"),
        (found.jobs - found.admitted, "kept out before they are placed (see negotiator run)"),
    )
    for count, which in others:
        if count:
            click.echo(f"      {count} {which}")
    click.echo()
    new = {change.path for change in found.result.changes}
    print_table(
        "Applications, by all that placement rules read",
        ("JOBS", "USER", "ASKED FOR", "GOES TO", "RULE", "FIRST JOB"),
        [_row(kind, new) for kind in found.kinds],
        right=(0,),
    )


def _row(kind: ApplicationPlacement, new: set[str]) -> tuple[str, ...]:
    application, placement = kind.application, kind.placement
    tags = (f"{name}={text}" for name, text in application.tags.items())
    asked = ", ".join(filter(None, (application.queue, *tags, "forced" if application.forced else "")))
    goes = f"{placement.queue}{' (new)' if placement.queue in new else ''}"
    last = placement.steps[-1] if placement.steps else None
    if not placement.placed:
        goes = f"rejected: {_TEXTS.get(placement.code) or (last.text if last else placement.code)}"
    return str(kind.jobs), application.user, asked, goes, _rules(placement), kind.first_job


def _rules(placement: Placement) -> str:
    """The rule that decided; where none did, what came of each."""
    if placement.code == NO_RULE_MATCHED:
        said = ((f"{number} {step.rule}", step.code) for number, step in enumerate(placement.steps, 1))
        return ", ".join(f"{rule}: {code.replace('_', ' ')}" for rule, code in said)
    return f"{len(placement.steps)} {placement.steps[-1].rule}" if placement.steps else ""


def _as_json(found: _Found) -> dict[str, Any]:
    """Make plain data of it: what the audit log would have of the applications and of the queues that they need."""
    return {
        "jobs": found.jobs,
        "admitted": found.admitted,
        "settled": found.settled,
        "held": found.held,
        "placements": [placement_fields(kind) for kind in found.kinds],
        "queues": [change_fields(change) for change in found.result.changes],
    }
