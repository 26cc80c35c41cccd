"""The slots that the allowance of a turn admits, in the order of preference, by their weights."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from negotiator.hooks.order import RowNumbers, SlotAllowance, Weights
from negotiator.hooks.records import Mask
from negotiator.hooks.slot_offer import Preemption, PreemptionStates


@attrs.frozen(eq=False)
class AdmittedSlots:
    """The places of the admitted slots in the list of candidates, (G,), and of those that are too heavy, (H,).

    ``stopped``: the turn has taken all that it may before the list or the jobs ended.
    """

    places: RowNumbers
    too_heavy: RowNumbers
    stopped: bool


def admit_slots(
    allowance: SlotAllowance, rows: RowNumbers, jobs: int, states: PreemptionStates | None = None
) -> AdmittedSlots:
    """Admit slots to so many jobs, one after the other; a slot that is too heavy is skipped for good.

    :param rows: the candidates, best first, (C,).
    :param states: what a match with each candidate ends, (C,); None: they are free.

    Takes one pass over the candidates for each weight among those that are too heavy. Sums are those of one addition
    after the other, so that they are rounded as in HTCondor.
    """
    if states is None and len(rows) and jobs:
        use = FreeSlotUse.of(allowance)
        if use.take(rows[:jobs]):  # as usual, all of them fit
            stopped = len(rows) < jobs and use.is_over
            return AdmittedSlots(np.arange(min(jobs, len(rows))), np.zeros(0, np.intp), stopped)
    turn = _TurnUse.of(allowance, rows, states)
    left = np.arange(len(rows), dtype=np.intp)
    admitted: list[RowNumbers] = []
    heavy: list[RowNumbers] = []
    while len(left) and jobs:
        own = left[:jobs]
        fits, begins = turn.admits(own)
        ends = np.flatnonzero(~(fits & begins))
        count = int(ends[0]) if len(ends) else len(own)
        admitted.append(own[:count])
        turn.take(own[:count])
        jobs -= count
        left = left[count:]
        if count == len(own):
            continue
        if not begins[count]:
            return _admitted(admitted, heavy, stopped=True)
        room = turn.has_room(left)
        heavy.append(left[~room])
        left = left[room]
    return _admitted(admitted, heavy, stopped=bool(jobs) and turn.used >= allowance.stop)


@attrs.define(eq=False)
class FreeSlotUse:
    """The weight of the slots that were taken one after the other: of ``free`` ones, and of ``every`` slot."""

    allowance: SlotAllowance
    free: float
    every: float

    @classmethod
    def of(cls, allowance: SlotAllowance) -> FreeSlotUse:
        """Return what was used before a turn."""
        return cls(allowance, allowance.used, allowance.used_in_all)

    @property
    def is_over(self) -> bool:
        """True if the turn takes no more slots."""
        return self.every >= self.allowance.stop

    def refuses(self, among: Mask) -> bool:
        """True if each of some free slots, (N,), is too heavy: their weights are looked at where they may be."""
        used, weights, limit = self.free, self.allowance.weights, self.allowance.limit
        if _is_within(used, used + self._heaviest, limit):
            return False
        return not _is_within(used, used + weights[among].min(initial=np.inf), limit)

    @cached_property
    def _heaviest(self) -> float:
        return float(self.allowance.weights.max(initial=0.0))

    def take(self, rows: RowNumbers) -> bool:
        """Take free slots one after the other; False, and nothing is taken, if it is not certain that each is admitted."""
        before, free, every = self.every, self.free, self.every
        for weight in self.allowance.weights[rows].tolist():
            before, free, every = every, free + weight, every + weight
        is_admitted = free <= self.allowance.limit and before < self.allowance.stop
        if is_admitted:
            self.free, self.every = free, every
        return is_admitted


@attrs.define(eq=False)
class _TurnUse:
    """What a turn has used, and which candidates it may still take; ``weights`` and masks are those of candidates, (C,)."""

    allowance: SlotAllowance
    weights: Weights
    free: Mask
    limited: Mask  # slots that do not prefer the request to the job that they run
    listed: Mask  # slots that were within the limits when the candidates were listed
    used_free: float
    used: float

    @classmethod
    def of(cls, allowance: SlotAllowance, rows: RowNumbers, states: PreemptionStates | None) -> _TurnUse:
        weights, claimed = allowance.weights[rows], allowance.claimed
        states = np.full(len(rows), Preemption.NONE, np.int8) if states is None else states
        listed = states == Preemption.NONE
        if claimed is not None:
            listed |= _is_within(claimed.used_before, claimed.used_before + weights, claimed.limit)
        return cls(
            *(allowance, weights, states == Preemption.NONE, states != Preemption.RANK, listed),
            *(allowance.used, allowance.used_in_all),
        )

    def admits(self, places: RowNumbers) -> tuple[Mask, Mask]:
        """Return which candidates the limits admit, and which come before the turn stops, if all before are taken."""
        weights = self.weights[places]
        free = _sums(self.used_free, np.where(self.free[places], weights, 0.0))
        every = _sums(self.used, weights)
        return self._fits(places, free[:-1], every[:-1]), every[:-1] < self.allowance.stop

    def has_room(self, places: RowNumbers) -> Mask:
        """Return which candidates the limits admit if each were the next."""
        return self._fits(places, self.used_free, self.used)

    def take(self, places: RowNumbers) -> None:
        """Count candidates as taken."""
        weights = self.weights[places]
        self.used_free = float(_sums(self.used_free, weights[self.free[places]])[-1])
        self.used = float(_sums(self.used, weights)[-1])

    def _fits(self, places: RowNumbers, used_free: Weights | float, used: Weights | float) -> Mask:
        """Return which candidates fit, after slots of the weight ``used``, of them free ones of ``used_free``.

        A slot that runs a job needs to be within one of the two limits. One that prefers the request needs it only after
        the first grant since the candidates were listed.
        """
        weights, claimed = self.weights[places], self.allowance.claimed
        within = _is_within(used_free, used_free + weights, self.allowance.limit)
        if claimed is None:
            return self.listed[places] & within
        within |= ~self.free[places] & _is_within(used, used + weights, claimed.limit)
        preferring = within | (np.asarray(used) <= claimed.used_before)
        return np.where(self.limited[places], self.listed[places] & within, preferring)


def _sums(used: float, weights: Weights) -> Weights:
    """Return what is used before each of some slots, if all before it are taken, and at last after all of them."""
    sums = np.empty(len(weights) + 1)
    sums[0] = used
    sums[1:] = weights
    return np.asarray(sums.cumsum())


def _is_within(before: Weights | float, after: Weights | float, limit: float) -> Mask:
    return (np.asarray(after) <= limit) | ((np.asarray(before) <= 0) & (limit > 0))


def _admitted(admitted: list[RowNumbers], heavy: list[RowNumbers], *, stopped: bool) -> AdmittedSlots:
    none = np.zeros(0, np.intp)
    return AdmittedSlots(np.concatenate([none, *admitted]), np.concatenate([none, *heavy]), stopped)
