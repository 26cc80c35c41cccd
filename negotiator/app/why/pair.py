"""Use case: why a job does not get a certain slot."""

from __future__ import annotations

from typing import Any

import attrs

from negotiator.app.job_lookup import find_job, find_slot
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.audit.values import reason_fields
from negotiator.cycle.jobs import job_ids, schedds
from negotiator.explain.job import SlotForJob, explain_slot


@attrs.frozen
class WhyNot:
    """Why a job does not get a slot: what keeps it from the slot when no other idle job competes with it."""

    job: str
    schedd: str
    slot: str
    found: SlotForJob


def why_not(view: PoolView, job: str, slot: str) -> WhyNot:
    """Return why a job does not get a slot; nothing is changed.

    :param job: ``12.7``, ``12`` (the first idle job of the cluster) or ``schedd#12.7``.
    :param slot: the name of the slot.
    :raises InvalidCallError: no pool is named, the id is invalid, or several schedds have the job.
    :raises NotFoundError: the pool has no such job or no such slot.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    jobs, slots = view.snapshot.jobs, view.snapshot.slots
    row, place = find_job(jobs, job), find_slot(slots, slot)
    one = jobs.take([row])
    return WhyNot(
        job=job_ids(one)[0],
        schedd=schedds(one).tolist()[0],
        slot=str(slots.strings("Name")[place]),
        found=explain_slot(view.snapshot, view.bundle, view.cycle, view.cycle_state, row, place),
    )


def why_not_values(found: WhyNot) -> dict[str, Any]:
    """Return the answer as JSON values."""
    return {
        "job": found.job,
        "schedd": found.schedd,
        "slot": found.slot,
        "reasons": [reason_fields(each) for each in found.found.reasons],
        "quotas": [reason_fields(each) for each in found.found.quotas],
        "chosen": found.found.chosen,
    }
