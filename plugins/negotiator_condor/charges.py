"""What requests and claims use of concurrency limits: charges of the ledger, and the report ``limits``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from negotiator.plugin import (
    Charge,
    CounterKey,
    Cycle,
    Filter,
    Kind,
    Mask,
    Quota,
    Request,
    Side,
    Table,
    Verdict,
    evaluate_table,
    parse,
)
from negotiator_condor.limit_parser import (
    ATTRIBUTE,
    EMPTY_LIST,
    SCALE,
    ConcurrencyRequest,
    LimitCompatibility,
    LimitList,
    parse_limits,
)
from negotiator_condor.settings import ConcurrencyLimits, ConfiguredLimit

PREEMPTING = "PreemptingConcurrencyLimits"

_EXPRESSION = parse(f"MY.{ATTRIBUTE}")


@attrs.frozen(eq=False)
class RequestedLimits:
    """A list, and the slots on which a request has it, (N,); None if it does not depend on the slot."""

    limits: LimitList
    rows: Mask | None = None


def refused_lists(
    request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle
) -> Iterator[Filter]:
    """Yield a filter for each invalid list, which excludes the slots on which the request has it."""
    compatible = settings.concurrency_limits_compatible
    for listed in requested_limits(request, slots, compatible, cycle):
        if listed.limits.fault:
            refused = np.ones(len(slots), np.bool_) if listed.rows is None else listed.rows
            yield Filter(
                rule="concurrency limits",
                allow=~refused,
                code="concurrency_limit_invalid",
                text=listed.limits.fault,
                verdict=Verdict.MISCONFIGURED,
                source=settings.source,
            )


def requested_limits(
    request: Request, slots: Table, compatible: LimitCompatibility, cycle: Cycle
) -> Iterator[RequestedLimits]:
    """Yield the lists of a request, or those of a claim: the lists in its slot's ad take precedence over the job's own."""
    held = [request.claim.string(name) for name in (ATTRIBUTE, PREEMPTING)] if len(request.claim) else ()
    if any(held):
        for text in filter(None, held):
            yield RequestedLimits(parse_limits(text, compatible))
        return
    if ATTRIBUTE not in request.ad:
        return
    own = request.ad.evaluate(ATTRIBUTE, env=cycle.environment)
    by_slot = list(_by_slot(request, slots, cycle))
    if isinstance(own, str) and (
        not len(slots) or ([text for text, _ in by_slot] == [own] and by_slot[0][1].all())
    ):
        yield RequestedLimits(parse_limits(own, compatible))
        return
    for text, rows in by_slot:
        yield RequestedLimits(parse_limits(text, compatible), rows)


def _by_slot(request: Request, slots: Table, cycle: Cycle) -> Iterator[tuple[str, Mask]]:
    """Yield the values of the job's list, and the slots with which it has each, (N,)."""
    column = evaluate_table(_EXPRESSION, slots, request.ad, side=Side.TARGET, env=cycle.environment)
    codes = column.data.get(Kind.STRING)
    if codes is None:
        return
    is_list = np.broadcast_to(column.where(Kind.STRING), (len(slots),))
    codes = np.broadcast_to(codes, (len(slots),))
    for code in np.unique(codes[is_list]).tolist():
        yield column.pool.strings[code], is_list & (codes == code)


def charges_of(request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle) -> Iterator[Charge]:
    """Charge each name of the lists, on all slots or on some.

    If no match of a running job is known, its own list is unverified: an item above its limit counts as 1. Like
    condor_negotiator, which does not read slots outside of NEGOTIATOR_SLOT_CONSTRAINT, nothing that runs there is charged,
    unless lists are read as ``fixed``.
    """
    if request.outside and settings.concurrency_limits_compatible is LimitCompatibility.EXACT:
        return
    claimed = len(request.claim) == 0 and request.unverified
    for listed in requested_limits(request, slots, settings.concurrency_limits_compatible, cycle):
        if listed.limits is EMPTY_LIST and not request.unverified:
            yield _refusal(listed.rows, settings)
        for item in listed.limits.requests:
            yield _charge(item, listed.rows, settings, claimed=claimed)


def _charge(
    item: ConcurrencyRequest, rows: Mask | None, settings: ConcurrencyLimits, *, claimed: bool
) -> Charge:
    effective = settings.of(item.name)
    label = Quota(
        rule=f"concurrency limit {item.name}",
        text=f"concurrency limit {item.name}",
        code="concurrency_limit",
        name=item.name,
        held_through_cycle=settings.concurrency_limits_compatible is LimitCompatibility.EXACT,
        scale=SCALE,
        mode=settings.mode(item.name),
        source=effective.source,
    )
    limit, amount = effective.limit, item.total
    if claimed and amount > limit:
        amount = SCALE  # no match can have granted more than the limit
    # The sum of a name's items is charged, but only the largest one is tested: the limit grows by the difference.
    limit += item.total - item.tested
    return Charge((item.name,), amount if rows is None else np.where(rows, amount, 0), limit, label)


def _refusal(rows: Mask | None, settings: ConcurrencyLimits) -> Charge:
    """Return a charge of nothing that does not fit."""
    label = Quota(
        rule="concurrency limits", text=EMPTY_LIST.fault, code="concurrency_limit", source=settings.source
    )
    limit = -1 if rows is None else np.where(rows, -1, 0)
    return Charge(("",), 0, limit, label, probes=True)


def limit_usage(settings: ConcurrencyLimits, sums: Mapping[CounterKey, int]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each name that is configured or in use, then for the defaults of all other names.

    Entries have the mode if the bundle configures any.

    :param sums: the amounts in use, in millionths, by name.
    """
    used = {key[0]: amount for key, amount in sums.items() if amount}
    for name in sorted({*settings.own, *used}):
        yield _entry(settings, name, settings.of(name), used.get(name, 0))
    for prefix, limit in sorted(settings.prefixes.items()):
        yield _entry(settings, f"{prefix}.*", limit)
    yield _entry(settings, "*", settings.default)


def _entry(
    settings: ConcurrencyLimits, name: str, limit: ConfiguredLimit, used: int | None = None
) -> dict[str, Any]:
    amounts = {} if used is None else {"used": _number(used)}
    entry = {"limit": name, **amounts, "maximum": _number(limit.limit), "set_by": limit.key}
    return entry | {"mode": str(settings.mode(name))} if settings.concurrency_limit_modes else entry


def _number(amount: int) -> int | float:
    return amount // SCALE if amount % SCALE == 0 else amount / SCALE
