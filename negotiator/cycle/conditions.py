"""The conditions of a match that depend on ads alone: the Requirements of both sides, and central constraints.

For one request they are the same at any time of a cycle, whatever was granted before: alike requests share them (``condition_table``).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import attrs

from negotiator.bundle.constraints import BoundConstraint
from negotiator.classad import Ad, Environment, Side
from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.result import Removal
from negotiator.cycle.work_accounts import for_policy
from negotiator.hooks.records import Cycle
from negotiator.records import Mode, Reason, Station, Verdict


@attrs.frozen(eq=False)
class FoundConditions:
    """What the conditions of one request leave of the slots, and what each of them removes.

    ``kept`` are the slots that all of them leave.
    """

    kept: TrueRows
    removals: tuple[Removal, ...]
    warnings: tuple[tuple[Reason, TrueRows], ...] = ()

    def apply(self, candidates: CandidateSet) -> None:
        """Leave the candidates as ``apply_conditions`` would."""
        candidates.restrict(self.kept)
        candidates.removals += self.removals
        candidates.warnings += [(reason, mask.rows) for reason, mask in self.warnings]


def apply_conditions(
    candidates: CandidateSet,
    job: Ad,
    requirements: Requirements,
    constraints: Sequence[BoundConstraint],
    cycle: Cycle,
) -> None:
    """Remove the slots of which a condition of a job is not true, condition by condition."""
    _requirements(candidates, job, requirements, cycle.environment)
    _constraints(candidates, job, requirements, constraints, cycle)
    apply_to_hard_slots(candidates, job, requirements, cycle.environment)


def apply_to_hard_slots(
    candidates: CandidateSet, job: Ad, requirements: Requirements, env: Environment
) -> None:
    """Apply the Requirements of both sides to the slots that are evaluated one by one."""
    for conjunct, truth in requirements.of_hard_slots(job, env):
        if not truth.has_false:
            continue
        if conjunct.side is Side.TARGET:
            candidates.require(truth, conjunct.written[0].reason(), conjunct.rows)
        else:
            candidates.removals += [each for _, each in candidates.require_of_slots(conjunct, truth)]


def _requirements(candidates: CandidateSet, job: Ad, requirements: Requirements, env: Environment) -> None:
    """Apply the Requirements of both sides, conjunct by conjunct; ``env`` has the state of ``random``."""
    if "Requirements" not in job:
        candidates.remove_all(_NO_JOB_REQUIREMENTS)
    for conjunct, truth in requirements.of_job(job, env):
        if truth.has_false:
            candidates.require(truth, conjunct.written[0].reason(), conjunct.rows)
    if requirements.present.has_false:
        candidates.require(requirements.present, NO_SLOT_REQUIREMENTS)
    found: list[tuple[int, Removal]] = []
    for conjunct, truth in requirements.of_slots(job, env):
        if truth.has_false:
            found += candidates.require_of_slots(conjunct, truth)
    found.sort(key=itemgetter(0))
    candidates.removals += [removal for _, removal in found]


def _constraints(
    candidates: CandidateSet,
    job: Ad,
    requirements: Requirements,
    constraints: Sequence[BoundConstraint],
    cycle: Cycle,
) -> None:
    """Apply the central constraints, conjunct by conjunct."""
    cache, environment = requirements.cache, for_policy(cycle).environment
    for constraint in constraints:
        for conjunct in constraint.conjuncts:
            truth = cache.get(conjunct.expression, job, constraint.slot_side, environment)
            if conjunct.reason.mode is not Mode.ENFORCE:
                candidates.remove(~truth.rows, conjunct.reason)
            elif truth.has_false:
                candidates.require(truth, conjunct.reason)


_NO_JOB_REQUIREMENTS = core_reason(
    Station.MATCH, Verdict.MISCONFIGURED, "no_job_requirements", "the job has no Requirements"
)
NO_SLOT_REQUIREMENTS = core_reason(
    Station.MATCH, Verdict.MISCONFIGURED, "no_slot_requirements", "the slot has no Requirements"
)
