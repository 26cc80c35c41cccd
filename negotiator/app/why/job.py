"""Use case: why a job of a pool gets no slot; with its last decisions, from the audit log beside a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import attrs

from negotiator.activity import activity
from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.cycles import HolderShare as HolderShare
from negotiator.app.cycles import last_cycles
from negotiator.app.job_lookup import find_job
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.app.why.values import condition_values, end_values
from negotiator.audit.errors import AuditError
from negotiator.audit.values import reason_fields
from negotiator.bundle import Bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import job_ids, schedds, submitters
from negotiator.cycle.result import CycleResult
from negotiator.errors import StateError
from negotiator.explain.job import Condition as Condition
from negotiator.explain.job import JobAlone as JobAlone
from negotiator.explain.job import JobOutcome as JobOutcome
from negotiator.explain.job import Lever as Lever
from negotiator.explain.job import Remedy as Remedy
from negotiator.explain.job import explain_alone, outcome_of
from negotiator.hooks.records import Cycle
from negotiator.pool import Snapshot
from negotiator.records import Reason

_DECISIONS: Final = frozenset({"match", "denial"})
_MOST_DECISIONS: Final = 20  # to look at: jobs of several schedds may have one id


def last_decisions(view: PoolView, query: AuditQuery, limit: int) -> Sequence[Mapping[str, Any]]:
    """Return the newest records that a query accepts; none without a state or a log, such as for a pool of files."""
    if view.targets.state_location is None:
        return ()
    try:
        return audit_page(view.targets.audit_log, query, limit).records
    except AuditError:
        return ()


class CycleOverPool(Protocol):
    """A cycle over a pool: what it begins with, and what it decides (``present_cycle``)."""

    @property
    def snapshot(self) -> Snapshot:
        """The ads of the pool."""

    @property
    def bundle(self) -> Bundle:
        """The policies."""

    @property
    def cycle(self) -> Cycle:
        """Its number, time and digest."""

    @property
    def cycle_state(self) -> CycleState:
        """The state that it begins with."""

    @property
    def present_cycle(self) -> CycleResult:
        """Its decisions."""


@attrs.frozen
class WhyJob:
    """Why a job gets no slot.

    ``competing`` is what a cycle decides about it, among all idle jobs of the pool; None if it takes no part in cycles. ``alone`` is what
    becomes of it when no other idle job competes with it, under the present use of the pool: what slots and rules require of it.
    ``decided`` is the audit record of the last decision about it, and ``share`` that of its submitter in the last cycle; None if there
    is none.
    """

    job: str
    schedd: str
    user: str
    submitter: str
    alone: JobAlone
    competing: JobOutcome | None = None
    decided: Mapping[str, Any] | None = None
    share: HolderShare | None = None

    @property
    def decisive(self) -> Reason | None:
        """Why it gets no slot: the reason of the cycle; None if it gets one."""
        return self.alone.decisive if self.competing is None else self.competing.reason

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """The fewest conditions that would have to change; none if something else than a condition decides."""
        decisive = self.decisive
        of_slots = (each.reason for each in self.alone.conditions)
        is_met = decisive is not None and any(_same(decisive, each) for each in of_slots)
        return self.alone.remedies if is_met else ()


def _same(reason: Reason, other: Reason) -> bool:
    return (reason.provenance, reason.code) == (other.provenance, other.code)


def why_job(view: PoolView, text: str) -> WhyJob:
    """Return why a job gets no slot; nothing is changed.

    :param text: ``12.7``, ``12`` (the first idle job of the cluster) or ``schedd#12.7``.
    :raises InvalidCallError: no pool is named, the id is invalid, or several schedds have the job.
    :raises NotFoundError: the pool has no such job.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    found = why_job_of_cycle(view, text)
    decided = _decided(view, found.job, found.schedd)
    return attrs.evolve(found, decided=decided, share=_share(view, found.submitter))


def why_job_of_cycle(cycle: CycleOverPool, text: str) -> WhyJob:
    """Return why a job gets no slot in a cycle, as ``why_job`` does without a state.

    :param text: ``12.7``, ``12`` (the first idle job of the cluster) or ``schedd#12.7``.
    :raises InvalidCallError: the id is invalid, or several schedds have the job.
    :raises NotFoundError: the pool has no such job.
    """
    row = find_job(cycle.snapshot.jobs, text)
    one = cycle.snapshot.jobs.take([row])
    (job,), (schedd,), (submitter,) = job_ids(one), schedds(one).tolist(), submitters(one).tolist()
    user = one.ad(0).string("Owner") or submitter
    state = cycle.cycle_state
    with activity("explaining the job"):
        alone = explain_alone(cycle.snapshot, cycle.bundle, cycle.cycle, state, row)
    competing = outcome_of(cycle.present_cycle, job, schedd)
    return WhyJob(job, schedd, user, submitter, alone, competing)


def _decided(view: PoolView, job: str, schedd: str) -> Mapping[str, Any] | None:
    found = last_decisions(view, AuditQuery(kinds=_DECISIONS, job=job), _MOST_DECISIONS)
    return next((each for each in found if str(each.get("schedd")).lower() == schedd), None)


def _share(view: PoolView, submitter: str) -> HolderShare | None:
    location = view.targets.state_location
    if location is None:
        return None
    try:
        last = last_cycles(location.folder).last
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
        "decisive": None if found.decisive is None else reason_fields(found.decisive),
        "causes": [reason_fields(each) for each in alone.causes],
        "conditions": [condition_values(each, "slots") for each in alone.conditions],
        "together": [alone.conditions.index(each) for each in alone.together],
        "remedies": [
            {
                "conditions": [alone.conditions.index(each) for each in remedy.conditions],
                "slots": remedy.slots,
            }
            for remedy in found.remedies
        ],
        "quotas": [{**reason_fields(each.reason), "rejected": each.rejected} for each in alone.quotas],
        "discarded_slots": [{**reason_fields(each.reason), "slots": each.count} for each in alone.discarded],
        "first_end": end_values(alone.first_end),
        "competing": None if found.competing is None else _outcome(found.competing),
        "decided": found.decided,
        "share": None if found.share is None else attrs.asdict(found.share),
    }


def _outcome(found: JobOutcome) -> dict[str, Any]:
    return {"slot": found.slot, "reason": None if found.reason is None else reason_fields(found.reason)}
