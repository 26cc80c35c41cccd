"""Station *charge*: a match is made only if all its charges fit the quotas, all or none.

Every hard quota of every plugin is a charge on one ledger. Quotas in mode warn or dryrun are charged on shadow counters, which
enforcing ones never see; they refuse nothing, and each match that they would have refused has a warning. Each of them is tried by itself, so
that none hides another: its matches are those that it alone would have refused. All matches are then charged, whatever was tried: the shadow
counters have what is in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.charges import Charges, HeldAmounts, exceeded_reason, keys_exceeded_reason, quota_of
from negotiator.cycle.declared_charges import ChargeAnswers
from negotiator.cycle.divisible_slots import Consumption
from negotiator.cycle.dynamic_slots import EnlargedSlots
from negotiator.cycle.fitting_slots import FittingSlots, FreeSlotUse, admit_slots, fitting_slots
from negotiator.cycle.match import NO_CLAIM_ID, MatchCandidates, SlotMatcher
from negotiator.cycle.reasons import (
    core_reason,
    failure_reason,
    unspecified_reason,
)
from negotiator.cycle.recount import Recount
from negotiator.cycle.result import Removal
from negotiator.cycle.work_accounts import is_exceeded, work_reason
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.order import SlotAllowance
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.hooks.slot_offer import Preemption, PreemptionStates
from negotiator.ledger import Admission, Counters, Ledger, LedgerError, Receipt, Rows
from negotiator.records import Mode, Reason, Station, Verdict

_MODE = Mode.WARN  # the ledger has one set of shadow counters, for warn and dryrun


@attrs.frozen(eq=False)
class ObservedCharges:
    """What quotas that do not enforce make of the matches of a turn.

    ``warnings`` has each reason with the indexes of the matches that its quota would have refused. ``receipts`` are of the
    shadow charges, one for each match.
    """

    warnings: tuple[tuple[Reason, frozenset[int]], ...] = ()
    receipts: Sequence[Receipt] = ()


NOTHING_OBSERVED = ObservedCharges()


#: Makes a reason from the shadow counters once all matches are charged; the indexes of the refused matches.
_Refused: TypeAlias = tuple[Callable[[Counters], Reason], Rows]


def observe(
    request: Request,
    charges: Charges,
    admission: Admission,
    ledger: Ledger,
    released: HeldAmounts | None = None,
) -> ObservedCharges:
    """Charge the shadow counters with the matches of a turn, and find those that the quotas would have refused.

    :param charges: those that do not enforce.
    :param admission: the matches, already charged on the enforcing counters.
    :param released: what the running jobs hold on shadow counters, if the matches may end some of them.
    :raises LedgerError: an invalid charge; nothing is charged.
    """
    everything = charges.unlimited(admission.copies)
    net = charges if released is None else charges.net_of(released)
    refused = [
        *_sums(request, charges, net, admission, ledger),
        *_keys(charges, everything, admission, ledger),
    ]
    size, counters = len(admission), ledger.counters(_MODE)
    receipts = ledger.commit(everything.admit(ledger, admission.rows, size, _MODE))
    warnings = [(reason(counters), frozenset(places.tolist())) for reason, places in refused]
    return ObservedCharges(tuple(warnings), receipts)


def _sums(
    request: Request, charges: Charges, net: Charges, admission: Admission, ledger: Ledger
) -> Iterator[_Refused]:
    """Try the sums, ``net`` of what is released."""
    size = len(admission)
    for each, tried in zip(charges.sums, net.sums, strict=True):
        if each.record.limit is None:
            continue
        if quota_of(each).resource in request.unknown:
            unspecified = unspecified_reason(each, quota_of(each))
            if size:
                yield partial(_known, unspecified), np.arange(size)
            continue
        fitting = ledger.admit([tried.record], (), admission.rows, size, _MODE)
        places = np.flatnonzero(fitting.stops >= 0)
        if len(places):
            yield partial(exceeded_reason, each, admission.rows[places]), places


def _known(reason: Reason, counters: Counters) -> Reason:
    del counters
    return reason


def _keys(charges: Charges, everything: Charges, admission: Admission, ledger: Ledger) -> Iterator[_Refused]:
    """Try the keys of the matched jobs, which ``everything`` has."""
    size = len(admission)
    for each, matched in zip(charges.keys, everything.keys, strict=True):
        if each.record.limit is None:
            continue
        limited = attrs.evolve(matched.record, limit=each.record.limit)
        fitting = ledger.admit((), [limited], admission.rows, size, _MODE)
        places = np.flatnonzero(fitting.copy_stops >= 0)
        if len(places):
            yield partial(keys_exceeded_reason, each), places


@attrs.frozen(eq=False)
class GrantedSlots:
    """The slots granted to a request, the job's Rank of them, and the numbers of the jobs that get them, (G,) each.

    ``warnings`` are of rules that do not enforce: a reason, and the indexes of the matches that it would have refused.
    ``receipts`` are of all charges; those of the jobs that the matches end are not released yet.
    ``too_heavy`` counts the candidates that weigh more than the turn may still take; ``stopped``: the turn has taken all
    that it may. ``unclaimable`` counts the slots that were to be granted, but of which no claim id was left.
    """

    rows: Rows
    ranks: NDArray[np.float64]
    copies: Rows
    removals: tuple[Removal, ...] = ()
    warnings: tuple[tuple[Reason, frozenset[int]], ...] = ()
    failures: tuple[HookFailure, ...] = ()
    receipts: Sequence[Receipt] = ()
    too_heavy: int = 0
    stopped: bool = False
    unclaimable: int = 0
    consumption: Consumption | None = None  # of slots that several jobs share
    weights: NDArray[np.float64] | None = None  # (G,); None: those of the slots
    preemptions: PreemptionStates | None = None  # what each match ends, (G,); None: all slots are free
    enlarged: EnlargedSlots | None = None  # slots of which jobs of dynamic slots end

    @property
    def ended(self) -> Rows:
        """The slots whose jobs the matches end."""
        ending = np.zeros(0, np.intp) if self.preemptions is None else self.preemptions != Preemption.NONE
        rows = np.asarray(self.rows[ending], np.intp)
        if self.enlarged is None:
            return rows
        return np.concatenate((rows[~np.isin(rows, self.enlarged.rows)], self.enlarged.ended_by(rows)))

    def withdrawn(self, ledger: Ledger, reason: Reason) -> GrantedSlots:
        """Release the charges, and return no slots, for this reason."""
        for receipt in self.receipts:
            ledger.release(receipt)
        return _nothing(len(self.rows), reason)


def charge(
    request: Request,
    candidates: MatchCandidates,
    matcher: SlotMatcher,
    in_use: Recount,
    charges: Callable[[Consumption | None], ChargeAnswers],
    cycle: Cycle,
    allowance: SlotAllowance | None = None,
) -> GrantedSlots:
    """Grant the best slots that fit the quotas, and charge them.

    :param in_use: the ledger to charge, and the users whose usage is uncertain: they get no slots.
    :param charges: asks the plugins for the charges of the jobs; called with what they take of slots that are
        shared, if there are candidates.
    :param allowance: how much of the pool the turn may take; None for as much as there are jobs.
    """
    consumption = (
        None
        if matcher.divisible is None
        else matcher.divisible.consumption(candidates.turn.ad, cycle.environment)
    )
    own_allowance = allowance
    if consumption is not None:
        allowance, candidates = consumption.allowance(allowance), _divided(candidates, consumption)
    enlarged = candidates.enlarged
    if enlarged is not None:
        allowance = enlarged.allowance(allowance)
    left = candidates.left
    if not left or not request.applications:
        return _nothing()
    if request.user in in_use.uncertain:
        return _nothing(left, failure_reason(Station.CHARGE, in_use.uncertain[request.user]))
    declared = charges(consumption)
    if declared.failures:
        reasons = [failure_reason(Station.CHARGE, failure) for failure in declared.failures]
        return attrs.evolve(_nothing(left, *reasons), failures=declared.failures)
    if is_exceeded(cycle):  # an expression that was cut short may have hidden a charge
        return _nothing(left, work_reason(cycle))
    enforcing = declared.charges(request, enforcing=True)
    missing = unspecified(request, enforcing)
    if missing is not None:
        return _nothing(left, missing)
    ledger, net = in_use.ledger, enforcing
    states = None if candidates.preempting is None else candidates.preempting.states
    parts = None if enlarged is None else (enlarged.ended, enlarged.rows[enlarged.of])
    if states is not None and (candidates.among & (states != Preemption.NONE)).any():
        net = enforcing.net_of(in_use.held.with_parts(parts))
    receipts: Sequence[Receipt] = ()
    try:
        chosen, unclaimable = _admit_claimable(net, request, candidates, matcher, ledger, cycle, allowance)
        ranks, admission = chosen.ranks, chosen.admission
        if net is enforcing:
            receipts = ledger.commit(admission)
        else:  # the full amounts: the caller releases those of the jobs that end
            full = enforcing.unlimited(admission.copies)
            receipts = ledger.commit(full.admit(ledger, admission.rows, len(admission), Mode.ENFORCE))
        shadow = NOTHING_OBSERVED
        if len(enforcing) < len(declared.records):
            observed = declared.charges(request, enforcing=False)
            released = None if net is enforcing else in_use.shadow_held.with_parts(parts)
            shadow = observe(request, observed, admission, ledger, released)
    except LedgerError as error:
        # A shadow charge may be invalid after the enforcing ones were committed: release these.
        for receipt in receipts:
            ledger.release(receipt)
        return _nothing(left, _invalid_charge(error))
    removals = tuple(refusals(enforcing, chosen, ledger, left, uniform=net.is_uniform))
    if unclaimable:
        removals += (Removal(NO_CLAIM_ID, unclaimable, unclaimable),)
    return GrantedSlots(
        *(admission.rows, ranks[admission.positions], admission.copies, removals, shadow.warnings),
        receipts=(*receipts, *shadow.receipts) if shadow.receipts else receipts,
        too_heavy=chosen.too_heavy,
        stopped=chosen.stopped,
        unclaimable=unclaimable,
        consumption=consumption,
        weights=None
        if allowance is own_allowance or allowance is None
        else allowance.weights[admission.rows],
        preemptions=None if states is None else states[admission.rows],
        enlarged=enlarged,
    )


def _admit_claimable(
    charges: Charges,
    request: Request,
    candidates: MatchCandidates,
    matcher: SlotMatcher,
    ledger: Ledger,
    cycle: Cycle,
    allowance: SlotAllowance | None,
) -> tuple[FittingSlots, int]:
    """Return the best slots that can be claimed, and how many better ones could not, as ``_admit`` returns them.

    Like condor_negotiator, a slot without a claim id is found to be so, and withdrawn, when it is to be granted.
    """
    unclaimable = 0
    while True:
        chosen = _admit(charges, request, candidates, matcher, ledger, cycle, allowance)
        missing = matcher.claim_ids.missing(chosen.admission.rows)
        if not len(missing):
            return chosen, unclaimable
        lost = np.unique(chosen.admission.rows[missing])
        matcher.lose(lost)
        unclaimable += len(lost)
        candidates = _without(candidates, lost, np.delete(chosen.admission.rows, missing))


def _without(candidates: MatchCandidates, lost: Rows, claimable: Rows) -> MatchCandidates:
    """Return the candidates without slots that lack claim ids; one that has some is left for as many jobs."""
    among, some = candidates.among.copy(), claimable[np.isin(claimable, lost)]
    among[lost] = False
    among[some] = True
    copies = candidates.copies
    return attrs.evolve(candidates, among=among, copies=copies if copies is None else copies.at_most(some))


def _admit(
    charges: Charges,
    request: Request,
    candidates: MatchCandidates,
    matcher: SlotMatcher,
    ledger: Ledger,
    cycle: Cycle,
    allowance: SlotAllowance | None,
) -> FittingSlots:
    """Return the best slots that the allowance admits, and which of them fit the quotas.

    A slot that is too heavy leaves room in the quotas for another one: the quotas are then tried without it.
    """
    among, copies, too_heavy = candidates.among, len(request.applications), 0
    if allowance is not None and candidates.preempting is None:
        # As it would turn out slot by slot: the turn has ended, or each candidate is too heavy for what is left of it.
        use = FreeSlotUse.of(allowance)
        if use.is_over:
            among = np.zeros_like(among)
        elif use.refuses(among) and charges.have_room(ledger, copies):
            among, too_heavy = np.zeros_like(among), candidates.left
    while True:
        chosen = fitting_slots(charges, request, candidates, among, matcher.ranks, ledger, cycle)
        if allowance is None:
            return chosen
        granted = chosen.admission.rows
        states = None if candidates.preempting is None else candidates.preempting.states
        found = admit_slots(allowance, granted, copies, None if states is None else states[granted])
        if len(found.places) == len(granted):
            return attrs.evolve(chosen, too_heavy=too_heavy, stopped=found.stopped)
        if len(found.too_heavy):
            # Slots come in the order of preference, so that none after these may weigh as much.
            heavy = among & _as_heavy(allowance, granted[found.too_heavy], states)
            heavy[granted[found.places]] = False
            among, too_heavy = among & ~heavy, too_heavy + max(1, int(np.count_nonzero(heavy)))
        else:  # the turn may take no more slots than these
            among = np.zeros_like(among)
            among[granted[found.places]] = True
        if candidates.copies is not None:
            copies_left = candidates.copies.at_most(granted[found.places])
            candidates = attrs.evolve(candidates, copies=copies_left)


def _as_heavy(allowance: SlotAllowance, rows: Rows, states: PreemptionStates | None) -> Mask:
    """Return the slots that weigh as much as the lightest of some that are too heavy, of those with the same limit."""
    weights = allowance.weights
    found = np.zeros(len(weights), np.bool_)
    own = np.full(len(weights), Preemption.NONE, np.int8) if states is None else states
    for state in np.unique(own[rows]):
        alike = own == state
        found |= alike & (weights >= weights[rows[alike[rows]]].min())
    return found


def _divided(candidates: MatchCandidates, consumption: Consumption) -> MatchCandidates:
    """Return the candidates of which a job may take what it consumes, counted once for each job."""
    copies = consumption.copies
    among = candidates.among & (copies.counts > 0)
    return attrs.evolve(candidates, among=among, copies=copies, left=int(copies.counts[among].sum()))


def unspecified(request: Request, charges: Charges) -> Reason | None:
    """Return the reason for a job that does not specify its amount of a limited resource; None if it does."""
    if not request.unknown:
        return None
    for each in charges.sums:
        quota = quota_of(each)
        if quota.resource in request.unknown and each.record.limit is not None:
            return unspecified_reason(each, quota)
    return None


def _nothing(left: int = 0, *reasons: Reason) -> GrantedSlots:
    """Return no slots, since each of the reasons refuses all ``left`` candidates."""
    none = np.zeros(0, np.intp)
    return GrantedSlots(none, np.zeros(0), none, tuple(Removal(reason, left, left) for reason in reasons))


def _invalid_charge(error: LedgerError) -> Reason:
    text = f"invalid charge: {error}"
    return core_reason(Station.CHARGE, Verdict.BROKEN_PLUGIN, "plugin_error", text)


def refusals(
    charges: Charges, chosen: FittingSlots, ledger: Ledger, left: int, *, uniform: bool
) -> Iterator[Removal]:
    """Yield the reasons that refused slots or jobs; used amounts include the matches just granted."""
    admission = chosen.admission
    if not chosen.refuses:
        return
    counters = ledger.counters()
    for number, each in enumerate(charges.sums):
        rows, others = chosen.refused(number)
        if len(rows) or others:
            taken = left - len(admission) if uniform else len(rows) + others
            yield Removal(exceeded_reason(each, rows, counters), taken, taken)
    for each_key, refused in zip(charges.keys, admission.copies_refused, strict=True):
        if refused:
            yield Removal(keys_exceeded_reason(each_key, counters), left - len(admission), left)
