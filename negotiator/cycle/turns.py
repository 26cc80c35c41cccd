"""The turns of a cycle: what a request has to pass from its turn to its matches, with the steps in their order.

A request is matched, charged, and taken into account. Most need nothing but the best slots that their conditions leave: such requests
are served many at a time (``Turns.run``), each from arrays that alike requests share. ``Turns.turn`` serves a request of any kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import attrs

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment
from negotiator.cycle.candidate_lists import CandidateLists
from negotiator.cycle.charge import GrantedSlots, charge, refusals, unspecified
from negotiator.cycle.cycle_time import CycleTime
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.fitting_slots import fitting_slots
from negotiator.cycle.match import MatchCandidates, SlotMatcher, match
from negotiator.cycle.matched_attributes import Attributes, MatchedAttributes
from negotiator.cycle.order import feedback_of, feedback_without_time
from negotiator.cycle.outcomes import Outcomes
from negotiator.cycle.progress import CycleProgress, ProgressWatcher, StationWatcher
from negotiator.cycle.recount import Recount
from negotiator.cycle.result import Removal
from negotiator.cycle.slot_allowance import FreeSlotUse
from negotiator.cycle.work_accounts import WorkAccounts, is_exceeded, work_reason
from negotiator.hooks import specs
from negotiator.hooks.order import (
    Feedback,
    QueuedRequest,
    RequestOrder,
    RequestRun,
    ServedRun,
)
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import LedgerError
from negotiator.records import Station


class _ServedRequest(NamedTuple):
    """A request of a run: its slots, the number of its candidates, and what removed others; attributes as in ``Outcomes.add``."""

    granted: GrantedSlots
    candidates: int
    removals: tuple[Removal, ...]
    attributes: Sequence[Attributes] | None
    withdrawn: int


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
        paid = self.work.for_request(cycle, queued)
        env = paid.environment
        queued = self._lists.current(queued, env)
        matcher.begin_turn(queued)
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
        """Serve the first requests of a run, as long as each of their jobs gets a slot; False if the first one has to wait for ``next``."""
        if self.matcher.are_read(run.replaced_names, self.bundle):
            return False
        served, matches = list[_ServedRequest](), 0
        use, candidates = None if run.slots is None else FreeSlotUse.of(run.slots), None
        for queued in run.requests:
            self._begin_turn(len(served), matches)
            if self.time.ends_cycle() or self.time.reached(queued.request.submitter, queued.request.schedd):
                break
            self.matcher.begin_turn(queued)
            self.begin(Station.MATCH)
            paid = self.work.for_request(self.cycle, queued)
            found = self.matcher.plain_candidates(queued, self.bundle, paid, run.replaced_names)
            self.begin(Station.CHARGE)
            granted = None if found is None else self._granted_at_once(queued, found, use, paid)
            self.begin(Station.ORDER)
            if found is None or granted is None:
                break
            candidates = found
            served.append(granted)
            matches += len(granted.granted.rows)
            self._end_turn(queued.request)
        if candidates is None:
            return False
        slots, withdrawn = [each.granted.rows for each in served], [each.withdrawn for each in served]
        turns = order.served(ServedRun(slots, withdrawn, candidates.among))
        for queued, each in zip(turns, served, strict=True):
            self.outcomes.add_granted(queued, each.granted, each.candidates, each.removals, each.attributes)
        return True

    def _granted_at_once(
        self, queued: QueuedRequest, candidates: MatchCandidates, use: FreeSlotUse | None, paid: Cycle
    ) -> _ServedRequest | None:
        """Grant the best candidates to all jobs of a request, and charge them; None, and nothing is charged, if one gets none."""
        request, matcher, ledger = queued.request, self.matcher, self.in_use.ledger
        copies = len(request.applications)
        if not copies or candidates.left < copies or request.user in self.in_use.uncertain:
            return None
        declared = self.declared.of(request, paid, queued=queued)
        if declared.failures or is_exceeded(paid):
            return None
        charges = declared.charges(request, enforcing=True)
        if len(charges) < len(declared.records) or unspecified(request, charges) is not None:
            return None
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
        refused = refusals(charges, chosen, ledger, candidates.left, uniform=charges.is_uniform)
        withdrawn = matcher.take(rows)
        return _ServedRequest(
            granted, candidates.left, (*candidates.removals, *refused), attributes, withdrawn
        )

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
