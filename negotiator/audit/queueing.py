"""The fields of records about queues: placements of applications, and changes of queues."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from negotiator.audit.values import TEXT, Record, bounded, instant

if TYPE_CHECKING:
    from negotiator.placement import PlacementStep
    from negotiator.placement.chain import ApplicationPlacement
    from negotiator.queues import QueueChange

_GROUPS = 50
_TAGS = 50
_STEPS = 100


def placement_fields(placed: ApplicationPlacement) -> Record:
    """Return the fields of one kind of applications that was placed or rejected, with every rule that was tried."""
    application, placement = placed.application, placed.placement
    return {
        "user": bounded(application.user),
        "groups": [bounded(group) for group in application.groups[:_GROUPS]],
        "groups_left_out": max(0, len(application.groups) - _GROUPS),
        "requested_queue": bounded(application.queue),
        "tags": {bounded(name): bounded(text) for name, text in islice(application.tags.items(), _TAGS)},
        "forced": application.forced,
        "jobs": placed.jobs,
        "first_job": bounded(placed.first_job),
        "queue": bounded(placement.queue, TEXT),
        "code": placement.code,
        "steps": [_step(step) for step in placement.steps[:_STEPS]],
        "steps_left_out": max(0, len(placement.steps) - _STEPS),
    }


def change_fields(change: QueueChange) -> Record:
    """Return the fields of a change of a queue."""
    return {"queue": bounded(change.path, TEXT), "change": str(change.change), "time": instant(change.at)}


def _step(step: PlacementStep) -> Record:
    return {
        "rule": bounded(step.rule),
        "plugin": bounded(step.plugin),
        "version": bounded(step.version),
        "source": bounded(str(step.source)) if step.source.file else None,
        "queue": bounded(step.queue, TEXT),
        "code": step.code,
        "text": bounded(step.text, TEXT),
    }
