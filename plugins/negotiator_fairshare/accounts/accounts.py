"""All accounts of a pool, their transitions in a negotiation cycle, and the attributes of a row of them.

These are named as in ``Accountantnew.log`` and Accounting ads.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import attrs

from negotiator_fairshare.accounts.account import (
    LARGEST,
    MIN_PRIORITY,
    AccountRecord,
    Interval,
    ResourceRecord,
    from_millionths,
    stored,
    without_expired,
)
from negotiator_fairshare.accounts.settings import MIN_FACTOR, AccountSettings
from negotiator_fairshare.accounts.use import LASTS, NegotiatorUse, PoolUse, Use, UseCounter, sums_of

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
NEW = AccountRecord()


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


@attrs.frozen(kw_only=True)
class Accounts:
    """The accounts by name, the slots in use by key (``name@address``), and the time of the last update.

    A cycle goes ``updated``, ``recounted``, ``seen``, then, after its matches, ``recounted`` with them. An account that
    does not exist has priority 0.5 and no usage.

    With ``pool``, several negotiators share the accounts. Each of them makes the same transitions: the slots in use of the records are then those
    of this negotiator alone. ``pool`` is None for the only negotiator.
    """

    records: Mapping[str, AccountRecord] = attrs.field(factory=dict)
    resources: Mapping[str, ResourceRecord] = attrs.field(factory=dict)
    last_update: int = 0
    pool: PoolUse | None = None

    def get(self, name: str) -> AccountRecord:
        """Return the account of a name, a new one if there is none."""
        return self.records.get(name, NEW)

    def updated(self, now: int, settings: AccountSettings) -> Accounts:
        """Return the accounts at a time: priorities decayed, the use since the last update charged, leases ended.

        If no time has passed, or the clock went back, only the stamp changes, and leases end.
        """
        if self.pool is not None:
            return self._updated_in_part(now, self.pool.charged_until, settings)
        records = self.records
        if now > self.last_update:
            interval = Interval.since(self.last_update, now, settings.halflife)
            records = {name: interval.applied(record) for name, record in records.items()}
        records = {name: without_expired(record, now) for name, record in records.items()}
        return attrs.evolve(self, records=records, last_update=now)

    def _updated_in_part(self, now: int, charged_until: int | None, settings: AccountSettings) -> Accounts:
        """Return the accounts with the use of the slots of one of several negotiators charged.

        Another one may have updated them later than ``now``: a cycle takes time. A stamp that is much later is that of a wrong clock.
        """
        last = self.last_update if self.last_update - now <= LASTS else now
        charged_until = now if charged_until is None else charged_until
        interval = Interval.of_part(last, charged_until, now, settings.halflife)
        records = {
            name: without_expired(interval.applied(record), now) for name, record in self.records.items()
        }
        return attrs.evolve(self, records=records, last_update=interval.now)

    def whole(self) -> Accounts:
        """Return the accounts with the slots in use of all negotiators of the pool, as they are shown."""
        if self.pool is None:
            return self
        used = sums_of(use for name, use in self.pool.negotiators.items() if name in self.pool.constraints)
        records = {}
        for name in dict.fromkeys((*self.records, *used)):
            slots, weighted, hierarchical = used.get(name, (0, 0, 0))
            records[name] = attrs.evolve(
                self.get(name),
                resources_used=slots,
                weighted_resources_used=from_millionths(weighted),
                hierarchical_weighted_resources_used=from_millionths(hierarchical),
            )
        return attrs.evolve(self, records=records)

    def left_by(self, cycle: NegotiatorUse) -> Accounts:
        """Return the accounts with the slots in use of a cycle of this negotiator, of which the size and the time are given."""
        if self.pool is None:
            return self
        use = {
            name: (
                record.resources_used,
                record.weighted_resources_used,
                record.hierarchical_weighted_resources_used,
            )
            for name, record in self.records.items()
        }
        return attrs.evolve(self, pool=self.pool.with_own(attrs.evolve(cycle, use=use)))

    def recounted(self, use: UseCounter) -> Accounts:
        """Return the accounts with the slots in use of a counter, and no others; those of other negotiators are left out."""
        names = dict.fromkeys([*self.records, *sorted(use.names())])
        return attrs.evolve(self, records={name: _with_use(self.get(name), name, use) for name in names})

    def without_use(self, use: Mapping[str, Use]) -> Accounts:
        """Return the accounts with less slots in use, as they are shown."""
        records = {
            name: attrs.evolve(
                record,
                resources_used=max(record.resources_used - slots, 0),
                weighted_resources_used=max(record.weighted_resources_used - weight, 0.0),
                hierarchical_weighted_resources_used=max(
                    record.hierarchical_weighted_resources_used - below, 0.0
                ),
            )
            for name, (slots, weight, below) in use.items()
            if (record := self.records.get(name)) is not None
        }
        return attrs.evolve(self, records={**self.records, **records})

    def seen(self, names: Iterable[str], settings: AccountSettings) -> Accounts:
        """Return the accounts with the factors of new names written down; a stored factor stays."""
        records = dict(self.records)
        for name in names:
            record = self.get(name)
            if record.factor is None or record.factor < MIN_FACTOR or name not in records:
                records[name] = attrs.evolve(record, factor=self.factor(name, settings))
        return attrs.evolve(self, records=records)

    def factor(self, name: str, settings: AccountSettings) -> float:
        """Return the priority factor of a name: the stored one, or that of the knobs."""
        factor = self.get(name).factor
        if factor is None or factor < MIN_FACTOR:
            return stored(settings.factor_of(name))
        return factor

    def effective_priority(self, name: str, settings: AccountSettings) -> float:
        """Return real priority times factor; smaller is better."""
        return max(self.get(name).priority, MIN_PRIORITY) * self.factor(name, settings)

    def with_resources(self, in_use: Mapping[str, ResourceRecord], matched: Collection[str] = ()) -> Accounts:
        """Return the accounts with the records of the slots in use.

        Records of other slots are dropped, unless their slot is in state Matched, which is not use. A slot that the same
        user holds keeps the concurrency limits of its record if the new one has none.

        :param matched: the keys of the slots in state Matched.
        """
        records = {key: self.resources[key] for key in matched if key in self.resources}
        for key, record in in_use.items():
            records[key] = _with_limits_of(record, self.resources.get(key))
        return attrs.evolve(self, resources=records)

    def reconciled(self, settings: AccountSettings) -> Accounts:
        """Return the accounts with the slots in use that the records of slots add up to, and the factors of groups.

        The negotiator does this when it starts. The use of subtrees of groups stays as it was.
        """
        use = UseCounter(settings.group_of)
        for resource in self.resources.values():
            if resource.user:
                use.add(resource.user, resource.weight)
        records = {
            name: attrs.evolve(
                record, resources_used=use.slots(name), weighted_resources_used=use.weighted(name)
            )
            for name, record in self.records.items()
        }
        return attrs.evolve(self, records=records).seen(settings.groups, settings)


def _with_use(record: AccountRecord, name: str, use: UseCounter) -> AccountRecord:
    counted = use.own(name)
    if counted == (
        record.resources_used,
        record.weighted_resources_used,
        record.hierarchical_weighted_resources_used,
    ):
        return record
    slots, weighted, hierarchical = counted
    return attrs.evolve(
        record,
        resources_used=slots,
        weighted_resources_used=weighted,
        hierarchical_weighted_resources_used=hierarchical,
    )


def _with_limits_of(record: ResourceRecord, former: ResourceRecord | None) -> ResourceRecord:
    if former is None or former.user != record.user or record.concurrency_limits:
        return record
    return attrs.evolve(record, concurrency_limits=former.concurrency_limits, others=former.others)
