"""The candidate slots of one request, the reasons that removed the others, and the conditions that depend on ads alone.

Conditions are the Requirements of both sides, and central constraints. For one request they are the same at any time of a cycle,
whatever was granted before: alike requests share them (``condition_table``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.constraints import BoundConstraint
from negotiator.classad import Ad, Environment, Side, Table
from negotiator.classad.columnar import TrueRows
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.result import Removal
from negotiator.cycle.work_accounts import for_policy
from negotiator.hooks.records import Cycle, Mask
from negotiator.records import Mode, Reason, Station, Verdict


@attrs.define
class CandidateSet:
    """The slots that are still candidates of one request, and the reasons that removed the others.

    Conditions are applied to a bit for each slot, an eighth of the work of a mask. The mask is made when ``keep`` is read.
    """

    slots: Table
    removals: list[Removal] = attrs.field(factory=list)
    warnings: list[tuple[Reason, Mask]] = attrs.field(factory=list)
    _bits: TrueRows = attrs.field(init=False)  # the candidates, as long as there is no mask
    _mask: Mask | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._bits = TrueRows(len(self.slots), len(self.slots), None)

    @property
    def keep(self) -> Mask:
        """The slots that are left, (N,). The mask may be changed until the next condition is applied."""
        if self._mask is None:
            self._mask = self._bits.rows.copy()
        return self._mask

    @keep.setter
    def keep(self, mask: Mask) -> None:
        self._mask = mask

    @property
    def left(self) -> int:
        """The number of slots that are left."""
        return self.rows.count

    @property
    def rows(self) -> TrueRows:
        """The slots that are left, a bit for each."""
        if self._mask is not None:
            self._bits, self._mask = TrueRows.from_mask(self._mask), None
        return self._bits

    def restrict(self, truth: TrueRows) -> int:
        """Keep the slots on which a condition of all slots is true; return how many are removed."""
        before = self.rows
        self._bits = before.both(truth)
        return before.count - self._bits.count

    def require(self, truth: TrueRows, reason: Reason, rows: NDArray[np.intp] | None = None) -> None:
        """Apply ``keep_true``, and record what it removes with the reason."""
        self.removals.append(Removal(reason, *self.keep_true(truth, rows)))

    def require_of_slots(self, conjunct: Conjunct, truth: TrueRows) -> Iterator[tuple[int, Removal]]:
        """Apply a conjunct of slots; yield what each written conjunct removes, with its place."""
        written = conjunct.written
        if conjunct.codes is None or conjunct.rows is None:
            counts = self.keep_true(truth, conjunct.rows)
            yield written[0].place, Removal(written[0].reason(), *counts)
            return
        removed, rejected = self.keep_true_of_each(truth, conjunct.rows, conjunct.codes, len(written))
        for code in np.flatnonzero(rejected).tolist():
            each = written[code]
            yield each.place, Removal(each.reason(), int(removed[code]), int(rejected[code]))

    def keep_true(self, truth: TrueRows, rows: NDArray[np.intp] | None = None) -> tuple[int, int]:
        """Keep the slots on which a condition is true, of those that it applies to: ``rows`` (None: all).

        Return how many of the slots that were left it removes, and on how many it is not true.
        """
        # Two counts: the slots removed from those still left (REMOVED), and all that fail the condition (REJECTED).
        whole = truth if rows is None else truth.extended(rows, len(self.slots))
        return self.restrict(whole), truth.size - truth.count

    def keep_true_of_each(
        self, truth: TrueRows, rows: NDArray[np.intp], codes: NDArray[np.intp], conditions: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Keep the slots on which their condition is true, ``codes`` (R,) of so many; return both numbers for each of them."""
        false = np.flatnonzero(~truth.rows)
        codes = codes[false]
        rejected = np.bincount(codes, minlength=conditions)
        removed = np.bincount(codes[self.rows.at(rows[false])], minlength=conditions)
        self.restrict(truth.extended(rows, len(self.slots)))
        return removed, rejected

    def remove(self, mask: Mask, reason: Reason) -> None:
        """Remove the slots of the mask; where the reason does not enforce, only count them and warn."""
        self.remove_rows(TrueRows.from_mask(mask), reason)

    def remove_rows(self, gone: TrueRows, reason: Reason) -> None:
        """Remove slots as ``remove`` does."""
        if not gone.count:
            return
        before = self.rows
        after = before.without(gone)
        self.removals.append(Removal(reason, before.count - after.count, gone.count))
        if reason.mode is Mode.ENFORCE:
            self._bits = after
        else:
            self.warnings.append((reason, gone.rows))

    def remove_all(self, reason: Reason) -> None:
        """Remove every slot for one reason."""
        self.remove(np.ones(len(self.slots), dtype=np.bool_), reason)


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
    cache, of_policy = requirements.cache, for_policy(cycle).environment
    for constraint in constraints:
        for conjunct in constraint.conjuncts:
            truth = cache.get(conjunct.expression, job, constraint.slot_side, of_policy)
            if conjunct.reason.mode is not Mode.ENFORCE:
                candidates.remove(~truth.rows, conjunct.reason)
            elif truth.has_false:
                candidates.require(truth, conjunct.reason)
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


_NO_JOB_REQUIREMENTS = core_reason(
    Station.MATCH, Verdict.MISCONFIGURED, "no_job_requirements", "the job has no Requirements"
)
NO_SLOT_REQUIREMENTS = core_reason(
    Station.MATCH, Verdict.MISCONFIGURED, "no_slot_requirements", "the slot has no Requirements"
)
