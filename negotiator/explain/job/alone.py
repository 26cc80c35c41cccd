"""Considers one job alone: a cycle without the other idle jobs, under the present use of the pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment, Table
from negotiator.cycle.claim_reuse import filled_slots
from negotiator.cycle.claims import slots_of
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.divisible_slots import undivided_slots
from negotiator.cycle.jobs import with_idle_jobs
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.order import BY_NAME
from negotiator.cycle.result import CycleResult, DiscardedAds, Removal, RequestOutcome
from negotiator.explain.first_end import first_end
from negotiator.explain.job.conditions import (
    Condition,
    Remedy,
    alone,
    fewest_to_change,
    fewest_together,
    is_of_use,
    lever_of,
    merged,
)
from negotiator.explain.job.explanation import JobAlone, RecordedCandidates, SlotForJob
from negotiator.explain.job.near_miss import MissedAds, near_miss
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.records import Cycle, Mask
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Mode, Reason, Station

_WITH_SENDER: Final = frozenset({f"{AdKind.SCHEDD}_discarded", f"{AdKind.SUBMITTER}_discarded"})


def explain_alone(snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState, row: int) -> JobAlone:
    """Return what becomes of an idle job when no other one competes with it; nothing is changed.

    The cycle is the real one, over all slots and running jobs: gates, placement, access, requirements, policies and quotas decide as ever.

    :param row: the row of the job in the snapshot.
    """
    result, candidates = _cycle_of(snapshot, bundle, cycle, state, row)
    found = JobAlone(result.counts.admitted_slots, discarded=tuple(_discarded_slots(result)))
    if not result.outcomes:
        decisive, *causes = why_not_served(snapshot, bundle, cycle, state, row)
        return attrs.evolve(found, decisive=decisive, causes=tuple(causes))
    (outcome,) = result.outcomes
    found = attrs.evolve(found, queue=outcome.request.queue)
    if candidates is None:
        return found
    fill = filled_slots(bundle, candidates.slots)
    found = _explained(found, outcome, candidates, snapshot.jobs.ad(row), cycle.environment, fill=fill)
    busy = candidates.slots.take(np.flatnonzero(_only_in_use(candidates)))
    running = snapshot.running
    return attrs.evolve(
        found, first_end=first_end(running.take(np.flatnonzero(slots_of(running, busy) >= 0)), cycle.now)
    )


def explain_slot(
    snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState, row: int, slot: int
) -> SlotForJob:
    """Return what keeps an idle job from one slot when no other job competes with it; nothing is changed.

    :param row: the row of the job in the snapshot.
    :param slot: the row of the slot.
    """
    result, candidates = _cycle_of(snapshot, bundle, cycle, state, row)
    if not result.outcomes:
        return SlotForJob(why_not_served(snapshot, bundle, cycle, state, row))
    name = str(snapshot.slots.strings("Name")[slot] or "")
    names = [] if candidates is None else candidates.slots.strings("Name").tolist()
    if candidates is None or name not in names:
        only = attrs.evolve(snapshot, slots=snapshot.slots.take([slot]), claim_ids=None)
        gates = _discarded_slots(run_cycle(only, bundle, cycle, state, make_order=BY_NAME.make))
        return SlotForJob(tuple(each.reason for each in gates))
    (outcome,), place = result.outcomes, names.index(name)
    reasons = tuple(reason for reason, mask in merged(candidates.rejected) if mask[place])
    quotas = () if reasons else tuple(each.reason for each in _quotas(outcome))
    if not reasons and not quotas and outcome.rejection is not None:
        quotas = (outcome.rejection.reason,)
    return SlotForJob(reasons, quotas, outcome.matches[0].slot if outcome.matches else "")


def _cycle_of(
    snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState, row: int
) -> tuple[CycleResult, RecordedCandidates | None]:
    """Run a cycle for one job; return its candidates with what each reason rejects, None if it takes no part.

    Where the order of the bundle gives it no turn, as without a share of the pool, the candidates are those of a turn by name: what
    the slots and the job require of each other is the same.
    """
    sets: list[RecordedCandidates] = []

    def candidate_set(slots: Table) -> RecordedCandidates:
        sets.append(RecordedCandidates(slots))
        return sets[-1]

    only = with_idle_jobs(snapshot, [row])
    result = run_cycle(only, bundle, cycle, state, candidate_set=candidate_set)
    if result.outcomes and not sets:
        run_cycle(only, bundle, cycle, state, make_order=BY_NAME.make, candidate_set=candidate_set)
    return result, sets[-1] if sets else None


def _discarded_slots(result: CycleResult) -> Iterator[DiscardedAds]:
    """Yield why slots took no part; a rule that does not enforce keeps none from it."""
    for each in result.discarded:
        if each.kind is AdKind.STARTD and each.reason.mode is Mode.ENFORCE:
            yield each


def why_not_served(
    snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState, row: int
) -> tuple[Reason, ...]:
    """Return why a job took no part, and then why its schedd or submitter was discarded, if that is the reason."""
    only = attrs.evolve(snapshot, jobs=snapshot.jobs.take([row]))
    result = run_cycle(only, bundle, cycle, state, make_order=BY_NAME.make)
    enforced = [each for each in result.discarded if each.reason.mode is Mode.ENFORCE]
    own = [each.reason for each in enforced if each.kind is AdKind.JOB]
    senders = [each.reason for each in enforced if each.kind in {AdKind.SCHEDD, AdKind.SUBMITTER}]
    return own[0], *(senders if own[0].code in _WITH_SENDER else ())


def _explained(
    found: JobAlone,
    outcome: RequestOutcome,
    candidates: RecordedCandidates,
    job: Ad,
    env: Environment,
    *,
    fill: Mask | None,
) -> JobAlone:
    reasons = merged(candidates.rejected)
    rejections = np.array([mask for _, mask in reasons], np.bool_).reshape(
        len(reasons), len(candidates.slots)
    )
    conditions = []
    for (reason, mask), opened in zip(reasons, alone(rejections), strict=True):
        near = near_miss(reason, MissedAds.slots(candidates.slots, opened), job, env)
        conditions.append(Condition(reason, int(mask.sum()), int(opened.sum()), lever_of(reason, near), near))
    rejection = outcome.rejection
    return attrs.evolve(
        found,
        slot=outcome.matches[0].slot if outcome.matches else "",
        candidates=int(candidates.keep.sum()),
        undivided=int((candidates.keep & undivided_slots(candidates.slots, env, fill=fill)).sum()),
        decisive=None if rejection is None else rejection.reason,
        conditions=tuple(conditions),
        together=tuple(conditions[place] for place in fewest_together(rejections)),
        remedies=tuple(
            Remedy(tuple(conditions[place] for place in places), slots)
            for places, slots in fewest_to_change(rejections)
        ),
        quotas=_quotas(outcome),
    )


def _only_in_use(candidates: RecordedCandidates) -> Mask:
    """Return the slots that nothing but their use keeps from the job, (N,)."""
    found = np.zeros(len(candidates.slots), np.bool_)
    others = np.zeros(len(candidates.slots), np.bool_)
    for reason, mask in merged(candidates.rejected):
        if is_of_use(reason):
            found |= mask
        else:
            others |= mask
    return found & ~others


def _quotas(outcome: RequestOutcome) -> tuple[Removal, ...]:
    return tuple(each for each in outcome.removals if each.reason.provenance.station is Station.CHARGE)
