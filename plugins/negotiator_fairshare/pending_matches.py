"""Matches of earlier cycles that slots do not show yet: use of their submitters, and part of what is divided.

A schedd may show the job of a match as running before the startd shows the claim: until then it counts as the match did.

condor_negotiator forgets them when its next cycle begins, and waits for startds instead (NEGOTIATOR_CYCLE_DELAY).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

import attrs
import numpy as np

from negotiator.plugin import ClaimsInUse, Environment, Mask, OrderContext, Table
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.pie.slot_weights import WeightScale, claimed_slots


@attrs.frozen(eq=False)
class PendingMatches:
    """The matches, each a submitter as written and its weight; ``left_out`` has their slots that take no part in the cycle.

    A slot weighs as much as in the cycle of its match. Several matches of one slot have an equal part of it. A match whose slot
    the pool does not have is left out, and so is one whose slot shows a claim. A running job on a slot without a claim is such a match.
    """

    matches: tuple[tuple[str, float], ...]
    left_out: Table

    @classmethod
    def of(
        cls,
        context: OrderContext,
        claimed: Mask,
        scale: WeightScale,
        name_of: Callable[[str], str],
        env: Environment,
        owned: Callable[[Table, Environment], Mask] | None = None,
    ) -> Self:
        """Read the matches of a cycle.

        :param claimed: the slots of the cycle that show a claim, (S,).
        :param name_of: returns the name of a submitter as written, of its name in lower case.
        :param owned: returns which slots this negotiator counts, (S,); None for all. The others count the matches of theirs.
        """
        rows: list[int] = []
        submitters: list[str] = []
        outside: set[int] = set()
        for claims, copies in _not_shown(context.in_use, claimed, env):
            submitter = name_of(claims.request.submitter)
            if owned is not None:
                copies[copies] = owned(claims.slot_ads.take(claims.slot_rows[copies]), env)
            own = claims.slot_rows[copies].tolist()
            rows += own
            submitters += [submitter] * len(own)
            outside.update(claims.slot_rows[copies & (claims.slots < 0)].tolist())
        if not rows:
            return cls((), context.slots.take(np.zeros(0, np.intp)))
        ads = context.in_use[0].slot_ads
        weights, counts = scale.of(ads.take(np.array(rows, np.intp))).tolist(), Counter(rows)
        shares = (weight / counts[row] for row, weight in zip(rows, weights, strict=True))
        matches = tuple(zip(submitters, shares, strict=True))
        return cls(matches, ads.take(np.array(sorted(outside), np.intp)))

    def count(self, use: UseCounter) -> None:
        """Count the matches as use."""
        for submitter, weight in self.matches:
            use.add(submitter, weight)


def _not_shown(
    in_use: Sequence[ClaimsInUse], claimed: Mask, env: Environment
) -> Iterator[tuple[ClaimsInUse, Mask]]:
    """Yield claims with those of their copies, (K,), of which slots do not show a claim.

    Matches that the pool does not show at all are looked up among the slots of the cycle, running jobs among all slots.
    """
    shown = None
    for claims in in_use:
        if claims.pending:
            found = np.zeros(len(claims.slots), np.bool_)
            inside = claims.slots >= 0
            found[inside] = claimed[claims.slots[inside]]
        else:
            shown = claimed_slots(claims.slot_ads, env) if shown is None else shown
            found = shown[claims.slot_rows] if len(shown) else np.ones(len(claims.slots), np.bool_)
        copies = ~found & (claims.slot_rows >= 0)
        if copies.any():
            yield claims, copies


def names_as_written(*names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that returns the first of some names that is equal in lower case; without one, its argument."""
    found: dict[str, str] = {}
    for each in names:
        for name in each:
            found.setdefault(name.lower(), name)
    return lambda folded: found.get(folded, folded)
