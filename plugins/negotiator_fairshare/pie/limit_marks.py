"""Concurrency limits in the turn of a submitter: which requests they reject, and with which names.

condor_negotiator tests a list that is a constant before it looks at any slot, and one that is an expression slot by slot.
When it looks at slots it forgets the limits that were reached, and whether the submitter's limit or PREEMPTION_REQUIREMENTS refused a
slot; until then they are left over from earlier requests of the turn, and appear in the rejection of a later one. An empty list is
refused without a limit: what is left over is then the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Feedback,
    Mask,
    QueuedRequest,
    QuotaQuery,
    QuotaRefusal,
    SlotAllowance,
)
from negotiator_fairshare.pie.trace import RejectionText

#: The code of the quotas of concurrency limits, whichever plugin brings them.
CODE = "concurrency_limit"


@attrs.define(eq=False)
class SlotScan:
    """The slots that a request could have got, and what the turn could take, when condor_negotiator looked at them.

    ``listed`` (S,) are the slots, ``used`` is what the turn had taken of ``allowance``, and ``refusals`` are of the
    limits that are tested slot by slot.
    """

    allowance: SlotAllowance
    listed: Mask
    used: float
    refusals: Sequence[QuotaRefusal] = ()
    _granted: list[NDArray[np.intp]] = attrs.field(factory=list, init=False)

    @classmethod
    def of(
        cls,
        feedback: Feedback,
        allowance: SlotAllowance,
        refusals: Sequence[QuotaRefusal],
        *,
        every_job: bool,
    ) -> SlotScan:
        """Return the last look at the slots in a turn: that for its first job, or with ``every_job`` for its last match."""
        candidates, used = feedback.candidate_slots, allowance.used
        if every_job and len(feedback.slots):
            earlier = feedback.slots[:-1]
            used = sum(allowance.weights[earlier].tolist(), used)
            found = cls(allowance, candidates, used, refusals)
            found.remove(earlier)
            return found
        return cls(allowance, candidates, used, refusals)

    def remove(self, granted: NDArray[np.intp]) -> None:
        """Remove candidates that were granted."""
        self._granted.append(granted)

    @property
    def candidates(self) -> Mask:
        """The slots that are left, (S,): made when it is read, which few turns do."""
        left = self.listed.copy()
        for rows in self._granted:
            left[rows] = False
        return left

    @property
    def within_limit(self) -> Mask:
        """The candidates that the submitter's limit does not refuse, (S,)."""
        candidates = self.candidates
        if not self.used <= 0 < self.allowance.limit:
            candidates &= self.used + self.allowance.weights <= self.allowance.limit
        return candidates

    @property
    def is_limited(self) -> bool:
        """True if the submitter's limit refuses a candidate."""
        return bool((self.candidates & ~self.within_limit).any())


@attrs.define(eq=False)
class LimitMarks:
    """The limits reached so far in one turn, until slots are looked at again.

    ``every_job``: slots are looked at for every job anew (NEGOTIATOR_MATCHLIST_CACHING is false). ``left_over``: the limits
    are left over from earlier requests, the quirk ``rejection_marks``.
    """

    quotas: QuotaQuery
    every_job: bool = False
    left_over: bool = True
    _request: int | None = attrs.field(default=None, init=False)  # the number of the last request
    _names: set[str] = attrs.field(factory=set, init=False)
    _scan: SlotScan | None = attrs.field(default=None, init=False)
    _kind: int | None = attrs.field(default=None, init=False)  # of the jobs for which slots were looked at
    _refused: bool = attrs.field(
        default=False, init=False
    )  # a limit refused a slot when slots were looked at
    _protected: bool = attrs.field(default=False, init=False)  # PREEMPTION_REQUIREMENTS refused a slot then
    _empty: bool = attrs.field(default=False, init=False)  # the list of the last rejected request is empty

    @property
    def text(self) -> str:
        """The reason of a rejection by a limit, or by an empty list."""
        if not self._empty:
            return f"concurrency limit {', '.join(sorted(self._names))} reached"
        if self._protected:
            return RejectionText.PREEMPTION_REQUIREMENTS
        return RejectionText.LIMIT if self.is_limited else RejectionText.NO_MATCH

    @property
    def is_limited(self) -> bool:
        """True if the submitter's limit refused a slot when slots were last looked at."""
        return self._scan is not None and self._scan.is_limited

    def begin(self, queued: QueuedRequest) -> None:
        """Forget the limits of earlier requests, unless they are left over."""
        if not self.left_over and queued.number != self._request:
            self.forget()
        self._request = queued.number

    def reject(self, queued: QueuedRequest) -> bool:
        """Return whether a limit refuses a request before slots are looked at."""
        for refusal in self.quotas(queued, CODE):
            if refusal.slots is None:
                self._empty = not refusal.quota.name
                self._note(refusal)
                return True
        return False

    def by_slot(self, queued: QueuedRequest) -> Sequence[QuotaRefusal]:
        """Return the refusals of limits that are tested slot by slot."""
        return [each for each in self.quotas(queued, CODE) if each.slots is not None]

    def forget(self) -> None:
        """Slots were looked at, none of which is a candidate."""
        self._names.clear()
        self._scan, self._refused, self._protected = None, False, False

    def looked_at(
        self,
        feedback: Feedback,
        allowance: SlotAllowance,
        refusals: Sequence[QuotaRefusal],
        *,
        anew: bool = False,
    ) -> None:
        """Slots were looked at: note the limits that refused some of them.

        The candidates of the latest kind of jobs are kept: its next request does not look at slots again, unless they were
        listed ``anew``.
        """
        kind, scan = feedback.queued.kind, self._scan
        if scan is None or self._kind != kind or self.every_job or anew:
            self.forget()
            self._kind = kind
            self._protected = feedback.protected > 0
            scan = self._scan = SlotScan.of(feedback, allowance, refusals, every_job=self.every_job)
            if scan.refusals:
                self._refused = self._note_each(scan.refusals, scan.within_limit)
        scan.remove(feedback.slots)

    def reject_by_slot(self, rest: QueuedRequest) -> bool:
        """Return whether limits are the reason that a request got no more slots.

        They are if they refused slots when these were looked at. Limits that were reached since are noted too.
        """
        scan, reached, self._empty = self._scan, self.by_slot(rest), False
        if scan is not None and reached:
            left = scan.within_limit
            for each in scan.refusals:
                left &= ~_slots(each)
            self._note_each(reached, left)
        return self._refused

    def _note_each(self, refusals: Sequence[QuotaRefusal], slots: Mask) -> bool:
        """Note the first limit that refuses each slot; return whether there is one."""
        found = False
        for each in refusals:
            if (slots & _slots(each)).any() and each.quota.name:  # an empty list has none
                found = True
                self._note(each)
            slots = slots & ~_slots(each)
        return found

    def _note(self, refusal: QuotaRefusal) -> None:
        if refusal.quota.name:
            self._names.add(refusal.quota.name)


def _slots(refusal: QuotaRefusal) -> Mask:
    return refusal.slots if refusal.slots is not None else np.ones(1, np.bool_)
