"""Station *order*: the allocator of a cycle, and the feedback that it gets after each turn.

Without a plugin that orders, requests come by the names of their submitters. What the allocator of a plugin raises, and what is no
turn, ends the cycle with an error that names the plugin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self, TypeVar

import attrs
import numpy as np

from negotiator.bundle.model import NAMES
from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.match import MatchCandidates
from negotiator.errors import PluginFailureError
from negotiator.hooks.answers import Attributed
from negotiator.hooks.declared_reads import DeclaredReads
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.fields import WrongAnswerError, check_exactly, checked_label, checked_text, kind_of
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order import (
    CandidateRecheck,
    ClaimedAllowance,
    Feedback,
    OrderContext,
    OrderCounts,
    OrderResult,
    QueuedRequest,
    RequestOrder,
    RequestRun,
    ServedRun,
    ShareUse,
    SlotAllowance,
    StopCause,
    WaitReason,
    Weights,
)
from negotiator.hooks.order_type import RequestOrderType
from negotiator.hooks.plugin_output import running_plugin
from negotiator.hooks.slot_offer import PreemptionVictims, SharedBudget, SlotOffer
from negotiator.records import Verdict


def feedback_of(
    queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots, withdrawn: int
) -> Feedback:
    """Return the feedback of one turn for the allocator.

    :param withdrawn: how many of the granted slots no other request may have.
    """
    left = queued.request.count - len(granted.rows)
    denied = tuple([removal.reason for removal in (*candidates.removals, *granted.removals)])
    cause = _cause(queued, candidates, granted, left)
    return Feedback(
        *(queued, granted.rows, granted.copies, left, cause, denied, granted.too_heavy),
        withdrawn=withdrawn + granted.unclaimable,
        candidate_slots=candidates.among,
        weights=granted.weights,
        protected=candidates.protected,
        preemptions=granted.preemptions,
        ended=granted.ended,
    )


def feedback_without_time(queued: QueuedRequest) -> Feedback:
    """Return the feedback of a turn of a request that has no time left: nothing was matched."""
    nothing = np.zeros(0, np.intp)
    return Feedback(queued, nothing, nothing, queued.request.count, StopCause.TIME, ())


def _cause(queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots, left: int) -> StopCause:
    if not left:
        return StopCause.SERVED
    if len(granted.rows) >= queued.allowance or granted.stopped:
        return StopCause.ALLOWANCE
    if granted.too_heavy:
        return StopCause.ALLOWANCE
    broken = any(removal.reason.verdict is Verdict.BROKEN_PLUGIN for removal in granted.removals)
    if candidates.failures or broken:
        return StopCause.FAILURE
    if len(granted.rows) + granted.unclaimable >= candidates.left:
        return StopCause.NO_SLOTS
    return StopCause.QUOTA


#: Requests of a run: the others are offered again if one of them does not get a slot for each job.
_MOST_OF_RUN = 64


@attrs.define(eq=False)
class SubmitterNameOrder(RequestOrder):
    """Owners by name, then submitters by name, then the schedd's order of their jobs: each request has one turn for all of its jobs."""

    requests: Sequence[QueuedRequest]
    _served: int = attrs.field(default=0, init=False)

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        """Return the order of a cycle."""
        return cls(context.requests)

    def next(self) -> QueuedRequest | None:
        """Return the next request in the order in which they were queued."""
        if self._served == len(self.requests):
            return None
        self._served += 1
        return self.requests[self._served - 1]

    def run(self) -> RequestRun | None:
        """Return the next requests that had no turn."""
        requests = self.requests[self._served : self._served + _MOST_OF_RUN]
        return RequestRun(requests) if requests else None

    def served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        """Return the requests as they were queued."""
        first, self._served = self._served, self._served + len(run.slots)
        return self.requests[first : self._served]

    def feedback(self, feedback: Feedback) -> None:
        """Ignore the outcome: no request has a second turn."""


#: The order of a bundle that chooses no other.
BY_NAME = RequestOrderType(name=NAMES, make=SubmitterNameOrder.of)


R = TypeVar("R")


@attrs.frozen
class _Caller:
    """Calls the code of the allocator of a plugin."""

    plugin: str
    reads: DeclaredReads | None
    subject: str = attrs.field(init=False)

    @subject.default
    def _subject(self) -> str:
        return f"the order of plugin {self.plugin}"

    def __call__(self, function: Callable[..., R], *args: object, of: Callable[..., R] | None = None) -> R:
        """Call ``function``; ``of`` is the plugin's function if it is another one."""
        try:
            with running_plugin(self.subject, reads=self.reads):
                return function(*args)
        except BaseException as error:
            raise_if_interrupted(error)
            line = failed_line(error, of or function)
            where = f" ({line})" if line else ""
            raise PluginFailureError(
                f"plugin {self.plugin}: its order failed: {describe_error(error)}{where}"
            ) from error


@attrs.define(eq=False)
class GuardedOrder(RequestOrder):
    """Calls the allocator of a plugin.

    :raises PluginFailureError: a call failed, or returned something else than its type.
    """

    caller: _Caller
    order: RequestOrder
    slots: int  # of the cycle

    @classmethod
    def of(
        cls,
        chosen: Attributed[RequestOrderType],
        context: OrderContext,
        reads: DeclaredReads | None = None,
    ) -> GuardedOrder:
        """Make the allocator of a cycle.

        :param reads: what it may read of requests; None for everything.
        """
        caller = _Caller(chosen.plugin, reads)
        return cls(caller, caller(chosen.record.make, context), len(context.slots))

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        return self.caller(self._next, of=self.order.next)

    def feedback(self, feedback: Feedback) -> None:
        """Give the outcome of a turn."""
        self.caller(self.order.feedback, feedback)

    def run(self) -> RequestRun | None:
        """Return the requests of the next turns."""
        return self.caller(self._run, of=self.order.run)

    def served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        """Give the outcome of a run."""
        return self.caller(self._served, run, of=self.order.served)

    def offer(self) -> SlotOffer | None:
        """Return the slots of the cycle."""
        return self.caller(self._offer, of=self.order.offer)

    def wait_reason(self, queued: QueuedRequest) -> WaitReason | None:
        """Return why a request had no turn, or why its allowance ended."""
        return self.caller(self._wait_reason, queued, of=self.order.wait_reason)

    def ended(self) -> OrderResult:
        """Return what the allocator leaves."""
        return self.caller(self._ended, of=self.order.ended)

    def _next(self) -> QueuedRequest | None:
        queued = self.order.next()
        if queued is not None:
            check_exactly(queued, QueuedRequest, "a QueuedRequest or None")
            self._check_turn(queued)
            if queued.recheck is not None:
                self._check_recheck(queued.recheck)
        return queued

    def _run(self) -> RequestRun | None:
        run = self.order.run()
        if run is not None:
            check_exactly(run, RequestRun, "a RequestRun or None")
            if run.slots is not None:
                check_exactly(run.slots, SlotAllowance, "a SlotAllowance or None as slots of a RequestRun")
            for queued in run.requests:
                check_exactly(queued, QueuedRequest, "QueuedRequest in the requests of a RequestRun")
                if not queued.is_plain:
                    raise WrongAnswerError(
                        "expected requests of a RequestRun with all of their jobs, without slots, scores, attributes and recheck"
                    )
        return run

    def _served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        turns = self.order.served(run)
        for queued in turns:
            check_exactly(queued, QueuedRequest, "QueuedRequest of the turns of a run")
        if len(turns) != len(run.slots):
            raise WrongAnswerError(f"expected {len(run.slots)} turns of a run, got {len(turns)}")
        return turns

    def _check_turn(self, queued: QueuedRequest) -> None:
        if queued.scores is not None:
            self._check_scores(queued.scores)
        if queued.slots is not None and queued.slots.claimed is not None:
            self._check_victims(queued.slots.claimed)

    def _check_recheck(self, recheck: CandidateRecheck) -> None:
        check_exactly(recheck, CandidateRecheck, "a CandidateRecheck or None as recheck of a QueuedRequest")
        if recheck.anew is not None:
            check_exactly(
                recheck.anew, QueuedRequest, "a QueuedRequest or None as anew of a CandidateRecheck"
            )
            self._check_turn(recheck.anew)

    def _check_scores(self, scores: Weights) -> None:
        check_exactly(scores, np.ndarray, "a NumPy array as scores of a QueuedRequest")
        if scores.dtype != np.float64 or scores.shape != (self.slots,):
            raise WrongAnswerError(
                f"expected {self.slots} float64 as scores of a QueuedRequest, got {scores.shape} {scores.dtype}"
            )

    def _check_victims(self, claimed: ClaimedAllowance) -> None:
        if claimed.victims is None:
            return
        check_exactly(claimed.victims, PreemptionVictims, "PreemptionVictims or None as victims")
        mask = claimed.victims.slots
        check_exactly(mask, np.ndarray, "a NumPy array as slots of PreemptionVictims")
        if mask.dtype != np.bool_ or mask.shape != (self.slots,):
            raise WrongAnswerError(
                f"expected {self.slots} bool as slots of PreemptionVictims, got {mask.shape} {mask.dtype}"
            )
        for budget in claimed.victims.budgets:
            check_exactly(budget, SharedBudget, "SharedBudget in budgets of PreemptionVictims")
            codes = budget.codes
            if (
                len(codes) != self.slots
                or len(budget.amounts) != self.slots
                or (len(codes) and not 0 <= codes.min() <= codes.max() < len(budget.left))
            ):
                raise WrongAnswerError(f"expected codes and amounts of {self.slots} slots in a SharedBudget")

    def _offer(self) -> SlotOffer | None:
        offer = self.order.offer()
        if offer is not None:
            check_exactly(offer, SlotOffer, "a SlotOffer or None")
            _check_sizes(offer, self.slots)
        return offer

    def _wait_reason(self, queued: QueuedRequest) -> WaitReason | None:
        found = self.order.wait_reason(queued)
        return None if found is None else _checked_reason(found)

    def _ended(self) -> OrderResult:
        result = self.order.ended()
        check_exactly(result, OrderResult, "an OrderResult")
        check_exactly(result.counts, OrderCounts, "an OrderCounts as counts of an OrderResult")
        check_exactly(result.shares, tuple, "a tuple as shares of an OrderResult")
        for share in result.shares:
            _check_share(share)
        return result


def _check_share(share: ShareUse) -> None:
    check_exactly(share, ShareUse, "a ShareUse in the shares of an OrderResult")
    check_exactly(share.holder, str, "a name as holder of a ShareUse")
    checked_label(share.unit, "unit of a ShareUse")
    for value in (share.entitled, share.used_before, share.used, share.granted, share.priority):
        if type(value) not in (int, float) or not math.isfinite(value):
            raise WrongAnswerError(f"expected finite numbers in a ShareUse, got {kind_of(value)}")


def _checked_reason(reason: WaitReason) -> WaitReason:
    check_exactly(reason, WaitReason, "a WaitReason or None")
    numbers = dict(reason.numbers)
    for name, value in numbers.items():
        check_exactly(name, str, "names of numbers in a WaitReason")
        if type(value) not in (int, float) or not math.isfinite(value):
            raise WrongAnswerError(f"expected finite numbers in a WaitReason, got {kind_of(value)}")
    return WaitReason(
        rule=checked_label(reason.rule, "rule of a WaitReason"),
        code=checked_label(reason.code, "code of a WaitReason"),
        text=checked_text(reason.text, "text of a WaitReason"),
        numbers=numbers,
    )


def _check_sizes(offer: SlotOffer, slots: int) -> None:
    """Check that an offer is about the slots of the cycle.

    :raises WrongAnswerError: it is not.
    """
    sizes = [len(offer.slots), *(len(each.slots) for each in offer.withheld)]
    if offer.preemption is not None:
        sizes.append(len(offer.preemption.users))
        if offer.preemption.queues is not None:
            sizes.append(len(offer.preemption.queues))
        if offer.preemption.joint is not None:
            sizes.append(len(offer.preemption.joint.slots))
    if any(size != slots for size in sizes):
        raise WrongAnswerError(f"expected an offer of {slots} slots, got one of {sizes}")
