"""Quotas in mode warn or dryrun: they are charged on shadow counters and refuse nothing.

Each quota is tried by itself, so that none hides another: its matches are those that it alone would have refused. All
matches are then charged, whatever was tried: the shadow counters have what is in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import attrs
import numpy as np

from negotiator.cycle.charges import Charges, quota_of
from negotiator.cycle.exceeded_quotas import exceeded_reason, keys_exceeded_reason
from negotiator.cycle.held_amounts import HeldAmounts
from negotiator.cycle.reasons import unspecified_reason
from negotiator.hooks.records import Request
from negotiator.ledger import Admission, Counters, Ledger, Receipt, Rows
from negotiator.records import Mode, Reason

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
