"""Quotas that are exceeded: the reasons why charges do not fit, and what is in use above a limit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from negotiator.cycle.charges import quota_of
from negotiator.cycle.reasons import quota_reason, scaled
from negotiator.hooks.charges import Charge, Grouping, KeyCharge, Quota
from negotiator.hooks.manager import Attributed
from negotiator.hooks.overruns import Overrun
from negotiator.ledger import Counters, ExceededCounter, Ints, Rows
from negotiator.records import Reason
from negotiator.records.text import printable

#: The most characters of a counter's name in a reason.
_MAX_SHOWN = 300


def exceeded_reason(attributed: Attributed[Charge], rows: Rows, counters: Counters) -> Reason:
    """Return why a charge does not fit on some slots; of several counters that of the first slot, and how many more there are."""
    charge, quota = attributed.record, quota_of(attributed)
    amount, limit = _common_value(charge.amount, rows), _common_value(charge.limit, rows)
    if not isinstance(charge.counter, Grouping):
        return quota_reason(attributed, quota, amount, counters.used(charge.counter), limit)
    codes, keys = charge.counter.codes[rows], charge.counter.keys
    seen = np.zeros(len(keys), np.bool_)
    seen[codes] = True
    key, more = keys[int(codes[0])], int(np.count_nonzero(seen)) - 1
    text = quota.text
    if quota.text_after is not None:
        text = f"{text}{_shown(key[-1])}{quota.text_after}{f' and {more} more' if more else ''}"
    return quota_reason(attributed, quota, amount, None if more else counters.used(key), limit, text)


def keys_exceeded_reason(attributed: Attributed[KeyCharge], counters: Counters) -> Reason:
    """Return why one more key does not fit into a set."""
    record = attributed.record
    return quota_reason(attributed, quota_of(attributed), 1, counters.used(record.counter), record.limit)


class QuotaInUse(NamedTuple):
    """The quota of a charge that is in use; ``by_member``: its counter is one of many, such as one for each host."""

    quota: Attributed[Quota]
    by_member: bool

    @classmethod
    def of(cls, attributed: Attributed[Charge] | Attributed[KeyCharge]) -> QuotaInUse:
        """Return the quota of a charge, without its columns."""
        quota = Attributed(quota_of(attributed), attributed.plugin, attributed.version)
        return cls(quota, isinstance(attributed.record.counter, Grouping))


def exceeded_limits(exceeded: Iterable[ExceededCounter]) -> tuple[Overrun, ...]:
    """Return the limits that are exceeded, the most exceeded ones first; labels are each a ``QuotaInUse``."""
    ranked = sorted(exceeded, key=lambda each: -each.used / each.limit if each.limit else -math.inf)
    return tuple(map(_exceeded_limit, ranked))


def _exceeded_limit(exceeded: ExceededCounter) -> Overrun:
    label = exceeded.label
    if not isinstance(label, QuotaInUse):
        raise TypeError("a limit in use without its quota")
    quota = label.quota.record
    subject = _subject(quota, exceeded.counter[-1] if label.by_member else "")
    reason = quota_reason(label.quota, quota, None, exceeded.used, exceeded.limit, subject)
    used, limit = scaled(quota, exceeded.used), scaled(quota, exceeded.limit)
    return Overrun(
        reason=reason,
        subject=subject,
        since=0.0,
        resource=quota.resource,
        used=used,
        limit=limit,
        counter=exceeded.counter[1:],
    )


def _subject(quota: Quota, member: str) -> str:
    """Return whose usage a quota limits; ``member`` is the name of the counter among many, empty for none."""
    if member and not quota.subject and quota.text_after is not None:
        return f"{quota.text}{_shown(member)}{quota.text_after}"
    return " ".join(filter(None, (quota.subject or quota.text, _shown(member))))


def _shown(name: str) -> str:
    """Return a part of a counter's key, which plugins copy from ads."""
    return printable(name[:_MAX_SHOWN])


def _common_value(value: int | Ints | None, rows: Rows) -> int | None:
    """Return a value of a charge on some slots; None where it differs between them."""
    if not isinstance(value, np.ndarray):
        return value
    values = value[rows]
    return int(values[0]) if len(values) and (values == values[0]).all() else None
