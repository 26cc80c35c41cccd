"""The best candidates of a request that fit the quotas: they are sorted and examined only as far as it takes.

What is refused in any order is set aside: all slots once a user's limit is reached, and, if the best few do not serve all jobs, the
hosts that the user has filled. How many of these would have been examined is counted afterwards.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Environment
from negotiator.cycle.charges import Charges
from negotiator.cycle.match import MatchCandidates
from negotiator.cycle.rank import Ranks
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.ledger import Admission, KnownRefusals, Ledger, Rows
from negotiator.records import Mode

#: If charges differ between slots: the number of slots that are examined first, and the factor of each further try.
_FEW, _MORE = 16, 8
#: The number of copies up to which the best slots are tried before full slots are looked for.
_FEW_COPIES = 32


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
