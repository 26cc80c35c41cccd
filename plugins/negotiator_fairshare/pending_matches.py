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
from negotiator_fairshare.accounts.account import ResourceRecord, stored
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.pie.slot_weights import SlotUse, WeightScale, claimed_slots, slot_keys


@attrs.frozen(eq=False)
class PendingMatches:
    """The matches, each a submitter as written and its weight, and their ``slots``, (M,).

    ``left_out`` has the slots of matches that take no part in the cycle.

    A slot weighs as much as in the cycle of its match, and is used once: if it shows a claim, which the match is to end, by the user
    of that claim, whether it takes part or not. Several matches of one slot have an equal part of it. A match whose slot the pool
    does not have is left out. A running job on a slot without a claim is such a match.
    """

    matches: tuple[tuple[str, float], ...]
    slots: Table
    left_out: Table

    @classmethod
    def of(
        cls,
        context: OrderContext,
        scale: WeightScale,
        name_of: Callable[[str], str],
        env: Environment,
        owned: Callable[[Table, Environment], Mask] | None = None,
    ) -> Self:
        """Read the matches of a cycle.

        :param name_of: returns the name of a submitter as written, of its name in lower case.
        :param owned: returns which slots this negotiator counts, (S,); None for all. The others count the matches of theirs.
        """
        rows: list[int] = []
        submitters: list[str] = []
        outside: set[int] = set()
        for claims, copies, is_shown in _of_matches(context.in_use, env):
            submitter = name_of(claims.request.submitter)
            if owned is not None:
                copies[copies] = owned(claims.slot_ads.take(claims.slot_rows[copies]), env)
            own = claims.slot_rows[copies & ~is_shown].tolist()
            rows += own
            submitters += [submitter] * len(own)
            outside.update(claims.slot_rows[copies & (claims.slots < 0)].tolist())
        if not rows and not outside:
            none = context.slots.take(np.zeros(0, np.intp))
            return cls((), none, none)
        ads = context.in_use[0].slot_ads
        slots = ads.take(np.array(rows, np.intp))
        weights, counts = scale.of(slots).tolist(), Counter(rows)
        shares = (weight / counts[row] for row, weight in zip(rows, weights, strict=True))
        matches = tuple(zip(submitters, shares, strict=True))
        return cls(matches, slots, ads.take(np.array(sorted(outside), np.intp)))

    def count(
        self, use: UseCounter, scale: WeightScale, env: Environment, now: int, *, discount_suspended: bool
    ) -> dict[str, ResourceRecord]:
        """Count the matches as use, and the claims of slots that take no part in the cycle; return their records, by key.

        :param now: when they are counted, in seconds since the epoch.
        :param discount_suspended: see ``SlotUse``.
        """
        shown = SlotUse.of(self.left_out, env, discount_suspended=discount_suspended)
        records = shown.records(self.left_out, scale.of(self.left_out), now)
        for each in records.values():
            use.add(each.user, each.weight)
        for key, (submitter, weight) in zip(slot_keys(self.slots), self.matches, strict=True):
            use.add(submitter, weight)
            records[key] = ResourceRecord(submitter, stored(weight), now)
        return records


def _of_matches(in_use: Sequence[ClaimsInUse], env: Environment) -> Iterator[tuple[ClaimsInUse, Mask, Mask]]:
    """Yield claims with the copies of them, (K,), that are matches on slots of the pool, and those whose slots show a claim.

    A running job is one only as long as its slot shows no claim.
    """
    shown = None
    for claims in in_use:
        shown = claimed_slots(claims.slot_ads, env) if shown is None else shown
        is_shown = shown[claims.slot_rows] if len(shown) else np.ones(len(claims.slots), np.bool_)
        copies = claims.slot_rows >= 0
        if not claims.pending:
            copies = copies & ~is_shown
        if copies.any():
            yield claims, copies, is_shown


def names_as_written(*names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that returns the first of some names that is equal in lower case; without one, its argument."""
    found: dict[str, str] = {}
    for each in names:
        for name in each:
            found.setdefault(name.lower(), name)
    return lambda folded: found.get(folded, folded)
