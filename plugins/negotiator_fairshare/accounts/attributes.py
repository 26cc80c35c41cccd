"""The attributes of a row of the accounts, as ``Accountantnew.log`` and Accounting ads name them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from negotiator_fairshare.accounts.account import LARGEST, MIN_PRIORITY, AccountRecord, stored

INTEGERS = {
    "ResourcesUsed": "resources_used",
    "UnchargedTime": "uncharged_time",
    "BeginUsageTime": "begin_usage",
    "LastUsageTime": "last_usage",
    "Ceiling": "ceiling",
    "CeilingLeaseExpiration": "ceiling_lease_expiration",
    "CeilingPreLeaseValue": "ceiling_before_lease",
    "Floor": "floor",
    "FloorLeaseExpiration": "floor_lease_expiration",
    "FloorPreLeaseValue": "floor_before_lease",
    "PriorityFactorLeaseExpiration": "factor_lease_expiration",
}
"""Attributes whose values are integers, and their fields."""

REALS = {
    "Priority": "priority",
    "PriorityFactor": "factor",
    "WeightedResourcesUsed": "weighted_resources_used",
    "HierWeightedResourcesUsed": "hierarchical_weighted_resources_used",
    "WeightedUnchargedTime": "weighted_uncharged_time",
    "AccumulatedUsage": "accumulated_usage",
    "WeightedAccumulatedUsage": "weighted_accumulated_usage",
    "PriorityFactorPreLeaseValue": "factor_before_lease",
}
"""Attributes whose values have six decimals, and their fields."""

_NAMES = {name.lower(): name for name in (*INTEGERS, *REALS)}
_DEFAULTS = AccountRecord()
_LARGEST_INTEGER = 2**63 - 1


def canonical(name: str) -> str | None:
    """Return the spelling of an attribute of accounts, or None for any other attribute."""
    return _NAMES.get(name.lower())


def numbers_of(record: AccountRecord) -> dict[str, int | float]:
    """Return the attributes of an account that differ from those of a new one, sorted by name."""
    values: dict[str, int | float] = {}
    for name, field in sorted({**INTEGERS, **REALS}.items()):
        value = getattr(record, field)
        # Without the weighted attribute, the other one is read in its place.
        if value != getattr(_DEFAULTS, field) or (
            name == "WeightedAccumulatedUsage" and record.accumulated_usage
        ):
            values[name] = value
    return values


def record_of(values: Mapping[str, object], others: Mapping[str, str]) -> AccountRecord:
    """Return an account from the numbers of its attributes (canonical names) and the texts of all others.

    :raises ValueError: a value is not a number, or not in its range; the message names the attribute.
    """
    fields: dict[str, float | None] = {field: _integer(name, values) for name, field in INTEGERS.items()}
    fields |= {field: _real(name, values) for name, field in REALS.items()}
    known = {field: value for field, value in fields.items() if value is not None}
    known.setdefault("weighted_accumulated_usage", known.get("accumulated_usage", 0.0))
    known["priority"] = max(known.get("priority", MIN_PRIORITY), MIN_PRIORITY)
    for field in ("resources_used", "weighted_resources_used", "hierarchical_weighted_resources_used"):
        if known.get(field, 0) < 0:
            raise ValueError(f"{field.replace('_', ' ')} must not be negative")
    return AccountRecord(**known, others=dict(others))  # type: ignore[arg-type]


def _number(name: str, values: Mapping[str, object]) -> int | float | None:
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")  # noqa: TRY004 - the value is at fault, not the caller
    # Comparisons, not conversions: an integer may be too large for a float.
    if not -LARGEST <= value <= LARGEST or (isinstance(value, float) and math.isnan(value)):
        raise ValueError(f"{name} is out of range")
    return value


def _integer(name: str, values: Mapping[str, object]) -> int | None:
    value = _number(name, values)
    if value is None:
        return None
    if not -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER:
        raise ValueError(f"{name} is out of range")
    return int(value)


def _real(name: str, values: Mapping[str, object]) -> float | None:
    value = _number(name, values)
    return None if value is None else stored(float(value))
