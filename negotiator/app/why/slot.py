"""Use case: why a slot of a pool runs no idle job, or what it runs; and why a job does not get a certain slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from negotiator.activity import activity
from negotiator.app.audit import AuditQuery
from negotiator.app.job_lookup import find_job, find_slot
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.app.why.job import last_decisions
from negotiator.app.why.values import condition_values, end_values
from negotiator.audit.values import reason_fields
from negotiator.classad import Ad
from negotiator.cycle.claim_reuse import filled_slots
from negotiator.cycle.claims import slot_claims, slots_of, undivided
from negotiator.cycle.divisible_slots import undivided_slots
from negotiator.cycle.jobs import job_ids, schedds
from negotiator.explain.first_end import FirstEnd, first_end
from negotiator.explain.job import SlotForJob, explain_slot
from negotiator.explain.slot import RefusedJobs as RefusedJobs
from negotiator.explain.slot import SlotAlone as SlotAlone
from negotiator.explain.slot import SlotOutcome as SlotOutcome
from negotiator.explain.slot import explain_jobs, slot_outcome

#: What a slot has, and what it has of it before jobs took parts of it (HTCondor manual, Machine ClassAd Attributes).
_RESOURCES: Final = ("Cpus", "Memory", "GPUs")


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


@attrs.frozen
class RunningOnSlot:
    """The jobs that a slot runs, and its user, both as its ad or those of the jobs name them; empty where nothing does.

    ``first_end`` is when the first of them ends at the latest.
    """

    jobs: tuple[str, ...] = ()
    user: str = ""
    first_end: FirstEnd | None = None


@attrs.frozen
class SlotAmount:
    """How much a slot has of a resource, and how much it has in all, in HTCondor's units; ``total`` is None if unknown."""

    resource: str
    left: float
    total: float | None


@attrs.frozen
class WhySlot:
    """Why a slot runs no idle job, or what it runs.

    ``state`` and ``activity`` are HTCondor's. ``undivided``: it is a partitionable slot that gives one match a cycle. ``use`` is None if no job has the slot; ``parts`` counts the dynamic slots taken from it. ``alone`` is what becomes of each idle job on this slot
    when no other idle job competes with it. ``competing`` is what a cycle now would decide; None if it is known that no
    job gets the slot. ``decided`` is the audit record of the last match with it; None if there is none.
    """

    slot: str
    state: str
    activity: str
    amounts: tuple[SlotAmount, ...]
    use: RunningOnSlot | None
    parts: int
    alone: SlotAlone
    competing: SlotOutcome | None = None
    decided: Mapping[str, Any] | None = None
    undivided: bool = False


def why_slot(view: PoolView, name: str) -> WhySlot:
    """Return why a slot runs no idle job, or what it runs; nothing is changed.

    :raises InvalidCallError: no pool is named.
    :raises NotFoundError: the pool has no such slot.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    row = find_slot(view.snapshot.slots, name)
    ad, slot = view.snapshot.slots.ad(row), view.snapshot.slots.take([row])
    fill = filled_slots(view.bundle, slot)
    state = view.cycle_state
    with activity("explaining the slot"):
        alone = explain_jobs(view.snapshot, view.bundle, view.cycle, state, row)
    own, competing = ad.string("Name") or name, None
    if alone.possible:
        competing = slot_outcome(view.present_cycle, own, alone.ids)
    return WhySlot(
        slot=own,
        state=ad.string("State") or "",
        activity=ad.string("Activity") or "",
        amounts=_amounts(ad),
        use=_use(view, row, ad),
        parts=_parts(view, own),
        alone=alone,
        competing=competing,
        decided=_decided(view, own),
        undivided=bool(undivided_slots(slot, view.cycle.environment, fill=fill).any()),
    )


def _amounts(ad: Ad) -> tuple[SlotAmount, ...]:
    found = []
    for name in _RESOURCES:
        left = ad.real(name)
        if left is not None:
            found.append(SlotAmount(name, left, ad.real(f"TotalSlot{name}")))
    return tuple(found)


def _use(view: PoolView, row: int, ad: Ad) -> RunningOnSlot | None:
    one, running = view.snapshot.slots.take([row]), view.snapshot.running
    own = running.take(np.flatnonzero(slots_of(running, one) >= 0))
    claim = slot_claims(one).get(0)
    if claim is None and not len(own):
        return None
    jobs: Sequence[str] = job_ids(own) or ([claim.job] if claim is not None and claim.job else [])
    users = [ad.string("RemoteUser"), ad.string("RemoteOwner"), *own.strings("Owner").tolist()]
    return RunningOnSlot(tuple(jobs), next(filter(None, users), ""), first_end(own, view.now))


def _parts(view: PoolView, slot: str) -> int:
    return sum(undivided(name or "") == slot for name in view.snapshot.slots.strings("Name").tolist())


def _decided(view: PoolView, slot: str) -> Mapping[str, Any] | None:
    query = AuditQuery(kinds=frozenset({"match"}), slot=slot)
    return next(iter(last_decisions(view, query, 1)), None)


def why_slot_values(found: WhySlot) -> dict[str, Any]:
    """Return the answer as JSON values."""
    alone, competing = found.alone, found.competing
    return {
        "slot": found.slot,
        "state": found.state,
        "activity": found.activity,
        "amounts": [attrs.asdict(each) for each in found.amounts],
        "use": None if found.use is None else _use_values(found.use),
        "parts": found.parts,
        "jobs": alone.jobs,
        "classes": alone.classes,
        "fitting": alone.fitting,
        "possible": alone.possible,
        "decisive": None if alone.decisive is None else reason_fields(alone.decisive),
        "discarded": [reason_fields(each) for each in alone.discarded],
        "conditions": [condition_values(each, "jobs") for each in alone.conditions],
        "remedies": [
            {"conditions": [alone.conditions.index(each) for each in remedy.conditions], "jobs": remedy.jobs}
            for remedy in alone.remedies
        ],
        "quotas": _refused(alone.quotas),
        "no_part": _refused(alone.no_part),
        "competing": None
        if competing is None
        else {**attrs.asdict(competing), "waiting": _refused(competing.waiting)},
        "decided": found.decided,
    }


def _use_values(use: RunningOnSlot) -> dict[str, Any]:
    return {"jobs": use.jobs, "user": use.user, "first_end": end_values(use.first_end)}


def _refused(found: Sequence[RefusedJobs]) -> list[dict[str, Any]]:
    return [{**reason_fields(each.reason), "jobs": each.jobs} for each in found]
