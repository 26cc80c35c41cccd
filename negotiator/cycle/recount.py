"""The ledger at the beginning of a cycle, built anew from the running jobs and pending matches.

Counters are rebuilt, not trusted. Running jobs are charged by the same hooks as matches, regardless of the limits:
a counter above its limit refuses new matches, and is reported. Alike jobs are charged in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np

from negotiator import __version__
from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.charges import Charges, ClaimReceipts, HeldAmounts, QuotaInUse, exceeded_limits
from negotiator.cycle.claim_requests import claim_requests
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.place import PlacedPool
from negotiator.cycle.work_accounts import WorkAccounts, is_exceeded, work_reason
from negotiator.hooks.charges import Charge
from negotiator.hooks.claims_in_use import ClaimsInUse
from negotiator.hooks.manager import Attributed, HookFailure
from negotiator.hooks.overruns import Overrun
from negotiator.hooks.records import Cycle, Mask
from negotiator.ledger import Ledger, LedgerError, LimitsInUse, Receipt, Rows
from negotiator.records import CORE, Mode


@attrs.frozen(eq=False)
class Recount:
    """The ledger with everything in use, and the receipts of what runs.

    ``uncertain`` are the users whose usage could not be counted, with the failure: they get no slots in this cycle.
    ``claims`` are the jobs in use, those that are charged alike together. ``slots`` (S,) are the rows in the pool of the slots
    that take part in the cycle; the ``slots`` of ``claims`` are rows of these. ``exceeded`` are the limits that are exceeded by
    what is in use.
    """

    ledger: Ledger
    receipts: ClaimReceipts
    uncertain: Mapping[str, HookFailure]
    slots: Rows
    claims: tuple[ClaimsInUse, ...] = ()
    exceeded: tuple[Overrun, ...] = ()

    @cached_property
    def held(self) -> HeldAmounts:
        """What the running jobs of the slots that take part hold."""
        return HeldAmounts.of_claims(self.receipts, self.ledger, self.slots)

    @cached_property
    def shadow_held(self) -> HeldAmounts:
        """The same on the shadow counters."""
        found = HeldAmounts.of_claims(self.receipts, self.ledger, self.slots, Mode.WARN)
        return attrs.evolve(found, ended=self.held.ended)  # one array: matches end a job on all counters

    def end_claims(self, rows: Rows) -> None:
        """Release what the running jobs of some slots hold, by their rows among those that take part.

        The ad of a slot may be matched again (WantAdRevaluate): its job was ended before.
        """
        if len(rows):
            for row in self.slots[self.held.end(rows)].tolist():
                self.receipts.release(row, self.ledger)


def recount(
    pool: PlacedPool,
    slots: Table,
    bundle: Bundle,
    cycle: Cycle,
    work: WorkAccounts,
    taking_part: Rows | None = None,
    outside: Mask | None = None,
) -> Recount:
    """Charge everything in use as plugins declare.

    :param slots: all slots of the pool, in use or not.
    :param taking_part: the rows of those that take part in the cycle; None for all.
    :param outside: the slots that gates put outside of the pool; None for none. What other negotiators share counts there too.
    :param work: the steps that each owner may take.
    """
    ledger, receipts, uncertain = Ledger(), ClaimReceipts(), dict[str, HookFailure]()
    limits, declared = LimitsInUse(ledger.counters()), DeclaredCharges(slots, pool.state.queues, bundle)
    found = []
    if pool.state.shared:
        outside = None
    for claims in claim_requests(pool, slots, bundle, cycle, outside):
        request, rows = claims.request, claims.slots
        found.append(claims)
        paid = work.for_job(cycle, request.ad)
        answers = declared.of(request, paid)
        for failure in answers.failures:
            uncertain[request.user] = failure
        if is_exceeded(paid):
            failure = HookFailure(CORE, __version__, "negotiator_charges", work_reason(paid).text)
            uncertain[request.user] = failure
        for mode in (Mode.ENFORCE, Mode.WARN):
            charges = answers.charges(request, enforcing=mode is Mode.ENFORCE)
            try:
                for places, made in _count(charges.released(at_once=True), ledger, rows, mode):
                    receipts.add(rows[places], made)
                for _ in _count(charges.released(at_once=False), ledger, rows, mode):
                    pass  # no match of this cycle releases them
                if mode is Mode.ENFORCE:  # matches exceed the others too, each with a warning
                    _add_limits(limits, charges, rows)
            except LedgerError as error:
                uncertain[request.user] = HookFailure(CORE, __version__, "negotiator_charges", str(error))
    taking_part = np.arange(len(slots)) if taking_part is None else taking_part
    in_cycle = tuple(_of_cycle(found, taking_part, slots))
    return Recount(ledger, receipts, uncertain, taking_part, in_cycle, exceeded_limits(limits.exceeded()))


def _of_cycle(claims: Sequence[ClaimsInUse], taking_part: Rows, slots: Table) -> Iterator[ClaimsInUse]:
    """Yield the claims with the rows of their slots among those that take part in the cycle, and those in the pool."""
    # One element more, for a slot that is not in the pool.
    places, running = np.full(len(slots) + 1, -1, np.intp), np.zeros(len(slots) + 1, np.int64)
    places[taking_part] = np.arange(len(taking_part))
    pending = np.zeros(len(slots) + 1, np.bool_)
    for each in claims:
        if each.pending:
            pending[each.slots] = True
        else:
            np.add.at(running, each.slots, 1)
    is_ended = pending & (running == 1)  # of jobs that share a slot it is not known which one ends
    is_ended[-1] = False
    for each in claims:
        ended = None if each.pending or not is_ended.any() else is_ended[each.slots]
        yield attrs.evolve(each, slots=places[each.slots], ended=ended, slot_ads=slots, slot_rows=each.slots)


def _count(
    charges: Charges, ledger: Ledger, rows: Rows, mode: Mode
) -> Iterator[tuple[Rows, Sequence[Receipt]]]:
    """Charge the jobs on some slots; yield the places among ``rows`` that were charged, and their receipts.

    ``rows`` has -1 for a slot that is not in the pool: the job is then charged the highest amounts of any slot.
    """
    known, unknown = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
    yield from _charge(charges, ledger, rows[known], known, mode)
    yield from _charge(charges.anywhere(), ledger, np.zeros_like(rows[unknown]), unknown, mode)


def _add_limits(limits: LimitsInUse, charges: Charges, rows: Rows) -> None:
    """Add the limits of the charges of the jobs on some slots; -1 is a slot that is not in the pool."""
    known, unknown = rows[rows >= 0], rows[rows < 0]
    if len(known):
        _add_sums(limits, charges.sums, known)
    if len(unknown):
        _add_sums(limits, charges.anywhere().sums, np.zeros_like(unknown))
    keys = charges.keys
    limits.add_keys([each.record for each in keys], lambda number: QuotaInUse.of(keys[number]))


def _add_sums(limits: LimitsInUse, sums: Sequence[Attributed[Charge]], rows: Rows) -> None:
    limits.add([each.record for each in sums], rows, lambda number: QuotaInUse.of(sums[number]))


def _charge(
    charges: Charges, ledger: Ledger, rows: Rows, copies: Rows, mode: Mode
) -> Iterator[tuple[Rows, Sequence[Receipt]]]:
    """Charge regardless of the limits. If a sum would overflow, all other charges are still made."""
    if not len(rows) or not (charges.sums or charges.keys):
        return
    counted = charges.unlimited(copies)
    admission = counted.admit(ledger, rows, len(rows), mode)
    if len(admission) == len(rows):
        yield copies[admission.positions], ledger.commit(admission)
        return
    for part in counted.apart():
        admission = part.admit(ledger, rows, len(rows), mode)
        yield copies[admission.positions], ledger.commit(admission)
