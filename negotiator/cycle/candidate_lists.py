"""The candidates that one job leaves to the next ones, for turns that test the best of them again (``CandidateRecheck``).

Source: HTCondor manual, PREEMPTION_REQUIREMENTS_STABLE and PREEMPTION_RANK_STABLE; condor_negotiator 25.14, ``cache_still_valid``.
"""

from __future__ import annotations

import attrs
import numpy as np

from negotiator.classad import Ad, Environment, Expr, Side
from negotiator.cycle.match import MatchCandidates, SlotMatcher
from negotiator.cycle.preemption import PreemptingCandidates, SlotPreemption
from negotiator.hooks.order import CandidateRecheck, QueuedRequest
from negotiator.hooks.records import Mask
from negotiator.hooks.slot_offer import Preemption
from negotiator.ledger import Rows

#: Preemption whose rank is tested again.
_RANKED = (Preemption.PRIORITY, Preemption.RANK)


@attrs.define(eq=False)
class CandidateList:
    """The candidates of a request, best first, as they were listed; those before ``place`` were used or refused."""

    rows: Rows
    preempting: PreemptingCandidates | None
    place: int = 0

    def advance(self, granted: Rows, taken: Mask) -> None:
        """Leave the candidates after those that were granted; one that may be matched again stays, (N,)."""
        places = np.flatnonzero(np.isin(self.rows, granted))
        if len(places):
            last = int(places[-1])
            self.place = last + int(taken[self.rows[last]])

    def best(self, gone: Mask) -> int | None:
        """Return the row of the best candidate left, None without any; ``gone`` (N,) are slots that none gets any more."""
        left = self.rows[self.place :]
        left = left[~gone[left]]
        return int(left[0]) if len(left) else None


@attrs.define(eq=False)
class CandidateLists:
    """The list of candidates of the last request with a ``recheck``."""

    matcher: SlotMatcher
    _last: CandidateList | None = attrs.field(default=None, init=False)

    def current(self, queued: QueuedRequest, env: Environment) -> QueuedRequest:
        """Return the turn to match: that which lists candidates anew if the best one left has changed."""
        recheck = queued.recheck
        if recheck is None:
            return queued
        if recheck.anew is not None and self._is_outdated(recheck, recheck.anew, env):
            queued = recheck.anew
        if queued.slots is None or queued.slots.claimed is None or not self._changes(queued, recheck):
            return queued
        return attrs.evolve(queued, allowance=1)

    def listed(self, queued: QueuedRequest, candidates: MatchCandidates, env: Environment) -> None:
        """Keep the candidates of a turn, if it listed them."""
        if queued.recheck is None or queued.recheck.anew is not None:
            return
        rows, _ = candidates.choose(candidates.among, candidates.left, self.matcher.ranks, env)
        self._last = CandidateList(rows, candidates.preempting)

    def granted(self, queued: QueuedRequest, rows: Rows) -> None:
        """Leave the candidates after those that a turn was granted."""
        if queued.recheck is not None and self._last is not None:
            self._last.advance(rows, self.matcher.taken)

    def _is_outdated(self, recheck: CandidateRecheck, anew: QueuedRequest, env: Environment) -> bool:
        last, preemption = self._last, self.matcher.preemption
        if last is None:
            return True
        row = last.best(self.matcher.taken | self.matcher.unclaimable)
        if row is None:
            return recheck.requirements
        if last.preempting is None or preemption is None:
            return False
        job, state = anew.ad, last.preempting.states[row]
        if recheck.requirements and state == Preemption.PRIORITY and not preemption.allowed(job, env)[row]:
            return True
        ranked = recheck.rank and state in _RANKED
        return bool(ranked and preemption.ranks(job, env)[row] != last.preempting.ranks[-1][row])

    def _changes(self, queued: QueuedRequest, recheck: CandidateRecheck) -> bool:
        """Return whether a match may change the values that are tested again."""
        preemption = self.matcher.preemption
        if preemption is None:
            return False
        tested: list[Expr] = []
        if recheck.requirements and preemption.requirements is not None:
            tested.append(preemption.requirements)
        if recheck.rank:
            tested.append(preemption.rules.rank)
        job = queued.ad
        return any(self._reads(each, job, recheck.changing, preemption) for each in tested)

    @staticmethod
    def _reads(expr: Expr, job: Ad, names: frozenset[str], preemption: SlotPreemption) -> bool:
        found = preemption.cache.key(expr, job, Side.MY).dependencies
        return not found.cacheable or not names.isdisjoint(found.names)
