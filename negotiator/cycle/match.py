"""Station *match*: for one request, the slots that are left after every reason, each reason counted.

All work is on columns: nothing here runs per slot, nor per job where jobs are alike.
"""

from __future__ import annotations

import itertools

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import ClassAd, Environment, Kind, Table, evaluate_table
from negotiator.classad.columnar import MemoryBudget, TrueRows
from negotiator.classad.syntax import Attr
from negotiator.cycle.rank import Ranks
from negotiator.cycle.reasons import core_reason, failure_reason, plugin_reason
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.result import Removal
from negotiator.hooks import specs
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.records import Mode, Reason, Station, Verdict

#: States of a slot that serves somebody already (HTCondor manual, Machine ClassAd Attributes, State).
_IN_USE = ("claimed", "matched", "preempting")


@attrs.define(eq=False)
class SlotMatcher:
    """The slots of one cycle, which of them are still to be had, and what was found out about them so far.

    Make one with ``SlotMatcher.of`` for each cycle: what it keeps holds for one clock and for slots that do not change.
    """

    slots: Table
    environment: Environment
    requirements: Requirements
    ranks: Ranks
    in_use: Mask  # by somebody, as the pool shows it
    taken: Mask  # by an earlier request of this cycle

    @classmethod
    def of(cls, slots: Table, environment: Environment) -> SlotMatcher:
        """Set up the board of a cycle."""
        room = MemoryBudget()
        requirements = Requirements(slots, environment, room)
        ranks = Ranks(requirements.reaches, environment, room)
        taken = np.zeros(len(slots), dtype=np.bool_)
        return cls(slots, environment, requirements, ranks, _in_use(slots), taken)

    def candidates(self, job: ClassAd) -> Mask:
        """Return the slots on which the Requirements of the job and of the slot are both true: (N,), bool.

        Nothing else counts: no central expression, no plugin, and not whether the slot is in use or taken. Each
        conjunct is evaluated once for all jobs that are alike in what it reads of them, so that a job like others
        costs little more than ANDing masks. Without Requirements on either side nothing matches.
        """
        if "Requirements" not in job:
            return np.zeros(len(self.slots), dtype=np.bool_)
        keep = self.requirements.given.rows.copy()
        env = attrs.evolve(self.environment)  # random() starts anew
        both = self.requirements.of_job(job, env), self.requirements.of_slots(job, env)
        for conjunct, truth in itertools.chain(*both):
            if conjunct.rows is not None:
                keep[conjunct.rows] &= truth.rows
            elif not truth.count:
                return np.zeros(len(self.slots), dtype=np.bool_)
            elif truth.some_false:
                keep &= truth.rows
        return keep

    def choose(self, job: ClassAd, among: Mask, count: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the rows of the ``count`` best of some slots for a job, best first, and the job's Rank of them.

        ``among`` (N,) are the slots to choose from, such as ``candidates`` gives. The pool's own order comes first, then
        the job's Rank, then the order of the rows, as in a cycle. There may be fewer than ``count``.
        """
        return self.ranks.choose(job, among, count, attrs.evolve(self.environment))


@attrs.frozen
class MatchCandidates:
    """What a request may have: the slots that are left, and why the others are not."""

    among: Mask  # (N,) the slots that passed every reason
    left: int  # how many they are
    removals: tuple[Removal, ...]
    warnings: tuple[tuple[Reason, Mask], ...]  # of rules that do not enforce: the slots they would have taken
    failures: tuple[HookFailure, ...]


def match(request: Request, board: SlotMatcher, bundle: Bundle, cycle: Cycle) -> MatchCandidates:
    """Find the slots for a request, and count what each reason took from it."""
    sieve = CandidateSet(board.slots)
    _requirements(sieve, request.ad, board.requirements, cycle.environment)
    _constraints(sieve, request, board, bundle, cycle)
    failures = _filters(sieve, request, bundle, cycle)
    sieve.remove(board.in_use, _IN_USE_REASON)
    sieve.remove(board.taken, _TAKEN_REASON)

    left = int(np.count_nonzero(sieve.keep))
    return MatchCandidates(sieve.keep, left, tuple(sieve.removals), tuple(sieve.warnings), failures)


@attrs.define
class CandidateSet:
    """The slots that are still candidates of one request, and what took the others."""

    slots: Table
    keep: Mask = attrs.field(init=False)
    removals: list[Removal] = attrs.field(factory=list)
    warnings: list[tuple[Reason, Mask]] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.keep = np.ones(len(self.slots), dtype=np.bool_)

    def ask(self, truth: TrueRows, reason: Reason, rows: NDArray[np.intp] | None = None) -> None:
        """Leave the slots on which a condition is true, of those that it is about: ``rows`` (None: all)."""
        keep = self.keep if rows is None else self.keep[rows]
        before = np.count_nonzero(keep)
        keep &= truth.rows
        if rows is not None:
            self.keep[rows] = keep
        removed = int(before - np.count_nonzero(keep))
        self.removals.append(Removal(reason, removed, len(truth.rows) - truth.count))

    def remove(self, mask: Mask, reason: Reason) -> None:
        """Take the slots of the mask away; where the reason does not enforce, only count and note them."""
        rejected = int(np.count_nonzero(mask))
        if not rejected:
            return
        removed = int(np.count_nonzero(mask & self.keep))
        self.removals.append(Removal(reason, removed, rejected))
        if reason.mode is Mode.ENFORCE:
            self.keep &= ~mask
        else:
            self.warnings.append((reason, mask))

    def remove_all(self, reason: Reason) -> None:
        """Remove every slot for one reason."""
        self.remove(np.ones(len(self.slots), dtype=np.bool_), reason)


def _requirements(sieve: CandidateSet, job: ClassAd, requirements: Requirements, env: Environment) -> None:
    """Ask the Requirements of both sides, each conjunct counted; ``env`` is what ``random`` draws from here."""
    if "Requirements" not in job:
        sieve.remove_all(_NO_JOB_REQUIREMENTS)
    for conjunct, truth in requirements.of_job(job, env):
        if truth.some_false:
            sieve.ask(truth, conjunct.reason(), conjunct.rows)
    if requirements.given.some_false:
        sieve.ask(requirements.given, _NO_SLOT_REQUIREMENTS)
    for conjunct, truth in requirements.of_slots(job, env):
        if truth.some_false:
            sieve.ask(truth, conjunct.reason(), conjunct.rows)


def _constraints(
    sieve: CandidateSet, request: Request, board: SlotMatcher, bundle: Bundle, cycle: Cycle
) -> None:
    """Apply the central constraints, conjunct by conjunct."""
    for constraint in bundle.constraints:
        for conjunct in constraint.conjuncts:
            truth = board.requirements.kept.of(
                conjunct.expression, request.ad, constraint.slot_side, cycle.environment
            )
            if conjunct.reason.mode is not Mode.ENFORCE:
                sieve.remove(~truth.rows, conjunct.reason)
            elif truth.some_false:
                sieve.ask(truth, conjunct.reason)


def _filters(sieve: CandidateSet, request: Request, bundle: Bundle, cycle: Cycle) -> tuple[HookFailure, ...]:
    answers = bundle.hooks.ask(
        specs.negotiator_filter_slots,
        request=request,
        slots=sieve.slots,
        cycle=cycle,
        settings=bundle.settings,
    )
    for stamped in answers.records:
        sieve.remove(~stamped.record.allow, plugin_reason(Station.MATCH, stamped))
    for failure in answers.failures:
        sieve.remove_all(failure_reason(Station.MATCH, failure))
    return answers.failures


def _in_use(slots: Table) -> Mask:
    """Tell which slots serve somebody, by the State that they have, evaluated alone."""
    states = evaluate_table(Attr("State"), slots)
    if not states.has(Kind.STRING):
        return np.zeros(len(slots), dtype=np.bool_)
    found = np.isin(states.folded, [slots.pool.code(state) for state in _IN_USE])
    return np.array(np.broadcast_to(found & states.where(Kind.STRING), len(slots)))


_NO_JOB_REQUIREMENTS = core_reason(
    Station.MATCH, Verdict.MISCONFIGURED, "no_job_requirements", "the job has no Requirements"
)
_NO_SLOT_REQUIREMENTS = core_reason(
    Station.MATCH, Verdict.MISCONFIGURED, "no_slot_requirements", "the slot has no Requirements"
)
_IN_USE_REASON = core_reason(Station.MATCH, Verdict.WAITING, "in_use", "the slot is in use", "State")
_TAKEN_REASON = core_reason(
    Station.MATCH, Verdict.WAITING, "taken", "the slot went to an earlier request of this cycle"
)
