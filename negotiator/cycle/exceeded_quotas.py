"""The reasons why charges do not fit: the quota, and the amounts needed, used and allowed."""

from __future__ import annotations

import attrs
import numpy as np

from negotiator.cycle.charges import quota_of
from negotiator.cycle.reasons import quota_reason
from negotiator.hooks.charges import Charge, Grouping, KeyCharge
from negotiator.hooks.manager import Attributed
from negotiator.ledger import Counters, Ints, Rows
from negotiator.records import Reason
from negotiator.records.text import printable

#: The most characters of a counter's name in a reason.
_MAX_SHOWN = 300


def exceeded_reason(attributed: Attributed[Charge], rows: Rows, counters: Counters) -> Reason:
    """Return why a charge does not fit on some slots; of several counters the first, and how many more there are."""
    charge, quota = attributed.record, quota_of(attributed)
    amount, limit = _common_value(charge.amount, rows), _common_value(charge.limit, rows)
    if not isinstance(charge.counter, Grouping):
        return quota_reason(attributed, quota, amount, counters.used(charge.counter), limit)
    codes, first = np.unique(charge.counter.codes[rows], return_index=True)
    key, more = charge.counter.keys[int(codes[np.argmin(first)])], len(codes) - 1
    if quota.text_after is not None:
        further = f" and {more} more" if more else ""
        where = printable(str(key[-1])[:_MAX_SHOWN])  # plugins copy it from ads
        quota = attrs.evolve(quota, text=f"{quota.text}{where}{quota.text_after}{further}")
    return quota_reason(attributed, quota, amount, None if more else counters.used(key), limit)


def keys_exceeded_reason(attributed: Attributed[KeyCharge], counters: Counters) -> Reason:
    """Return why one more key does not fit into a set."""
    record = attributed.record
    return quota_reason(attributed, quota_of(attributed), 1, counters.used(record.counter), record.limit)


def _common_value(value: int | Ints | None, rows: Rows) -> int | None:
    """Return a value of a charge on some slots; None where it differs between them."""
    if not isinstance(value, np.ndarray):
        return value
    values = value[rows]
    return int(values[0]) if len(values) and (values == values[0]).all() else None
