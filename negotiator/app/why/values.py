"""Parts of the answers as JSON values."""

from __future__ import annotations

from typing import Any

import attrs

from negotiator.audit.values import instant, reason_fields
from negotiator.explain.first_end import FirstEnd
from negotiator.explain.job import Condition, NearMiss


def condition_values(condition: Condition, opens: str) -> dict[str, Any]:
    """Return a condition as JSON values.

    :param opens: the name of what the nearest value opens: slots or jobs.
    """
    near = condition.near
    return {
        "reason": reason_fields(condition.reason),
        "rejected": condition.rejected,
        "alone": condition.alone,
        "lever": condition.lever.name.lower(),
        "near": None if near is None else _near_values(near, opens),
    }


def end_values(found: FirstEnd | None) -> dict[str, Any] | None:
    """Return the first end of running jobs as JSON values."""
    return None if found is None else {**attrs.asdict(found), "time": instant(found.time)}


def _near_values(near: NearMiss, opens: str) -> dict[str, Any]:
    values = attrs.asdict(near, filter=attrs.filters.exclude("opens", "noun"))
    return {**values, opens: near.opens}
