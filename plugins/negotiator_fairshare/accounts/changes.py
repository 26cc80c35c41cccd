"""Changes of accounts by administrators, as those of condor_userprio."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import attrs

from negotiator.plugin import AccountChangeKind, AccountRequest
from negotiator_fairshare.accounts.account import (
    LARGEST,
    MIN_PRIORITY,
    UNLIMITED,
    AccountRecord,
    LeaseKind,
    stored,
    with_lease,
    without_lease,
)
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.settings import MIN_FACTOR, AccountSettings
from negotiator_fairshare.accounts.state_rows import check_name

MAX_TIME = 250_000_000_000
"""The latest time, in seconds since the epoch: years end with 9999."""

_MAX_SLOTS = 2_147_483_647


_LEASED = {
    AccountChangeKind.FACTOR: LeaseKind.FACTOR,
    AccountChangeKind.CEILING: LeaseKind.CEILING,
    AccountChangeKind.FLOOR: LeaseKind.FLOOR,
}
_CANCELLED = {
    AccountChangeKind.CANCEL_FACTOR: LeaseKind.FACTOR,
    AccountChangeKind.CANCEL_CEILING: LeaseKind.CEILING,
    AccountChangeKind.CANCEL_FLOOR: LeaseKind.FLOOR,
}
_RANGES: Mapping[AccountChangeKind, tuple[float, float, bool]] = {  # least, most, whole numbers only
    AccountChangeKind.PRIORITY: (-LARGEST, LARGEST, False),  # a smaller one than MIN_PRIORITY becomes that
    AccountChangeKind.FACTOR: (MIN_FACTOR, LARGEST, False),
    AccountChangeKind.CEILING: (UNLIMITED, _MAX_SLOTS, True),
    AccountChangeKind.FLOOR: (0, _MAX_SLOTS, True),
    AccountChangeKind.ACCUMULATED: (0.0, LARGEST, False),
    AccountChangeKind.BEGIN: (0, MAX_TIME, True),
    AccountChangeKind.LAST: (0, MAX_TIME, True),
}
#: What condor_negotiator answers to a lease of a smaller value.
_LEAST_OF_LEASE = {
    AccountChangeKind.FACTOR: f"priority factor must be >= {MIN_FACTOR:g}",
    AccountChangeKind.CEILING: "ceiling must be -1 (unlimited) or non-negative",
    AccountChangeKind.FLOOR: "floor must be non-negative",
}


@attrs.frozen
class AccountChange:
    """One change: the name of the account (empty for all), the value, and the seconds of a lease (0: for good).

    :raises ValueError: the change is invalid; the message says why.
    """

    kind: AccountChangeKind
    name: str = ""
    value: float | None = None
    duration: int = 0

    def __attrs_post_init__(self) -> None:
        if self.kind is AccountChangeKind.RESET_ALL:
            if self.name:
                raise ValueError(f"{self.kind} takes no name")
        else:
            check_name(self.name)
        self._check_value()
        if self.duration < 0 and self.kind in _LEASED:
            raise ValueError("lease duration must be positive")
        if self.duration < 0 or (self.duration and self.kind not in _LEASED) or self.duration > MAX_TIME:
            raise ValueError("a duration is a positive number of seconds, of a factor, ceiling or floor")

    def _check_value(self) -> None:
        if self.kind not in _RANGES:
            if self.value is not None:
                raise ValueError(f"{self.kind} takes no value")
            return
        least, most, whole = _RANGES[self.kind]
        if self.duration and self.value is not None and self.value < least and self.kind in _LEAST_OF_LEASE:
            raise ValueError(_LEAST_OF_LEASE[self.kind])
        if self.value is None or math.isnan(self.value) or not least <= self.value <= most:
            raise ValueError(f"{self.kind} needs a value from {least:g} to {most:g}")
        if whole and self.value != int(self.value):
            raise ValueError(f"{self.kind} needs a whole number")

    @classmethod
    def of(cls, request: AccountRequest) -> AccountChange:
        """Return the change that is requested.

        :raises ValueError: it is invalid.
        """
        return cls(request.kind, request.account, request.value, request.duration)

    def to_text(self) -> str:
        """Return the change as canonical JSON, for a request to the running negotiator."""
        values = attrs.asdict(self, filter=lambda field, value: value != field.default)
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> AccountChange:
        """Return the change of ``to_text``.

        :raises ValueError: the text is damaged, or the change is invalid.
        """
        try:
            values = json.loads(text)
            kind, name, value = (
                AccountChangeKind(values.pop("kind")),
                values.pop("name", ""),
                values.pop("value", None),
            )
            duration = values.pop("duration", 0)
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ValueError("not a change of an account") from error
        numbers = [each for each in (value, duration) if each is not None]
        if values or any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
            raise ValueError("not a change of an account")
        if duration != int(duration):
            raise ValueError("a duration is a whole number of seconds")
        return cls(kind, name, value, int(duration))


def changed(
    accounts: Accounts, change: AccountChange, now: int, settings: AccountSettings
) -> tuple[Accounts, str]:
    """Return the accounts after a change, and a sentence about it.

    Values of names without account make a new one, as with condor_userprio.

    :raises ValueError: there is no such account to reset or delete, no lease to cancel, or one that holds already.
    """
    if change.kind is AccountChangeKind.RESET_ALL:
        records = {name: _without_usage(record, now) for name, record in accounts.records.items()}
        return attrs.evolve(accounts, records=records), "The accumulated usage was reset for all users"
    known = change.name in accounts.records
    if not known and change.kind not in _RANGES and change.kind not in _CANCELLED:
        raise ValueError(f"no account named {change.name}")
    if change.kind is AccountChangeKind.DELETE:
        records = {name: record for name, record in accounts.records.items() if name != change.name}
        return attrs.evolve(
            accounts, records=records
        ), f"The accountant record named {change.name} was deleted"
    record, text = _changed_record(accounts, change, now, settings)
    return attrs.evolve(accounts, records={**accounts.records, change.name: record}), text


def _changed_record(
    accounts: Accounts, change: AccountChange, now: int, settings: AccountSettings
) -> tuple[AccountRecord, str]:
    record, name = accounts.get(change.name), change.name
    if change.kind is AccountChangeKind.RESET:
        return _without_usage(record, now), f"The accumulated usage of {name} was reset"
    if (lease := _CANCELLED.get(change.kind)) is not None:
        if not getattr(record, lease.expiration):
            raise ValueError(f"no {lease.words} lease in effect for {name}")
        return without_lease(record, lease), f"The lease of the {lease} of {name} was cancelled"
    value = change.value if change.value is not None else 0.0
    if change.kind is AccountChangeKind.PRIORITY:
        value = max(value, MIN_PRIORITY)
    if change.duration:
        if change.kind is AccountChangeKind.FACTOR:  # the factor before the lease is the one to return to
            record = attrs.evolve(record, factor=accounts.factor(name, settings))
        lease = _LEASED[change.kind]
        number = stored(value) if lease is LeaseKind.FACTOR else int(value)
        record = with_lease(name, record, lease, number, now + change.duration, now)
        return record, f"The {lease} of {name} is {number:g} for {change.duration} seconds"
    return _SETTERS[change.kind](record, value), f"{_SET[change.kind]} of {name} was set to {stored(value):g}"


def _without_usage(record: AccountRecord, now: int) -> AccountRecord:
    return attrs.evolve(record, accumulated_usage=0.0, weighted_accumulated_usage=0.0, begin_usage=now)


_SETTERS: Mapping[AccountChangeKind, Callable[[AccountRecord, float], AccountRecord]] = {
    AccountChangeKind.PRIORITY: lambda record, value: attrs.evolve(record, priority=stored(value)),
    AccountChangeKind.FACTOR: lambda record, value: attrs.evolve(record, factor=stored(value)),
    AccountChangeKind.CEILING: lambda record, value: attrs.evolve(record, ceiling=int(value)),
    AccountChangeKind.FLOOR: lambda record, value: attrs.evolve(record, floor=int(value)),
    AccountChangeKind.ACCUMULATED: lambda record, value: attrs.evolve(
        record, weighted_accumulated_usage=stored(value)
    ),
    AccountChangeKind.BEGIN: lambda record, value: attrs.evolve(record, begin_usage=int(value)),
    AccountChangeKind.LAST: lambda record, value: attrs.evolve(record, last_usage=int(value)),
}
_SET = {
    AccountChangeKind.PRIORITY: "The priority",
    AccountChangeKind.FACTOR: "The priority factor",
    AccountChangeKind.CEILING: "The ceiling",
    AccountChangeKind.FLOOR: "The floor",
    AccountChangeKind.ACCUMULATED: "The accumulated usage",
    AccountChangeKind.BEGIN: "The begin usage time",
    AccountChangeKind.LAST: "The last usage time",
}
