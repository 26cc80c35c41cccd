"""HTCondor's concurrency limits: licences and other resources that a job uses while it runs, on any slot.

Source: HTCondor manual, "Concurrency Limits". A job requests them with ``ConcurrencyLimits = "sw1:3, sw2"``: three of the
first, one of the second. The attribute may be an expression of the slot, and so differ from slot to slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

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

    The limit of ``large`` is also that of each ``large.something`` without its own. ``sources`` has the place of each
    value that is configured, by its path: ``concurrency_limits.large``.
    """

    concurrency_limits: dict[str, int] = attrs.field(factory=dict)
    CONCURRENCY_LIMIT_DEFAULT: int = 2_308_032  # HTCondor's default
    source: Source | None = None
    sources: Mapping[str, Source] = attrs.field(factory=dict)

    def limit(self, name: str) -> int:
        """Return the limit of a name in lower case."""
        key = self._key(name)
        return self.CONCURRENCY_LIMIT_DEFAULT if key is None else self.concurrency_limits[key]

    def limit_source(self, name: str) -> Source | None:
        """Return the place of the limit of a name in lower case; that of the section if the limit is not configured."""
        key = self._key(name)
        path = "CONCURRENCY_LIMIT_DEFAULT" if key is None else f"concurrency_limits.{key}"
        return self.sources.get(path, self.source)

    def _key(self, name: str) -> str | None:
        """Return the configured name whose limit applies, as it is written; None for the default."""
        group = name.partition(".")[0]
        return self._keys.get(name, self._keys.get(group))

    @cached_property
    def _keys(self) -> dict[str, str]:
        """The configured names as they are written, by name in lower case."""
        return {key.lower(): key for key in self.concurrency_limits}


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
    """Charge each name in the job's list, on all slots or on some.

    The list of a running job whose match is not known is its own claim: an item above its limit counts as one.
    """
    for item, rows in _requested(request, slots, cycle):
        if item.amount is not None:
            label = Quota(
                rule=f"concurrency limit {item.name}",
                text=f"concurrency limit {item.name}",
                code="concurrency_limit",
                scale=SCALE,
                source=settings.limit_source(item.name),
            )
            limit, amount = settings.limit(item.name) * SCALE, item.amount
            if request.unverified and amount > limit:
                amount = SCALE  # nobody can have granted as much
            yield Charge((item.name,), _amounts(rows, amount), limit, label)


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
    is_list = np.broadcast_to(column.kinds == Kind.STRING, (len(slots),))
    codes = np.broadcast_to(codes, (len(slots),))
    for code in np.unique(codes[is_list]).tolist():
        rows = is_list & (codes == code)
        for item in parse_limits(column.pool.strings[code]):
            yield item, rows


def _amounts(rows: NDArray[np.bool_], amount: int) -> int | NDArray[np.int64]:
    """Return the amount to charge on each slot, (N,): 0 outside ``rows``; one value if ``rows`` has all slots."""
    return amount if rows.all() else np.where(rows, amount, 0).astype(np.int64)
