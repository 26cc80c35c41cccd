"""The reasons of denials and the ids of their jobs: written within a budget for each record and for each owner: users write what makes them long."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from negotiator.audit.values import Record, bounded, reason_fields

if TYPE_CHECKING:
    from negotiator.cycle.jobs import JobRanges
    from negotiator.cycle.result import Removal, RequestOutcome
    from negotiator.records import Reason

#: Bytes of reasons in one record, and of all records of one owner in one cycle. The decisive reason (the one that removed the most
#: slots if there is none) is recorded in any case, shortened if there is nothing left of the budget.
RECORD_BYTES = 8_000
OWNER_BYTES = 200_000
#: Bytes of the ids of jobs in one record; they count for the owner too.
ID_BYTES = 4_000
_SHORTEST_ID, _SEPARATOR = 7, 4  # of a range in JSON: "1.0", and the quotes, comma and blank
_SHORT = 120  # characters of a text
_REASONS = 100

#: Why jobs got no slot if no reason of their denial is decisive.
OTHER_JOBS = "other jobs got the last slots"


def decisive_reason(denial: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the reason that took the last slots from a denied request; None if other jobs got them."""
    reasons, place = denial.get("reasons") or (), denial.get("decisive")
    return reasons[place] if isinstance(place, int) and 0 <= place < len(reasons) else None


def bounded_denials(outcomes: Iterable[RequestOutcome]) -> Iterator[tuple[RequestOutcome, Record]]:
    """Yield each request with the fields of its denial that have a budget: reasons, and the ids of its jobs."""
    left: dict[str, int] = {}
    for outcome in outcomes:
        request = outcome.request
        owner = request.ad.string("Owner") or request.user or request.submitter
        budget = left.setdefault(owner, OWNER_BYTES)
        decisive = outcome.decisive_removal
        chosen = _within(outcome.removals, decisive, min(RECORD_BYTES, budget))
        reasons = [chosen[place] for place in sorted(chosen)]
        budget -= sum(map(_size, reasons))
        ids = _ids_within(outcome.jobs_left, min(ID_BYTES, budget))
        left[owner] = budget - sum(len(text) + _SEPARATOR for text in ids)
        yield (
            outcome,
            {
                "job_ids": ids,
                "job_ids_left_out": outcome.jobs_left.from_place(len(ids)).jobs,
                "reasons": reasons,
                "decisive": None if decisive is None else sorted(chosen).index(decisive),
                "reasons_left_out": len(outcome.removals) - len(reasons),
            },
        )


def _ids_within(jobs: JobRanges, budget: int) -> list[str]:
    """Return the first ranges of jobs, as many as the budget allows; at least one."""
    texts = jobs.texts(max(1, budget // _SHORTEST_ID))
    ends = itertools.accumulate(len(text) + _SEPARATOR for text in texts)
    return texts[: max(1, sum(end <= budget for end in ends))]


def _within(removals: tuple[Removal, ...], decisive: int | None, budget: int) -> dict[int, Record]:
    """Return the decisive reason and those that took the most slots, as many as the budget allows, by place; at least one."""
    weights = sorted(
        range(len(removals)),
        key=lambda place: (place != decisive, -removals[place].removed, -removals[place].rejected, place),
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
    return chosen


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
