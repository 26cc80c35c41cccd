"""Use case: why a job of a pool gets no slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.cycles import HolderShare as HolderShare
from negotiator.app.cycles import last_cycles
from negotiator.app.job_lookup import find_job, find_slot
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.audit.errors import AuditError
from negotiator.audit.values import reason_fields
from negotiator.cycle.jobs import job_ids, schedds, submitters
from negotiator.cycle.loop import run_cycle
from negotiator.errors import StateError
from negotiator.explain.job import Condition as Condition
from negotiator.explain.job import JobAlone as JobAlone
from negotiator.explain.job import Lever as Lever
from negotiator.explain.job import Remedy as Remedy
from negotiator.explain.job import SlotForJob, explain_alone, explain_slot
from negotiator.hooks.records import Cycle
from negotiator.records import Reason

_DECISIONS: Final = frozenset({"match", "denial"})


@attrs.frozen
class Competing:
    """What becomes of a job in a cycle with all idle jobs: the slot that it gets, or why it gets none."""

    slot: str = ""
    reason: Reason | None = None


@attrs.frozen
class WhyJob:
    """Why a job gets no slot.

    ``alone`` is what becomes of it when no other idle job competes with it, under the present use of the pool. ``competing`` is
    what a cycle now would decide; None if it is known that it gets none alone, or if there was a decision. ``decided`` is the audit
    record of the last decision about it, and ``share`` that of its submitter in the last cycle; None if there is none.
    """

    job: str
    schedd: str
    user: str
    submitter: str
    alone: JobAlone
    competing: Competing | None = None
    decided: Mapping[str, Any] | None = None
    share: HolderShare | None = None


def why_job(view: PoolView, text: str) -> WhyJob:
    """Return why a job gets no slot; nothing is changed.

    :param text: ``12.7``, ``12`` (the first idle job of the cluster) or ``schedd#12.7``.
    :raises InvalidCallError: no pool is named, the id is invalid, or several schedds have the job.
    :raises NotFoundError: the pool has no such job.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    jobs = view.snapshot.jobs
    row = find_job(jobs, text)
    one = jobs.take([row])
    (job,), (submitter,) = job_ids(one), submitters(one).tolist()
    cycle = Cycle(0, view.now, view.bundle.digest)
    alone = explain_alone(view.snapshot, view.bundle, cycle, view.cycle_state, row)
    decided = _decided(view, job)
    needs_cycle = alone.decisive is None and decided is None
    return WhyJob(
        job=job,
        schedd=schedds(one).tolist()[0],
        user=jobs.ad(row).string("Owner") or submitter,
        submitter=submitter,
        alone=alone,
        competing=_competing(view, cycle, job, schedds(one).tolist()[0]) if needs_cycle else None,
        decided=decided,
        share=_share(view, submitter),
    )


@attrs.frozen
class WhyNot:
    """Why a job does not get a slot: what keeps it from the slot when no other idle job competes with it."""

    job: str
    schedd: str
    slot: str
    found: SlotForJob


def why_not(view: PoolView, job: str, slot: str) -> WhyNot:
    """Return why a job does not get a slot; nothing is changed.

    :param job: as in ``why_job``.
    :param slot: the name of the slot.
    :raises InvalidCallError: no pool is named, the id is invalid, or several schedds have the job.
    :raises NotFoundError: the pool has no such job or no such slot.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    jobs, slots = view.snapshot.jobs, view.snapshot.slots
    row, place = find_job(jobs, job), find_slot(slots, slot)
    cycle = Cycle(0, view.now, view.bundle.digest)
    one = jobs.take([row])
    return WhyNot(
        job=job_ids(one)[0],
        schedd=schedds(one).tolist()[0],
        slot=str(slots.strings("Name")[place]),
        found=explain_slot(view.snapshot, view.bundle, cycle, view.cycle_state, row, place),
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


def _competing(view: PoolView, cycle: Cycle, job: str, schedd: str) -> Competing:
    """Run a cycle over the whole pool, which changes nothing."""
    for outcome in run_cycle(view.snapshot, view.bundle, cycle, view.cycle_state).outcomes:
        if outcome.request.schedd.lower() != schedd:
            continue
        for match in outcome.matches:
            if match.job == job:
                return Competing(slot=match.slot)
        if outcome.rejection is not None and outcome.jobs_left.has(job):
            return Competing(reason=outcome.rejection.reason)
    return Competing()


def _decided(view: PoolView, job: str) -> Mapping[str, Any] | None:
    """Return the last decision about a job; None without a log, such as of a pool of files."""
    if view.targets.state is None:
        return None
    try:
        page = audit_page(view.targets.audit_log, AuditQuery(kinds=_DECISIONS, job=job), 1)
    except AuditError:
        return None
    return page.records[0] if page.records else None


def _share(view: PoolView, submitter: str) -> HolderShare | None:
    if view.targets.state is None:
        return None
    try:
        last = last_cycles(view.targets.state).last
    except StateError:
        return None
    shares = {each.holder.lower(): each for each in last.shares} if last else {}
    return shares.get(submitter)


def why_values(found: WhyJob) -> dict[str, Any]:
    """Return the answer as JSON values."""
    alone = found.alone
    return {
        "job": found.job,
        "schedd": found.schedd,
        "user": found.user,
        "submitter": found.submitter,
        "queue": alone.queue,
        "slots": alone.slots,
        "candidates": alone.candidates,
        "slot": alone.slot,
        "decisive": None if alone.decisive is None else reason_fields(alone.decisive),
        "causes": [reason_fields(each) for each in alone.causes],
        "conditions": [_condition(each) for each in alone.conditions],
        "together": [alone.conditions.index(each) for each in alone.together],
        "remedies": [
            {
                "conditions": [alone.conditions.index(each) for each in remedy.conditions],
                "slots": remedy.slots,
            }
            for remedy in alone.remedies
        ],
        "quotas": [{**reason_fields(each.reason), "rejected": each.rejected} for each in alone.quotas],
        "discarded_slots": [{**reason_fields(each.reason), "slots": each.count} for each in alone.discarded],
        "competing": None if found.competing is None else _competing_values(found.competing),
        "decided": found.decided,
        "share": None if found.share is None else attrs.asdict(found.share),
    }


def _competing_values(found: Competing) -> dict[str, Any]:
    return {"slot": found.slot, "reason": None if found.reason is None else reason_fields(found.reason)}


def _condition(condition: Condition) -> dict[str, Any]:
    near = condition.near
    return {
        "reason": reason_fields(condition.reason),
        "rejected": condition.rejected,
        "alone": condition.alone,
        "lever": condition.lever.name.lower(),
        "near": None if near is None else attrs.asdict(near),
    }
