"""The quotas that refuse another job of a request now, for the order of a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from negotiator.cycle.charges import Charges, quota_of
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.recount import Recount
from negotiator.cycle.work_accounts import WorkAccounts, is_exceeded
from negotiator.hooks.answers import Attributed
from negotiator.hooks.charges import Charge
from negotiator.hooks.order import QueuedRequest, QuotaRefusal
from negotiator.hooks.plugin_output import outside_plugin
from negotiator.hooks.records import Cycle
from negotiator.ledger import ChargeReader, Counters


@attrs.define(eq=False)
class QuotaRefusals:
    """Finds the quotas with a code that refuse another job of a request, for the order of a cycle.

    Charges that are the same on every slot are kept for all turns of a request: a policy reads nothing in which its turns
    differ.
    """

    declared: DeclaredCharges
    in_use: Recount
    work: WorkAccounts
    cycle: Cycle
    _uniform: dict[tuple[int, str], Sequence[Attributed[Charge]]] = attrs.field(factory=dict, init=False)

    def of(self, queued: QueuedRequest, code: str) -> tuple[QuotaRefusal, ...]:
        """Return the refusals by quotas with a code, or of all if it is empty, in the order in which plugins declare their charges."""
        charges = self._uniform.get((queued.number, code))
        if charges is None:
            with outside_plugin():  # it is the order that asks
                charges = self._charges(queued, code)
        if not charges:
            return ()
        counters = self.in_use.ledger.counters()
        return tuple(refusal for each in charges for refusal in self._refusals(each, counters))

    def _charges(self, queued: QueuedRequest, code: str) -> Sequence[Attributed[Charge]]:
        request = queued.allowed()
        paid = self.work.for_request(self.cycle, queued)
        if is_exceeded(paid):  # it will get no slot, whatever its quotas
            return ()
        declared = self.declared.of(request, paid, queued=queued)
        if code and not declared.has_code(code) and not declared.failures and not is_exceeded(paid):
            self._uniform[queued.number, code] = ()
            return ()
        sums = declared.charges(request, enforcing=True).sums
        charges = Charges(tuple([each for each in sums if quota_of(each).code == code or not code]), ())
        if charges.is_uniform and not declared.failures and not is_exceeded(paid):
            self._uniform[queued.number, code] = charges.sums
        return charges.sums

    def _refusals(self, attributed: Attributed[Charge], counters: Counters) -> Iterator[QuotaRefusal]:
        """Yield the refusal of one charge, if there is one."""
        charge, quota = attributed.record, quota_of(attributed)
        uniform = Charges((attributed,), ()).is_uniform
        rows = np.zeros(1, np.intp) if uniform else np.arange(len(self.declared.slots))
        line = ChargeReader(counters, rows).read(0, charge)
        refused = np.broadcast_to(np.asarray(line.amount) > line.room, len(rows))
        if not charge.probes:  # an amount of 0 always fits
            refused = refused & (np.asarray(line.amount) > 0)
        if line.charged is not None:
            refused = refused & line.charged
        if not refused.any():
            return
        held = None if quota.held_through_cycle else self.in_use.held.of(charge.counter)
        if held is None:
            yield QuotaRefusal(quota, None if uniform else refused)
            return
        refused = refused & (
            np.asarray(line.amount) - held > line.room
        )  # a match may end the job that holds it
        if refused.any():
            yield QuotaRefusal(quota, refused)
