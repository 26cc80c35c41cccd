"""HTCondor's concurrency limits: licences and other things that a job uses while it runs, on any slot.

Source: HTCondor manual, "Concurrency Limits". A job says ``ConcurrencyLimits = "sw1:3, sw2"``: three of one thing, one of
another. It may be an expression of the slot, and so differ from slot to slot.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Charge,
    Cycle,
    Filter,
    Kind,
    Quota,
    Request,
    Section,
    Side,
    Source,
    Table,
    Verdict,
    evaluate_table,
    hookimpl,
    parse,
)
from negotiator_condor.limit_parser import SCALE, ConcurrencyRequest, parse_limits

ATTRIBUTE = "ConcurrencyLimits"
_EXPRESSION = parse(f"MY.{ATTRIBUTE}")


@attrs.frozen
class ConcurrencyLimits:
    """``concurrency_limits``: the limit of each name; any other name has ``CONCURRENCY_LIMIT_DEFAULT``.

    The limit of ``large`` is also that of each ``large.something`` without its own.
    """

    concurrency_limits: dict[str, int] = attrs.field(factory=dict)
    CONCURRENCY_LIMIT_DEFAULT: int = 2_308_032  # HTCondor's own
    source: Source | None = None

    def limit(self, name: str) -> int:
        """Return the limit of a name in lower case."""
        folded = {each.lower(): limit for each, limit in self.concurrency_limits.items()}
        group = name.partition(".")[0]
        return folded.get(name, folded.get(group, self.CONCURRENCY_LIMIT_DEFAULT))


@hookimpl
def negotiator_section() -> Section:
    """Declare the keys of ``pool.yaml``."""
    return Section(schema=ConcurrencyLimits)


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Read ``ConcurrencyLimits``."""
    return [ATTRIBUTE]


@hookimpl
def negotiator_filter_slots(
    request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle
) -> Iterable[Filter]:
    """Exclude the slots on which the job's list is invalid."""
    for item, rows in _requested(request, slots, cycle):
        if item.amount is None:
            text = f"invalid concurrency limit {item.text!r}: write a name, or a name, a colon and a number above 0"
            yield Filter(
                rule="concurrency limits",
                allow=~rows,
                code="concurrency_limit_invalid",
                text=text,
                verdict=Verdict.MISCONFIGURED,
                source=settings.source,
            )


@hookimpl
def negotiator_charges(
    request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle
) -> Iterable[Charge]:
    """Charge each name in the job's list, on all slots or on some."""
    for item, rows in _requested(request, slots, cycle):
        if item.amount is not None:
            label = Quota(
                rule=f"concurrency limit {item.name}",
                text=f"concurrency limit {item.name}",
                code="concurrency_limit",
                scale=SCALE,
                source=settings.source,
            )
            yield Charge((item.name,), _on(rows, item.amount), settings.limit(item.name) * SCALE, label)


def _requested(
    request: Request, slots: Table, cycle: Cycle
) -> Iterable[tuple[ConcurrencyRequest, NDArray[np.bool_]]]:
    """Yield each item of the job's list, with a mask of the slots on which it is in the list, (N,)."""
    if ATTRIBUTE not in request.ad:
        return
    column = evaluate_table(_EXPRESSION, slots, request.ad, side=Side.TARGET, env=cycle.environment)
    codes = column.data.get(Kind.STRING)
    if codes is None:
        return
    there = np.broadcast_to(column.kinds == Kind.STRING, (len(slots),))
    spread = np.broadcast_to(codes, (len(slots),))
    for code in np.unique(spread[there]).tolist():
        rows = there & (spread == code)
        for item in parse_limits(column.pool.strings[code]):
            yield item, rows


def _on(rows: NDArray[np.bool_], amount: int) -> int | NDArray[np.int64]:
    """Return an amount on some slots, (N,); one value if it is all of them."""
    return amount if rows.all() else np.where(rows, amount, 0).astype(np.int64)
