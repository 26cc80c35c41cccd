"""Station *charge*: a match is made only if all its charges fit the quotas, all or none.

Every hard quota of every plugin is a charge on one ledger. Quotas in mode warn or dryrun are charged on counters of
their own, which enforcing ones never see; they refuse nothing, and each match that they would have refused says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.cycle.match import MatchCandidates, SlotMatcher
from negotiator.cycle.reasons import core_reason, failure_reason, quota_reason, untold_reason
from negotiator.cycle.result import Removal
from negotiator.hooks import specs
from negotiator.hooks.charges import Charge, Grouping, KeyCharge, Quota
from negotiator.hooks.manager import Attributed, HookFailure
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Admission, Counters, Ints, Ledger, LedgerError, Receipt
from negotiator.queues import QueueTree
from negotiator.records import Mode, Reason, Station, Verdict
from negotiator.records.text import printable

Rows = NDArray[np.intp]

#: How many slots are looked at first where they are charged differently, and how many times more then.
_FEW, _MORE = 16, 8
#: Characters of a counter's name in a reason.
_MAX_SHOWN = 300


@attrs.frozen(eq=False)
class GrantedSlots:
    """What a request gets: slots, the job's Rank of them, and the numbers of the jobs that get them, (G,) each.

    ``warnings`` says of each match, by its place here, what rules that do not enforce would have refused.
    """

    rows: Rows
    ranks: NDArray[np.float64]
    copies: Rows
    removals: tuple[Removal, ...] = ()
    warnings: tuple[tuple[Reason, frozenset[int]], ...] = ()
    failures: tuple[HookFailure, ...] = ()


@attrs.frozen(eq=False)
class Charges:
    """The charges of one mode, on the counters of the plugins that declared them."""

    sums: tuple[Attributed[Charge], ...]
    keys: tuple[Attributed[KeyCharge], ...]

    @classmethod
    def of(cls, records: Sequence[Attributed[Charge | KeyCharge]], *, enforcing: bool) -> Charges:
        """Take those that enforce, or the others."""
        chosen = [each for each in records if (_quota(each).mode is Mode.ENFORCE) is enforcing]
        return cls(
            tuple(_owned(each, each.record) for each in chosen if isinstance(each.record, Charge)),
            tuple(_owned(each, each.record) for each in chosen if isinstance(each.record, KeyCharge)),
        )

    def admit(self, ledger: Ledger, rows: Rows, copies: int, mode: Mode) -> Admission:
        """Say which rows and copies fit; nothing is charged."""
        sums, keys = [each.record for each in self.sums], [each.record for each in self.keys]
        return ledger.admit(sums, keys, rows, copies, mode)

    def unlimited(self, copies: Rows | None = None) -> Charges:
        """The same without limits, of some copies only: what is counted whatever the limits say."""
        sums = tuple(attrs.evolve(each, record=attrs.evolve(each.record, limit=None)) for each in self.sums)
        shared: dict[int, Sequence[str]] = {}
        keys = []
        for each in self.keys:
            names = each.record.keys
            if copies is not None:
                names = shared.setdefault(id(names), [names[copy] for copy in copies.tolist()])
            keys.append(attrs.evolve(each, record=attrs.evolve(each.record, limit=None, keys=names)))
        return Charges(sums, tuple(keys))

    def apart(self) -> Iterator[Charges]:
        """Each sum by itself, then the sets of keys."""
        for each in self.sums:
            yield Charges((each,), ())
        if self.keys:
            yield Charges((), self.keys)

    def anywhere(self) -> Charges:
        """The same for a match on a slot that is not known: what depends on the slot is the highest.

        A counter that only some slots are charged on is charged; where there are several, none is known to be meant.
        """
        sums = []
        for each in self.sums:
            counter, amount = each.record.counter, _highest(each.record.amount)
            if isinstance(counter, Grouping):
                if len(counter.keys) != 1:
                    continue
                counter = counter.keys[0]
            sums.append(attrs.evolve(each, record=attrs.evolve(each.record, counter=counter, amount=amount)))
        return Charges(tuple(sums), self.keys)


def charge(
    request: Request,
    found: MatchCandidates,
    board: SlotMatcher,
    bundle: Bundle,
    ledger: Ledger,
    queues: QueueTree,
    cycle: Cycle,
    uncertain: Mapping[str, HookFailure],
) -> GrantedSlots:
    """Give the best slots that the quotas leave room for, and charge them.

    ``uncertain`` are the users whose usage could not be counted, and why: they get nothing.
    """
    copies = len(request.applications)
    if not found.left or not copies:
        return _nothing()
    if request.user in uncertain:
        unknown = failure_reason(Station.CHARGE, uncertain[request.user])
        return attrs.evolve(_nothing(), removals=(Removal(unknown, found.left, found.left),))
    answers = bundle.hooks.ask(
        specs.negotiator_charges,
        request=request,
        slots=board.slots,
        queues=queues,
        cycle=cycle,
        settings=bundle.settings,
    )
    if answers.failures:
        removed = tuple(
            Removal(failure_reason(Station.CHARGE, each), found.left, found.left) for each in answers.failures
        )
        return attrs.evolve(_nothing(), removals=removed, failures=answers.failures)
    enforcing = Charges.of(answers.records, enforcing=True)
    untold = _untold(request, enforcing)
    if untold is not None:
        return attrs.evolve(_nothing(), removals=(Removal(untold, found.left, found.left),))
    receipts: Sequence[Receipt] = ()
    try:
        rows, ranks, admission = _admit(enforcing, request, found, board, ledger, cycle)
        receipts = ledger.commit(admission)
        watching = len(enforcing.sums) + len(enforcing.keys) < len(answers.records)
        warnings = tuple(_warnings(answers.records, admission, ledger)) if watching else ()
    except LedgerError as error:
        for receipt in receipts:
            ledger.release(receipt)
        removed = (Removal(_broken(error), found.left, found.left),)
        return attrs.evolve(_nothing(), removals=removed)
    removals = tuple(_removals(enforcing, admission, rows, ledger, found.left))
    return GrantedSlots(admission.rows, ranks[admission.positions], admission.copies, removals, warnings)


def _admit(
    charges: Charges,
    request: Request,
    found: MatchCandidates,
    board: SlotMatcher,
    ledger: Ledger,
    cycle: Cycle,
) -> tuple[Rows, NDArray[np.float64], Admission]:
    """The best slots, the job's Rank of them, and which of them fit; nothing is charged.

    Where slots are charged alike, no more of them are looked at than there are jobs; else a few more, and more again only
    where too few of these fit: to put all slots in order is most of the work.
    """
    copies = len(request.applications)
    count = copies if _uniform(charges) else max(_FEW, 2 * copies)
    while True:
        rows, ranks = board.ranks.choose(request.ad, found.among, count, cycle.environment)
        admission = charges.admit(ledger, rows, copies, Mode.ENFORCE)
        if len(admission) == copies or count >= found.left or _uniform(charges):
            return rows, ranks, admission
        count *= _MORE


def _untold(request: Request, charges: Charges) -> Reason | None:
    """Why a job gets nothing that does not tell how much it takes of what is limited."""
    for each in charges.sums:
        if _quota(each).resource in request.unknown and each.record.limit is not None:
            return untold_reason(each, _quota(each))
    return None


def _highest(amount: object) -> int:
    return int(amount.max(initial=0)) if isinstance(amount, np.ndarray) else int(str(amount))


def _nothing() -> GrantedSlots:
    none = np.zeros(0, np.intp)
    return GrantedSlots(none, np.zeros(0), none)


def _broken(error: LedgerError) -> Reason:
    text = f"what a quota declares can't be counted: {error}"
    return core_reason(Station.CHARGE, Verdict.BROKEN_PLUGIN, "plugin_error", text)


def _quota(stamped: Attributed[Any]) -> Quota:
    label = stamped.record.label
    if not isinstance(label, Quota):
        raise TypeError("the guard lets no other label pass")
    return label


def _owned(stamped: Attributed[Any], record: Charge | KeyCharge) -> Attributed[Any]:
    """Put the plugin's name before its counters, so that no plugin can charge those of another."""
    owner, counter = stamped.plugin, record.counter
    if isinstance(record, KeyCharge):
        keyed = KeyCharge((owner, *record.counter), record.keys, record.limit, record.label)
        return Attributed(keyed, owner, stamped.version)
    own = counter.owned_by(owner) if isinstance(counter, Grouping) else (owner, *counter)
    # Said in full: there are several for each request, and to copy a record by its fields takes longer.
    charge = Charge(own, record.amount, record.limit, record.label, record.probes)
    return Attributed(charge, owner, stamped.version)


def _uniform(charges: Charges) -> bool:
    """Whether all slots are charged alike, so that the best of them are all that is to be looked at."""
    return not any(
        isinstance(each.record.counter, Grouping)
        or isinstance(each.record.amount, np.ndarray)
        or isinstance(each.record.limit, np.ndarray)
        for each in charges.sums
    )


def _removals(
    charges: Charges, admission: Admission, rows: Rows, ledger: Ledger, left: int
) -> Iterator[Removal]:
    """What said stop, with the numbers as they are with what was granted."""
    if not any(admission.refused) and not any(admission.copies_refused):
        return
    counters, uniform = ledger.counters(), _uniform(charges)
    for number, (each, refused) in enumerate(zip(charges.sums, admission.refused, strict=True)):
        if refused:
            full = rows[: len(admission.stops)][admission.stops == number]
            taken = left - len(admission) if uniform else refused
            yield Removal(_exceeded(each, full, counters), taken, taken)
    for each_key, refused in zip(charges.keys, admission.copies_refused, strict=True):
        if refused:
            key = each_key.record
            reason = quota_reason(each_key, _quota(each_key), 1, counters.used(key.counter), key.limit)
            yield Removal(reason, left - len(admission), left)


def _exceeded(stamped: Attributed[Charge], rows: Rows, counters: Counters) -> Reason:
    """Why a charge does not fit on some slots; of several counters the first is told, and how many more there are."""
    charge, quota = stamped.record, _quota(stamped)
    amount, limit = _at(charge.amount, rows), _at(charge.limit, rows)
    if not isinstance(charge.counter, Grouping):
        return quota_reason(stamped, quota, amount, counters.used(charge.counter), limit)
    codes, first = np.unique(charge.counter.codes[rows], return_index=True)
    key, more = charge.counter.keys[int(codes[np.argmin(first)])], len(codes) - 1
    if quota.text_after is not None:
        further = f" and {more} more" if more else ""
        where = printable(str(key[-1])[:_MAX_SHOWN])  # plugins have it from ads
        quota = attrs.evolve(quota, text=f"{quota.text}{where}{quota.text_after}{further}")
    return quota_reason(stamped, quota, amount, None if more else counters.used(key), limit)


def _at(value: int | Ints | None, rows: Rows) -> int | None:
    """A value of a charge on some slots, where it is the same on all of them."""
    if not isinstance(value, np.ndarray):
        return value
    there = value[rows]
    return int(there[0]) if len(there) and (there == there[0]).all() else None


def _warnings(
    records: Sequence[Attributed[Charge | KeyCharge]], admission: Admission, ledger: Ledger
) -> Iterator[tuple[Reason, frozenset[int]]]:
    """What rules that do not enforce would have refused of the matches that were made; all of these are counted.

    The numbers are those with all matches of the request.
    """
    mode, counters = Mode.WARN, ledger.counters(Mode.WARN)
    watching, size = Charges.of(records, enforcing=False), len(admission)
    everything = watching.unlimited(admission.copies)
    limited = [
        attrs.evolve(each.record, limit=limit.record.limit)
        for each, limit in zip(everything.keys, watching.keys, strict=True)
    ]
    sums = ledger.admit([each.record for each in watching.sums], (), admission.rows, size, mode)
    keys = ledger.admit((), limited, admission.rows, size, mode)
    ledger.commit(everything.admit(ledger, admission.rows, size, mode))
    for number, each in enumerate(watching.sums):
        refused = np.flatnonzero(sums.stops == number)
        if len(refused):
            yield _exceeded(each, admission.rows[refused], counters), frozenset(refused.tolist())
    for number, each_key in enumerate(watching.keys):
        places = frozenset(np.flatnonzero(keys.copy_stops == number).tolist())
        if places:
            record = each_key.record
            yield (
                quota_reason(each_key, _quota(each_key), 1, counters.used(record.counter), record.limit),
                places,
            )
