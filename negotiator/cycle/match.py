"""Station *match*: for one request, the slots that are left after every reason, each reason counted; then the best.

All work is on columns: nothing here runs per slot, nor per job where jobs are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Side, Table, bind, evaluate_table
from negotiator.cycle.jobs import is_in, names
from negotiator.cycle.rank import best, ranks
from negotiator.cycle.requirements import (
    Part,
    job_requirements,
    shown,
    slot_parts,
    slot_requirements,
    split,
    without_requirements,
)
from negotiator.cycle.result import Removal
from negotiator.cycle.words import constraint_reason, core_reason, failure_reason, plugin_reason
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import ConstraintSide, Cycle, Mask, Request
from negotiator.records import Mode, Reason, Station, Verdict

#: States of a slot that serves somebody already (HTCondor manual, Machine ClassAd Attributes, State).
_IN_USE = frozenset({"claimed", "matched", "preempting"})


@attrs.define
class Board:
    """The slots of one cycle, and which of them are still to be had."""

    slots: Table
    parts: tuple[Part, ...]
    in_use: Mask  # by somebody, as the pool shows it
    taken: Mask  # by an earlier request of this cycle

    @classmethod
    def of(cls, slots: Table) -> Board:
        """Set up the board of a cycle."""
        in_use = is_in(names(slots, "State"), _IN_USE)
        return cls(slots, slot_parts(slots), in_use, np.zeros(len(slots), dtype=np.bool_))


@attrs.frozen
class Candidates:
    """What a request may have: the rows of the best slots first, their ranks, and why the others are not there."""

    rows: NDArray[np.intp]  # at most request.count
    ranks: NDArray[np.float64]  # the job's Rank of these
    left: int  # how many slots passed every reason
    removals: tuple[Removal, ...]
    noted: tuple[tuple[Reason, Mask], ...]  # of rules that do not enforce: the slots they would have taken
    failures: tuple[HookFailure, ...]


def match(request: Request, board: Board, bundle: Bundle, cycle: Cycle) -> Candidates:
    """Find the best slots for a request, and count what each reason took from it."""
    sieve = _Sieve(board.slots)
    for mask, reason in _requirements(request, board, cycle):
        sieve.remove(mask, reason)
    _constraints(sieve, request, bundle, cycle)
    failures = _filters(sieve, request, bundle, cycle)
    sieve.remove(board.in_use, _IN_USE_REASON)
    sieve.remove(board.taken, _TAKEN_REASON)

    left = np.flatnonzero(sieve.keep)
    if not len(left):
        nothing = np.zeros(0)
        return Candidates(left, nothing, 0, tuple(sieve.removals), tuple(sieve.noted), failures)
    table = board.slots if len(left) == len(board.slots) else board.slots.take(left)
    pool, job = ranks(table, request.ad, cycle.environment)
    chosen = best(min(request.count, len(left)), pool, job)
    return Candidates(
        left[chosen], job[chosen], len(left), tuple(sieve.removals), tuple(sieve.noted), failures
    )


@attrs.define
class _Sieve:
    """The slots that are still candidates of one request, and what took the others."""

    slots: Table
    keep: Mask = attrs.field(init=False)
    removals: list[Removal] = attrs.field(factory=list)
    noted: list[tuple[Reason, Mask]] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.keep = np.ones(len(self.slots), dtype=np.bool_)

    def remove(self, mask: Mask, reason: Reason) -> None:
        """Take the slots of the mask away; where the reason does not enforce, only count and note them."""
        alone = int(np.count_nonzero(mask))
        if not alone:
            return
        removed = int(np.count_nonzero(mask & self.keep))
        self.removals.append(Removal(reason, removed, alone))
        if reason.mode is Mode.ENFORCE:
            self.keep &= ~mask
        else:
            self.noted.append((reason, mask))

    def remove_all(self, reason: Reason) -> None:
        self.remove(np.ones(len(self.slots), dtype=np.bool_), reason)


def _requirements(request: Request, board: Board, cycle: Cycle) -> Iterator[tuple[Mask, Reason]]:
    env = cycle.environment
    yield from job_requirements(request.ad, board.slots, env)
    yield without_requirements(board.slots)
    yield from slot_requirements(board.parts, request.ad, board.slots, env)


def _constraints(sieve: _Sieve, request: Request, bundle: Bundle, cycle: Cycle) -> None:
    """AND the central expressions, each conjunct counted; one that does not enforce is counted as a whole.

    They are bound, so that MY and TARGET are the ads whatever these define.
    """
    for stamped in bundle.constraints:
        side = Side.TARGET if stamped.record.side is ConstraintSide.JOB else Side.MY
        written = stamped.record.expression
        parts = split(written) if stamped.record.mode is Mode.ENFORCE else (written,)
        for part in parts:
            found = evaluate_table(bind(part), sieve.slots, request.ad, side=side, env=cycle.environment)
            sieve.remove(~found.is_true(), constraint_reason(stamped, shown(part) if len(parts) > 1 else ""))


def _filters(sieve: _Sieve, request: Request, bundle: Bundle, cycle: Cycle) -> tuple[HookFailure, ...]:
    answers = bundle.hooks.filter_slots(request, sieve.slots, cycle, bundle.settings)
    for stamped in answers.records:
        sieve.remove(~stamped.record.allow, plugin_reason(Station.MATCH, stamped))
    for failure in answers.failures:
        sieve.remove_all(failure_reason(Station.MATCH, failure))
    return answers.failures


_IN_USE_REASON = core_reason(Station.MATCH, Verdict.WAITING, "in_use", "the slot is in use", "State")
_TAKEN_REASON = core_reason(
    Station.MATCH, Verdict.WAITING, "taken", "the slot went to an earlier request of this cycle"
)
