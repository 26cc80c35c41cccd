"""Leases: a ceiling, floor or factor for a limited time, after which the value before it returns."""

from __future__ import annotations

import enum

import attrs

from negotiator_fairshare.accounts.account import AccountRecord


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
