"""The turns of a cycle: what a request has to pass from its turn to its matches, with the steps in their order.

A request is matched, charged, and taken into account. Most need nothing but the best slots that their conditions leave, or get none: such
requests are served many at a time, each from arrays that alike requests share; a request of any kind has a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment, Expr, Side
from negotiator.cycle.charge import GrantedSlots, charge, refusals, unspecified
from negotiator.cycle.cycle_time import CycleProgress, CycleTime, ProgressWatcher, StationWatcher
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.fitting_slots import FreeSlotUse, fitting_slots
from negotiator.cycle.match import MatchCandidates, SlotMatcher, match
from negotiator.cycle.matched_attributes import Attributes, MatchedAttributes
from negotiator.cycle.order import feedback_of, feedback_without_time
from negotiator.cycle.outcomes import Outcomes
from negotiator.cycle.preemption import PreemptingCandidates, SlotPreemption
from negotiator.cycle.recount import Recount
from negotiator.cycle.result import ALLOWANCE_USED, Removal
from negotiator.cycle.work_accounts import WorkAccounts, is_exceeded, work_reason
from negotiator.hooks import specs
from negotiator.hooks.order import (
    CandidateRecheck,
    Feedback,
    QueuedRequest,
    RequestOrder,
    RequestRun,
    ServedRun,
)
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.hooks.slot_offer import Preemption
from negotiator.ledger import LedgerError, Rows
from negotiator.records import Station

_NO_SLOTS = GrantedSlots(np.zeros(0, np.intp), np.zeros(0), np.zeros(0, np.intp))


class _ServedRequest(NamedTuple):
    """A request of a run: its slots, its candidates, and what removed slots from it; attributes as in ``Outcomes.add``."""

    granted: GrantedSlots
    candidates: MatchCandidates
    removals: tuple[Removal, ...]
    attributes: Sequence[Attributes] | None = None
    withdrawn: int = 0
    too_heavy: int = 0


@attrs.define(eq=False)
class Turns:
    """Serves the requests of one cycle; ``requests`` is their number."""

    bundle: Bundle
    cycle: Cycle
    requests: int
    matcher: SlotMatcher
    in_use: Recount
    declared: DeclaredCharges
    attributes: MatchedAttributes
    outcomes: Outcomes
    work: WorkAccounts
    time: CycleTime
    watch: ProgressWatcher
    begin: StationWatcher
    _lists: CandidateLists = attrs.field(init=False)
    _has_runs: bool = attrs.field(init=False)
    _began: bool = attrs.field(default=False, init=False)  # a turn

    def __attrs_post_init__(self) -> None:
        self._lists = CandidateLists(self.matcher)
        scored = self.bundle.hooks.implements(specs.negotiator_score_slots)
        self._has_runs = self.matcher.has_plain_slots and not scored

    def serve(self, order: RequestOrder) -> None:
        """Serve requests until the order has no more, or the time of the cycle is over."""
        while True:
            run = order.run() if self._has_runs else None
            if run is not None and self._run(order, run):
                continue
            queued = order.next()
            if queued is None or self.time.ends_cycle():
                return
            order.feedback(self._turn(queued))
            self._end_turn(queued.request)

    def _turn(self, queued: QueuedRequest) -> Feedback:
        """Serve a request of any kind."""
        cycle, matcher, in_use, begin = self.cycle, self.matcher, self.in_use, self.begin
        self._begin_turn()
        if self.time.reached(queued.request.submitter, queued.request.schedd) is not None:
            return feedback_without_time(queued)
        env = self.work.for_request(cycle, queued).environment
        queued = self._lists.current(queued, env)
        matcher.begin_turn(queued)  # at the first turn, other owners pay too: for following their ranks
        paid = self.work.for_request(cycle, queued)
        request = queued.allowed()
        begin(Station.MATCH)
        candidates = match(request, matcher, self.bundle, paid, queued.slots, queued)
        self._lists.listed(queued, candidates, env)
        begin(Station.CHARGE)
        charges = partial(self.declared.of, request, paid, queued=queued)
        granted = charge(*(request, candidates, matcher, in_use, charges, paid), allowance=queued.slots)
        attributes = None
        if len(granted.rows):
            attributes = self._attributes(queued, granted, env)
            if is_exceeded(paid):  # a later cycle would count the claims for too little
                granted = granted.withdrawn(in_use.ledger, work_reason(paid))
        in_use.end_claims(granted.ended)
        withdrawn = matcher.take(granted.rows, granted.consumption)
        if granted.enlarged is not None:
            matcher.end_jobs(granted.enlarged.ended_by(granted.rows))
        self._lists.granted(queued, granted.rows)
        feedback = feedback_of(queued, candidates, granted, withdrawn)
        self.outcomes.add(queued, candidates, granted, attributes, feedback.cause)
        begin(Station.ORDER)
        return feedback

    def _run(self, order: RequestOrder, run: RequestRun) -> bool:
        """Serve the first requests of a run, as long as all or none of their jobs get a slot; False if the first one has to wait for ``next``."""
        if self.matcher.are_read(run.replaced_names, self.bundle):
            return False
        served, matches = list[_ServedRequest](), 0
        use = None if run.slots is None else FreeSlotUse.of(run.slots)
        for queued in run.requests:
            self._begin_turn(len(served), matches)
            if self.time.ends_cycle() or self.time.reached(queued.request.submitter, queued.request.schedd):
                break
            if use is not None and use.is_over:
                break
            self.matcher.begin_turn(queued)
            self.begin(Station.MATCH)
            paid = self.work.for_request(self.cycle, queued)
            found = self.matcher.plain_candidates(queued, run, self.bundle, paid)
            self.begin(Station.CHARGE)
            granted = None if found is None else self._served_at_once(queued, found, use, paid)
            self.begin(Station.ORDER)
            if granted is None:
                break
            served.append(granted)
            matches += len(granted.granted.rows)
            self._end_turn(queued.request)
        if not served:
            return False
        turns = order.served(
            ServedRun(
                slots=[each.granted.rows for each in served],
                withdrawn=[each.withdrawn for each in served],
                too_heavy=[each.too_heavy for each in served],
                protected=[each.candidates.protected for each in served],
                candidate_slots=served[-1].candidates.among,
            )
        )
        for queued, each in zip(turns, served, strict=True):
            candidates = each.candidates.left
            self.outcomes.add_granted(queued, each.granted, candidates, each.removals, each.attributes)
        return True

    def _served_at_once(
        self, queued: QueuedRequest, candidates: MatchCandidates, use: FreeSlotUse | None, paid: Cycle
    ) -> _ServedRequest | None:
        """Grant the best candidates to all jobs of a request, and charge them, or find that none gets one; None, and nothing is charged, otherwise."""
        request, matcher, ledger = queued.request, self.matcher, self.in_use.ledger
        copies = len(request.applications)
        refused = not candidates.left or (use is not None and use.refuses(candidates.among))
        is_partial = candidates.left < copies and not refused
        if not copies or is_partial or request.user in self.in_use.uncertain:
            return None
        declared = self.declared.of(request, paid, queued=queued)
        if declared.failures or is_exceeded(paid):
            return None
        charges = declared.charges(request, enforcing=True)
        if len(charges) < len(declared.records) or unspecified(request, charges) is not None:
            return None
        if refused:
            if not charges.have_room(ledger, copies):
                return None
            left, removals = candidates.left, candidates.removals
            if left:
                removals = (*removals, Removal(ALLOWANCE_USED, left, left))
            return _ServedRequest(_NO_SLOTS, candidates, removals, too_heavy=left)
        try:
            chosen = fitting_slots(
                charges, request, candidates, candidates.among, matcher.ranks, ledger, paid
            )
            admission = chosen.admission
            rows = admission.rows
            if len(rows) < copies or len(matcher.claim_ids.missing(rows)):
                return None
            granted = GrantedSlots(rows, chosen.ranks[admission.positions], admission.copies)
            attributes = self._attributes(queued, granted, paid.environment)
            if is_exceeded(paid) or (use is not None and not use.take(rows)):
                return None
            ledger.commit(admission)
        except LedgerError:
            return None
        refusing = refusals(charges, chosen, ledger, candidates.left, uniform=charges.is_uniform)
        withdrawn = matcher.take(rows)
        return _ServedRequest(granted, candidates, (*candidates.removals, *refusing), attributes, withdrawn)

    def _begin_turn(self, requests: int = 0, matches: int = 0) -> None:
        """Begin a turn, unless it began in a run; ``requests`` and ``matches`` are of a run that goes on."""
        if not self._began:
            served, matched = self.outcomes.requests + requests, self.outcomes.matched + matches
            self.watch(CycleProgress(Station.MATCH, self.requests, served, matched))
            self.time.begin_turn()
            self._began = True

    def _end_turn(self, request: Request) -> None:
        self.time.end_turn(request)
        self._began = False

    def _attributes(
        self, queued: QueuedRequest, granted: GrantedSlots, env: Environment
    ) -> Sequence[Attributes] | None:
        return None if self.attributes.is_constant(queued) else self.attributes.of(queued, granted.rows, env)


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
    """The candidates that one job leaves to the next ones, for turns that test the best of them again (``CandidateRecheck``).

    Source: HTCondor manual, PREEMPTION_REQUIREMENTS_STABLE and PREEMPTION_RANK_STABLE; condor_negotiator 25.14,
    ``cache_still_valid``.
    """

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
