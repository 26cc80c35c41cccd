"""HTCondor's concurrency limits: licences and the like that a job takes while it runs, wherever it runs.

Source: HTCondor manual, "Concurrency Limits". A job says ``ConcurrencyLimits = "sw1:3, sw2"``: three of one thing, one of
another. It may be an expression of the slot, and then differ from slot to slot.
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
from negotiator_condor.limit_parser import SCALE, ConcurrencyRequest, read

ATTRIBUTE = "ConcurrencyLimits"
_ASKED = parse(f"MY.{ATTRIBUTE}")


@attrs.frozen
class ConcurrencyLimits:
    """``concurrency_limits``: the most of each thing; what is not named has ``CONCURRENCY_LIMIT_DEFAULT``.

    The limit of ``large`` is that of each ``large.something`` which has none of its own.
    """

    concurrency_limits: dict[str, int] = attrs.field(factory=dict)
    CONCURRENCY_LIMIT_DEFAULT: int = 2_308_032  # HTCondor's own
    source: Source | None = None

    def most(self, name: str) -> int:
        """The most there is of a thing."""
        folded = {each.lower(): limit for each, limit in self.concurrency_limits.items()}
        group = name.partition(".")[0]
        return folded.get(name, folded.get(group, self.CONCURRENCY_LIMIT_DEFAULT))


@hookimpl
def negotiator_section() -> Section:
    """Own the limits."""
    return Section(schema=ConcurrencyLimits)


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """What jobs are told apart by."""
    return [ATTRIBUTE]


@hookimpl
def negotiator_filter_slots(
    request: Request, slots: Table, settings: ConcurrencyLimits, cycle: Cycle
) -> Iterable[Filter]:
    """Keep a job from slots where what it asks for can't be read."""
    for asked, rows in _asked(request, slots, cycle):
        if asked.amount is None:
            text = f"{asked.text!r} is no concurrency limit: write a name, or a name, a colon and a number above 0"
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
    """Charge each thing that the jobs ask for, on all slots or on some."""
    for asked, rows in _asked(request, slots, cycle):
        if asked.amount is not None:
            label = Quota(
                rule=f"concurrency limit {asked.name}",
                text=f"concurrency limit {asked.name}",
                code="concurrency_limit",
                scale=SCALE,
                source=settings.source,
            )
            yield Charge((asked.name,), _on(rows, asked.amount), settings.most(asked.name) * SCALE, label)


def _asked(
    request: Request, slots: Table, cycle: Cycle
) -> Iterable[tuple[ConcurrencyRequest, NDArray[np.bool_]]]:
    """Each thing that the jobs ask for, with the slots on which they do, (N,)."""
    if ATTRIBUTE not in request.ad:
        return
    column = evaluate_table(_ASKED, slots, request.ad, side=Side.TARGET, env=cycle.environment)
    codes = column.data.get(Kind.STRING)
    if codes is None:
        return
    there = np.broadcast_to(column.kinds == Kind.STRING, (len(slots),))
    spread = np.broadcast_to(codes, (len(slots),))
    for code in np.unique(spread[there]).tolist():
        rows = there & (spread == code)
        for asked in read(column.pool.strings[code]):
            yield asked, rows


def _on(rows: NDArray[np.bool_], amount: int) -> int | NDArray[np.int64]:
    """An amount on some slots, (N,); one value where it is all of them."""
    return amount if rows.all() else np.where(rows, amount, 0).astype(np.int64)
