"""Runs a cycle, and counts what rules and quotas reject at its turns: of each request at its last one.

Of several rules all rows that each of them rejects are counted, and those that no other one that enforces rejects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import not_served
from negotiator.cycle.loop import allocator, run_cycle
from negotiator.cycle.reasons import plugin_reason
from negotiator.cycle.result import CycleResult, Removal, RequestOutcome
from negotiator.explain.rules.counts import RuleCounts, RuleKey
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.hooks.order import (
    Feedback,
    OrderContext,
    OrderResult,
    QueuedRequest,
    RequestOrder,
    StopCause,
    WaitReason,
)
from negotiator.hooks.records import Cycle, Mask
from negotiator.hooks.slot_offer import SlotOffer
from negotiator.pool.snapshot import Snapshot
from negotiator.records import CORE, Mode, Reason, Station


@attrs.define(eq=False)
class Overlaps:
    """The rows, (N,), that each rule rejects; ``by_core`` are those that the core's own reasons do, such as the Requirements of an ad."""

    by_core: Mask
    by_rule: dict[RuleKey, Mask] = attrs.field(factory=dict)

    @classmethod
    def of_rows(cls, rows: int) -> Overlaps:
        """Return rows that nothing rejects."""
        return cls(np.zeros(rows, np.bool_))

    def reject(self, key: RuleKey, mask: Mask, rows: NDArray[np.intp] | None = None) -> None:
        """Add rows that a rule rejects: those of a mask, (N,), or of the mask of some rows."""
        if key.plugin == CORE:
            own = self.by_core
        elif mask.any():
            own = self.by_rule.setdefault(key, np.zeros_like(self.by_core))
        else:
            return
        if rows is None:
            own |= mask
        else:
            own[rows] |= mask

    def counted(self) -> dict[RuleKey, tuple[int, int]]:
        """Return how many rows each rule rejects, and how many of them nothing else that enforces does."""
        total = self.by_core.astype(np.int32)
        for key, mask in self.by_rule.items():
            if key.mode == Mode.ENFORCE:
                total += mask
        found = {}
        for key, mask in self.by_rule.items():
            alone = mask & (total == (key.mode == Mode.ENFORCE))
            found[key] = int(np.count_nonzero(mask)), int(np.count_nonzero(alone))
        return found


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


@attrs.frozen(eq=False)
class CountedRules:
    """A cycle, and what each rule of a plugin did in it."""

    result: CycleResult
    counts: dict[RuleKey, RuleCounts]


def count_rules(snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState) -> CountedRules:
    """Run a cycle, and count what each rule does; nothing is changed."""
    turns = CountedTurns()

    def order(context: OrderContext) -> RequestOrder:
        return CountingOrder(allocator(bundle, context), context, turns)

    result = run_cycle(snapshot, bundle, cycle, state, make_order=order, candidate_set=turns.candidate_set)
    counts: dict[RuleKey, RuleCounts] = {}
    parts = (*_gates(snapshot, bundle, cycle), *turns.counts(), *_warned(result.outcomes))
    for key, own in parts:
        counts.setdefault(key, RuleCounts()).add(own)
    return CountedRules(result, counts)


def _gates(snapshot: Snapshot, bundle: Bundle, cycle: Cycle) -> Iterator[tuple[RuleKey, RuleCounts]]:
    """Yield what the gates of each kind of ads discard; of jobs, only of those that schedds offer."""
    served = np.ones(len(snapshot.jobs), np.bool_)
    for mask, _ in not_served(snapshot.jobs, cycle.now):
        served &= ~mask
    tables = {**tables_by_kind(snapshot), AdKind.JOB: snapshot.jobs.take(served)}
    for kind, ads in tables.items():
        for key, (rejected, alone) in _discarded(kind, ads, bundle, cycle).counted().items():
            yield key, RuleCounts(ads=rejected, ads_alone=alone)


def _discarded(kind: AdKind, ads: Table, bundle: Bundle, cycle: Cycle) -> Overlaps:
    answers = bundle.hooks.ask(
        specs.negotiator_gate_ads, kind=kind, ads=ads, cycle=cycle, settings=bundle.settings
    )
    overlaps = Overlaps.of_rows(len(ads))
    for each in answers.records:
        overlaps.reject(RuleKey.of(plugin_reason(Station.ADMIT, each)), each.record.discard)
    return overlaps


def _warned(outcomes: Iterable[RequestOutcome]) -> Iterator[tuple[RuleKey, RuleCounts]]:
    """Yield the matches that rules would have denied if they enforced."""
    for outcome in outcomes:
        for match in outcome.matches:
            keys = {RuleKey.of(reason) for reason in match.warnings}
            for key in keys:
                yield key, RuleCounts(matches=1, matches_alone=int(len(keys) == 1))
