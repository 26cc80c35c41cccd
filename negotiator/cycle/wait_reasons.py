"""Why requests had no turn in a cycle, or no more slots."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from negotiator.cycle.match import SlotMatcher
from negotiator.cycle.result import NO_TURN, OF_ALLOWANCE, Removal
from negotiator.hooks.order import QueuedRequest, RequestOrder, WaitReason
from negotiator.records import Provenance, Reason, Station, Verdict


@attrs.define(eq=False)
class WaitReasons:
    """The reasons of one cycle, after its last turn; ``plugin`` has the name and the version of the plugin of its order."""

    matcher: SlotMatcher
    order: RequestOrder
    plugin: tuple[str, str]

    def of(self, queued: QueuedRequest, late: Reason | None = None) -> tuple[Removal, ...]:
        """Return the reasons of a request without a turn: that no slot is left, else that of the order.

        :param late: the reason if its submitter had no time left; then no other one counts.
        """
        slots = len(self.matcher.slots)
        if late is not None and slots:
            return (Removal(late, slots, slots),)
        if self._unavailable:
            return self._unavailable
        found = self.order.wait_reason(queued)
        reason = NO_TURN if found is None else self._reason(found)
        return (Removal(reason, slots, slots),)

    def of_allowance(self, queued: QueuedRequest, removals: tuple[Removal, ...]) -> tuple[Removal, ...]:
        """Return the removals of a request's turns with the order's reason why its allowance ended, if it has one."""
        # Most reasons are not WAITING: that is found out faster than that they differ.
        waiting = [each.reason for each in removals if each.reason.verdict is Verdict.WAITING]
        if not any(each in OF_ALLOWANCE for each in waiting):
            return removals
        found = self.order.wait_reason(queued)
        if found is None:
            return removals
        reason = self._reason(found)
        return tuple(
            each._replace(reason=reason) if each.reason in OF_ALLOWANCE else each for each in removals
        )

    def _reason(self, found: WaitReason) -> Reason:
        where = Provenance(Station.ORDER, *self.plugin, found.rule)
        return Reason(Verdict.WAITING, found.code, found.text, where, numbers=found.numbers)

    @cached_property
    def _unavailable(self) -> tuple[Removal, ...]:
        """The reasons of all slots if none is left; empty if one is."""
        if not len(self.matcher.slots):
            return (Removal(self.matcher.no_slots, 0, 0),)
        left = np.ones(len(self.matcher.slots), np.bool_)
        removals = []
        for mask, reason in self.matcher.unavailable():
            removed = int(np.count_nonzero(mask & left))
            if removed:
                removals.append(Removal(reason, removed, int(np.count_nonzero(mask))))
            left &= ~mask
        return () if left.any() else tuple(removals)
