"""Counts what rules and quotas reject at the turns of a cycle: of each request at its last one."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.result import Removal
from negotiator.explain.rules.counts import RuleCounts, RuleKey
from negotiator.explain.rules.overlaps import Overlaps
from negotiator.hooks.order import (
    Feedback,
    OrderContext,
    OrderResult,
    QueuedRequest,
    RequestOrder,
    StopCause,
    WaitReason,
)
from negotiator.hooks.slot_offer import SlotOffer
from negotiator.records import Mode, Reason, Station


@attrs.define(eq=False)
class OverlappingCandidates(CandidateSet):
    """The candidates of a request, with the slots that each rule rejects independently of the others."""

    overlaps: Overlaps = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        CandidateSet.__attrs_post_init__(self)
        self.overlaps = Overlaps.of_rows(len(self.slots))

    def require(self, truth: TrueRows, reason: Reason, rows: NDArray[np.intp] | None = None) -> None:
        """Note the slots on which a condition is not true."""
        self.overlaps.reject(RuleKey.of(reason), ~truth.rows, rows)
        CandidateSet.require(self, truth, reason, rows)

    def require_of_slots(self, conjunct: Conjunct, truth: TrueRows) -> Iterator[tuple[int, Removal]]:
        """Note the slots on which a conjunct of their own is not true."""
        self.overlaps.reject(RuleKey.of(conjunct.written[0].reason()), ~truth.rows, conjunct.rows)
        return CandidateSet.require_of_slots(self, conjunct, truth)

    def remove_rows(self, gone: TrueRows, reason: Reason) -> None:
        """Note the slots that are removed."""
        self.overlaps.reject(RuleKey.of(reason), gone.rows)
        CandidateSet.remove_rows(self, gone, reason)


@attrs.define(eq=False)
class CountedTurns:
    """What rules reject, by the number of the request and the rule."""

    by_request: dict[int, dict[RuleKey, RuleCounts]] = attrs.field(factory=dict)
    _latest: OverlappingCandidates | None = None

    def counts(self) -> Iterator[tuple[RuleKey, RuleCounts]]:
        """Yield the counts of each request; a quota that another rule hid is left out: no reason names it."""
        for counts in self.by_request.values():
            yield from ((key, own) for key, own in counts.items() if key.plugin)

    def candidate_set(self, slots: Table) -> CandidateSet:
        """Make the set of the candidates of the next turn."""
        self._latest = OverlappingCandidates(slots)
        return self._latest

    def end_turn(self, feedback: Feedback, context: OrderContext) -> None:
        """Count a turn instead of the earlier ones of its request."""
        latest, self._latest = self._latest, None
        if latest is None or feedback.cause is StopCause.TIME:
            return
        found, left = latest.overlaps.counted(), feedback.left
        if left and (feedback.candidates or any(alone for _, alone in found.values())):
            _add_quotas(latest.overlaps, feedback, context)
            found = latest.overlaps.counted()
        # A request that has taken all that its order allows would get no more, whatever its candidates.
        more = 0 if feedback.cause is StopCause.ALLOWANCE else left
        self.by_request[feedback.queued.number] = {
            key: RuleCounts(
                requests=1, slots=slots, slots_alone=alone, jobs=left, jobs_alone=min(more, alone)
            )
            for key, (slots, alone) in found.items()
        }


def _add_quotas(overlaps: Overlaps, feedback: Feedback, context: OrderContext) -> None:
    """Add the slots that quotas refuse to the next job, each tried by itself.

    Quotas of applications can't be tried: one that refused a job refuses every slot.
    """
    free = np.ones_like(overlaps.by_core)
    free[feedback.slots] = False
    named = {
        (each.provenance.rule, str(each.provenance.source or "")): RuleKey.of(each)
        for each in feedback.denied
        if each.provenance.station is Station.CHARGE
    }
    masks = dict.fromkeys(named.values(), free)
    for refusal in context.refusals(feedback.queued, ""):
        place = refusal.quota.rule, str(refusal.quota.source or "")
        # Without the name of its plugin: it is a quota that another rule hid.
        key = named.get(place) or RuleKey("", *place, Mode.ENFORCE)
        masks[key] = free if refusal.slots is None else free & refusal.slots
    for key, mask in masks.items():
        overlaps.reject(key, mask)


@attrs.define(eq=False)
class CountingOrder(RequestOrder):
    """The order of a cycle, which counts what rules reject at each turn."""

    order: RequestOrder
    context: OrderContext
    turns: CountedTurns

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        return self.order.next()

    def feedback(self, feedback: Feedback) -> None:
        """Count a turn, and give its outcome to the order."""
        self.turns.end_turn(feedback, self.context)
        self.order.feedback(feedback)

    def offer(self) -> SlotOffer | None:
        """Return the slots of the cycle."""
        return self.order.offer()

    def wait_reason(self, queued: QueuedRequest) -> WaitReason | None:
        """Return why a request had no turn."""
        return self.order.wait_reason(queued)

    def ended(self) -> OrderResult:
        """Return what the order leaves."""
        return self.order.ended()
