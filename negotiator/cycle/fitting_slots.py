"""The slots that a turn takes of the candidates of a request: the best that its allowance admits, by their weights, and that fit the quotas.

Candidates are sorted and examined only as far as it takes. What is refused in any order is set aside: all slots once a user's limit is
reached, and, if the best few do not serve all jobs, the hosts that the user has filled. How many of these would have been examined is
counted afterwards.
"""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Environment
from negotiator.cycle.charges import Charges
from negotiator.cycle.match import MatchCandidates
from negotiator.cycle.rank import Ranks
from negotiator.hooks.order import RowNumbers, SlotAllowance, Weights
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.hooks.slot_offer import Preemption, PreemptionStates
from negotiator.ledger import Admission, KnownRefusals, Ledger, Rows
from negotiator.records import Mode

#: If charges differ between slots: the number of slots that are examined first, and the factor of each further try.
_FEW, _MORE = 16, 8
#: The number of copies up to which the best slots are tried before full slots are looked for.
_FEW_COPIES = 32


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


@attrs.frozen(eq=False)
class FittingSlots:
    """The best slots, (C,), the job's Rank of them, and which of them fit; nothing is charged.

    ``skipped`` are slots before the last grant that were not examined: the number of the charge that refuses them, and all slots
    that it refuses, the best of them first. ``after`` are those after the last grant: the number of the charge that refuses them, and
    how many they are.
    """

    rows: Rows
    ranks: NDArray[np.float64]
    admission: Admission
    skipped: tuple[int, Rows] | None = None
    after: tuple[int, int] | None = None
    too_heavy: int = 0
    stopped: bool = False

    @property
    def refuses(self) -> bool:
        """True if a charge refused a slot or a job."""
        admission = self.admission
        examined = any(admission.refused) or any(admission.copies_refused)
        return examined or self.skipped is not None or self.after is not None

    def refused(self, number: int) -> tuple[Rows, int]:
        """Return the slots that a charge refused, the best of them first, and the number of further ones."""
        return self._rows(number), self.after[1] if self.after is not None and self.after[0] == number else 0

    def _rows(self, number: int) -> Rows:
        if self.skipped is not None and self.skipped[0] == number:
            return self.skipped[1]
        admission = self.admission
        if not admission.refused[number]:
            return self.rows[:0]
        return np.asarray(self.rows[: len(admission.stops)][admission.stops == number])


def fitting_slots(
    charges: Charges,
    request: Request,
    candidates: MatchCandidates,
    among: Mask,
    ranks: Ranks,
    ledger: Ledger,
    cycle: Cycle,
) -> FittingSlots:
    """Return the best of some candidates, (N,), and which of them fit the quotas.

    Sorting all candidates would be most of the work. If all slots are charged alike, only as many are examined as there
    are jobs: if one does not fit, no other does. Otherwise a few more are examined, and again more if too few fit.
    """
    search = _SlotSearch(charges, candidates, ranks, ledger, cycle.environment)
    copies, known = len(request.applications), None
    if candidates.copies is None and candidates.preempting is None:
        known = charges.known_refusals(ledger, copies)
    if known is not None and not ranks.is_random(candidates.turn.ad):
        return search.find_known(among, known)
    return search.find(among, copies, alike=charges.is_uniform)


@attrs.frozen(eq=False)
class _SlotSearch:
    """What is sorted for a request: its charges, its candidates, and the ranks of the job."""

    charges: Charges
    candidates: MatchCandidates
    ranks: Ranks
    ledger: Ledger
    env: Environment

    def find(self, among: Mask, copies: int, *, alike: bool, more: bool = True) -> FittingSlots:
        """Examine the best few of some candidates, (N,), and ``more`` if too few fit; as many as copies if all are charged ``alike``."""
        repeated = self.candidates.copies
        count = copies if alike else max(_FEW, 2 * copies)
        while True:
            rows, own = self.candidates.choose(among, count, self.ranks, self.env)
            if repeated is not None:
                rows, own = repeated.repeated(rows, own)
            admission = self.charges.admit(self.ledger, rows, copies, Mode.ENFORCE)
            if alike or not more or len(admission) == copies or count >= np.count_nonzero(among):
                return FittingSlots(rows, own, admission)
            count *= _MORE

    def find_known(self, among: Mask, known: KnownRefusals) -> FittingSlots:
        """Examine candidates of which some refusals are known.

        Few copies mostly fit on the best few slots: full slots are looked for only if they do not.
        """
        copies, varying = known.copies, known.varying
        if not copies:
            none = np.zeros(0, np.intp)
            found = FittingSlots(none, np.zeros(0), self.charges.admit(self.ledger, none, 0, Mode.ENFORCE))
            return self._with_after(found, among, known, 0)
        if varying is not None and copies > _FEW_COPIES:
            return self._find_beside_full(among, known, varying)
        found = self.find(among, copies, alike=varying is None, more=False)
        if len(found.admission) == copies:
            return self._with_after(found, among, known, 0)
        return found if varying is None else self._find_beside_full(among, known, varying)

    def _find_beside_full(self, among: Mask, known: KnownRefusals, varying: int) -> FittingSlots:
        """Examine candidates without those whose counters are full, and count these."""
        copies, ahead = known.copies, np.zeros(0, np.intp)
        full = self.ledger.full_slots(self.charges.sums[varying].record, len(among))
        full = None if full is None else among & full
        found = self.find(among if full is None else among & ~full, copies, alike=False)
        complete = len(found.admission) == copies
        if full is not None:
            ahead = self._ahead(int(found.admission.rows[-1]), full) if complete else np.flatnonzero(full)
            if len(ahead):
                found = self._with_skipped(found, varying, ahead, full)
        return self._with_after(found, among, known, len(ahead)) if complete else found

    def _with_skipped(self, found: FittingSlots, number: int, ahead: Rows, full: Mask) -> FittingSlots:
        """Add slots that a charge refuses to those that it was found to refuse.

        :param ahead: the full slots that come before the last grant, at least one.
        :param full: all full slots, (N,); it is changed.
        """
        refused = np.concatenate((ahead, found.refused(number)[0]))
        if len(refused) > 1:
            # The reason names the first of them: the best full slot is ahead if any is.
            full[refused[len(ahead) :]] = True
            best = self.candidates.choose(full, 1, self.ranks, self.env)[0]
            place = int((refused == best[0]).argmax())
            refused[[0, place]] = refused[[place, 0]]
        return attrs.evolve(found, skipped=(number, refused))

    def _with_after(
        self, found: FittingSlots, among: Mask, known: KnownRefusals, skipped: int
    ) -> FittingSlots:
        """Add the candidates after the last grant, if a charge refuses them all."""
        if known.then is None:
            return found
        after = int(np.count_nonzero(among)) - len(found.admission.stops) - skipped
        return attrs.evolve(found, after=(known.then, after)) if after else found

    def _ahead(self, row: int, among: Mask) -> Rows:
        """Return which of some slots, (N,), the request prefers to another slot."""
        return self.ranks.ahead(self.candidates.turn.ad, among, row, self.env, self.candidates.first)
