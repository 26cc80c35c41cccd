"""One row of the accounts, with its update when time has passed and its leases, and the record of one slot in use.

The priority decays, and usage is added up. A leased ceiling, floor or factor holds for a limited time, after which the value before it
returns. Numbers are those that the accountant's log stores: floats in six decimals.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from functools import lru_cache

import attrs

MILLIONTHS = 1_000_000
LARGEST = 1e300
"""Larger floats are cut to this, so that no sum of stored numbers is infinite or undefined."""
MIN_PRIORITY = 0.5
UNLIMITED = -1


def stored(value: float) -> float:
    """Return a number as the log would give it back: six decimals, and at most ``LARGEST`` in size.

    :raises ValueError: it is not a number (NaN).
    """
    if math.isnan(value):
        raise ValueError("not a number")
    return float(f"{max(-LARGEST, min(LARGEST, value)):.6f}")


@lru_cache(maxsize=4096)
def millionths(value: float) -> int:
    """Return a stored number in millionths, exact."""
    return int(f"{stored(value):.6f}".replace(".", ""))


@lru_cache(maxsize=4096)
def from_millionths(count: int) -> float:
    """Return the stored number of so many millionths."""
    return stored(min(count, int(LARGEST) * MILLIONTHS) / MILLIONTHS)


@attrs.frozen(kw_only=True)
class AccountRecord:
    """The account of a submitter or an accounting group.

    Usage is in slot seconds, weighted usage in seconds times slot weight; times are in seconds since the epoch, 0 if
    there is none. ``factor`` is None until the negotiator sees the name for the first time. ``ceiling`` is -1 if there is
    none. While a lease holds (its expiration is not 0), the value before the lease is the one to return to.
    ``others`` are attributes without meaning here, as ClassAd text; they are kept for export.
    """

    priority: float = MIN_PRIORITY
    factor: float | None = None
    accumulated_usage: float = 0.0
    weighted_accumulated_usage: float = 0.0
    begin_usage: int = 0
    last_usage: int = 0
    resources_used: int = 0
    weighted_resources_used: float = 0.0
    hierarchical_weighted_resources_used: float = 0.0
    uncharged_time: int = 0
    weighted_uncharged_time: float = 0.0
    ceiling: int = UNLIMITED
    ceiling_lease_expiration: int = 0
    ceiling_before_lease: int = UNLIMITED
    floor: int = 0
    floor_lease_expiration: int = 0
    floor_before_lease: int = 0
    factor_lease_expiration: int = 0
    factor_before_lease: float | None = None
    others: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class ResourceRecord:
    """A slot in use: its user, its weight, and the time of the cycle that saw it last.

    ``concurrency_limits`` are those that its match counts for. ``others`` are attributes without meaning here.
    """

    user: str
    weight: float = 1.0
    start_time: int = 0
    concurrency_limits: str = ""
    others: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Interval:
    """The time from the last update of the accounts to ``now``: how much priority is left after it, and what use adds to it.

    The use of ``seconds`` is charged, of which the part ``gain`` is added to the priority.
    """

    now: int
    seconds: int
    aging: float
    gain: float

    @classmethod
    def since(cls, last: int, now: int, halflife: float) -> Interval:
        """Return the interval from ``last`` to ``now``."""
        seconds = now - last
        aging = 0.5 ** (seconds / halflife)
        return cls(now, seconds, aging, 1 - aging)

    @classmethod
    def of_part(cls, last: int, charged_until: int, now: int, halflife: float) -> Interval:
        """Return the interval in which one of several negotiators charges the use of its own slots.

        The others charge theirs at other times: a priority is linear in use, so that each one lets it age since whichever update was
        the last, and adds what its own slots make of it.

        :param last: the time of the last update by any negotiator; it may be later than ``now``.
        :param charged_until: the time until when this negotiator has charged its slots.
        """
        end, seconds = max(last, now), max(0, now - charged_until)
        late = 0.5 ** ((end - now) / halflife)
        return cls(end, seconds, 0.5 ** ((end - last) / halflife), (1 - 0.5 ** (seconds / halflife)) * late)

    def applied(self, record: AccountRecord) -> AccountRecord:
        """Return an account after this interval: its slots in use are those that it had at the beginning.

        Source: condor_negotiator 25.14.1. The priority approaches the weighted slots in use (of a group: of its subtree)
        by half its distance in each half-life; the interval is charged whole.
        """
        if not self.seconds:
            return attrs.evolve(record, priority=stored(max(MIN_PRIORITY, record.priority * self.aging)))
        used = record.resources_used * self.seconds + record.uncharged_time
        accumulated = stored(record.accumulated_usage + used)
        return attrs.evolve(
            record,
            priority=self._priority(record),
            accumulated_usage=accumulated,
            weighted_accumulated_usage=stored(
                record.weighted_accumulated_usage
                + record.weighted_resources_used * self.seconds
                + record.weighted_uncharged_time
            ),
            begin_usage=self.now if accumulated > 0 and not record.begin_usage else record.begin_usage,
            last_usage=self.now if used > 0 else record.last_usage,
            uncharged_time=0,
            weighted_uncharged_time=0.0,
        )

    def _priority(self, record: AccountRecord) -> float:
        recent = record.weighted_resources_used + record.weighted_uncharged_time / self.seconds
        if record.hierarchical_weighted_resources_used > 0:
            recent = record.hierarchical_weighted_resources_used
        aged = max(record.priority, MIN_PRIORITY) * self.aging + recent * self.gain
        return stored(max(MIN_PRIORITY, aged))


class LeaseKind(enum.StrEnum):
    """What is leased: the name of the field of an account."""

    CEILING = "ceiling"
    FLOOR = "floor"
    FACTOR = "factor"

    @property
    def words(self) -> str:
        """The words of condor_negotiator for it, in its answers."""
        return "priority-factor" if self is LeaseKind.FACTOR else str(self)

    @property
    def expiration(self) -> str:
        """The field with the end of the lease."""
        return f"{self}_lease_expiration"

    @property
    def before(self) -> str:
        """The field with the value before the lease."""
        return f"{self}_before_lease"


def without_expired(record: AccountRecord, now: int) -> AccountRecord:
    """Return an account whose leases that ended at ``now`` or before are over."""
    for kind in LeaseKind:
        if 0 < getattr(record, kind.expiration) <= now:
            record = without_lease(record, kind)
    return record


def with_lease(
    name: str, record: AccountRecord, kind: LeaseKind, value: float, until: int, now: int
) -> AccountRecord:
    """Return the account of this name with a lease of a value until a time.

    :raises ValueError: a lease of this kind holds already, or the time is over.
    """
    record = without_expired(record, now)
    if (ends := getattr(record, kind.expiration)) > 0:
        raise ValueError(f"{kind.words} lease for {name} is already in effect (expires at {ends})")
    if until <= now:
        raise ValueError("lease duration must be positive")
    before = getattr(record, str(kind))
    return attrs.evolve(record, **{str(kind): value, kind.expiration: until, kind.before: before})


def without_lease(record: AccountRecord, kind: LeaseKind) -> AccountRecord:
    """Return an account whose lease of a kind is over: the value before it returns."""
    return attrs.evolve(record, **{str(kind): getattr(record, kind.before), kind.expiration: 0})
