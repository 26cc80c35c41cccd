"""The charges that plugins declare for requests, and the quotas that refuse another job of a request now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.charges import Charges, quota_of
from negotiator.cycle.divisible_slots import Consumption
from negotiator.cycle.part_charges import charges_of_parts
from negotiator.cycle.recount import Recount
from negotiator.cycle.work_accounts import WorkAccounts, is_exceeded
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.charges import Charge, KeyCharge
from negotiator.hooks.manager import Answers
from negotiator.hooks.order import QueuedRequest, QuotaRefusal
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Counters
from negotiator.ledger.lines import Reader
from negotiator.queues import QueueTree


@attrs.define(eq=False)
class DeclaredCharges:
    """Calls the plugins for the charges of a request over the slots of a cycle.

    The answers for the latest request are kept: its order may have read them before the turn.
    """

    slots: Table
    queues: QueueTree
    bundle: Bundle
    _latest: tuple[Request, Answers[Charge | KeyCharge]] | None = None

    def of(
        self, request: Request, cycle: Cycle, consumption: Consumption | None = None
    ) -> Answers[Charge | KeyCharge]:
        """Return the charges, and the failures of plugins.

        :param consumption: what the request takes of slots that several jobs share.
        """
        answers = self._of_slots(request, cycle)
        return answers if consumption is None else charges_of_parts(answers, consumption)

    def _of_slots(self, request: Request, cycle: Cycle) -> Answers[Charge | KeyCharge]:
        if self._latest is not None and self._latest[0] is request:
            return self._latest[1]
        answers = self.bundle.hooks.ask(
            specs.negotiator_charges,
            request=request,
            slots=self.slots,
            queues=self.queues,
            cycle=cycle,
            order=self.bundle.ordering.name,
            settings=self.bundle.settings,
        )
        self._latest = request, answers
        return answers


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
            charges = self._charges(queued, code)
        counters = self.in_use.ledger.counters()
        return tuple(refusal for each in charges for refusal in self._refusals(each, counters))

    def _charges(self, queued: QueuedRequest, code: str) -> Sequence[Attributed[Charge]]:
        request = queued.allowed()
        paid = self.work.for_job(self.cycle, request.ad)
        if is_exceeded(paid):  # it will get no slot, whatever its quotas
            return ()
        answers = self.declared.of(request, paid)
        chosen = [each for each in answers.records if quota_of(each).code == code or not code]
        charges = Charges.of(chosen, enforcing=True)
        if charges.is_uniform and not answers.failures and not is_exceeded(paid):
            self._uniform[queued.number, code] = charges.sums
        return charges.sums

    def _refusals(self, attributed: Attributed[Charge], counters: Counters) -> Iterator[QuotaRefusal]:
        """Yield the refusal of one charge, if there is one."""
        charge, quota = attributed.record, quota_of(attributed)
        uniform = Charges((attributed,), ()).is_uniform
        rows = np.zeros(1, np.intp) if uniform else np.arange(len(self.declared.slots))
        line = Reader(counters, rows).line(0, charge)
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
