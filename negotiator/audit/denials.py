"""The reasons of denials, within a budget for each record and for each owner: users write what makes them long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from negotiator.audit.values import Record, bounded, reason_fields

if TYPE_CHECKING:
    from negotiator.cycle.result import Removal, RequestOutcome
    from negotiator.records import Reason

#: Bytes of reasons in one record, and of all records of one owner in one cycle. The reason that removed the most slots is
#: recorded in any case, shortened if there is nothing left of the budget.
RECORD_BYTES = 8_000
OWNER_BYTES = 200_000
_SHORT = 120  # characters of a text
_REASONS = 100


def bounded_reasons(outcomes: Iterable[RequestOutcome]) -> Iterator[tuple[RequestOutcome, list[Record]]]:
    """Yield each request with those of its reasons that are recorded, in their order."""
    left: dict[str, int] = {}
    for outcome in outcomes:
        request = outcome.request
        owner = request.ad.string("Owner") or request.user or request.submitter
        budget = min(RECORD_BYTES, left.setdefault(owner, OWNER_BYTES))
        reasons = _within(outcome.removals, budget)
        left[owner] -= sum(map(_size, reasons))
        yield outcome, reasons


def _within(removals: tuple[Removal, ...], budget: int) -> list[Record]:
    """Return the reasons that took the most slots, as many as the budget allows, in their order; at least one."""
    weights = sorted(
        range(len(removals)), key=lambda place: (-removals[place].removed, -removals[place].rejected, place)
    )
    chosen: dict[int, Record] = {}
    for place in weights[:_REASONS]:
        fields = _fields(removals[place], reason_fields(removals[place].reason))
        budget -= _size(fields)
        if budget < 0:
            break
        chosen[place] = fields
    if removals and not chosen:
        first = removals[weights[0]]
        chosen[weights[0]] = _fields(first, _shortened(first.reason))
    return [chosen[place] for place in sorted(chosen)]


def _fields(removal: Removal, reason: Record) -> Record:
    return {**reason, "removed": removal.removed, "rejected": removal.rejected}


def _shortened(reason: Reason) -> Record:
    """Return the fields of a reason without its numbers, and with short texts."""
    fields = reason_fields(reason)
    provenance = {
        name: bounded(value, _SHORT) if isinstance(value, str) else value
        for name, value in fields["provenance"].items()
    }
    texts = {name: bounded(fields[name], _SHORT) for name in ("code", "text")}
    return {**fields, **texts, "numbers": {}, "provenance": provenance}


def _size(fields: Record) -> int:
    return len(json.dumps(fields))
