"""The rows of fair share in the negotiator's state: one JSON object a name, with the attributes of ``Accountantnew.log``.

Accounts have the keys ``account:NAME``, the time of their last update ``clock``, and accounting groups ``group:NAME``. The slots that
a submitter uses are in a row ``slots:NAME``, and when a cycle counted them last in ``slots``.

Where several negotiators serve a pool, they share the accounts, without the slots in use: these are in a row ``use:NEGOTIATOR`` of each of
them. ``negotiators`` has their names and slot constraints, and tells that the accounts are shared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from negotiator.plugin import OrderRows, PoolNegotiators
from negotiator_fairshare.accounts.account import AccountRecord, ResourceRecord
from negotiator_fairshare.accounts.accounts import Accounts, canonical, numbers_of, record_of
from negotiator_fairshare.accounts.use import NegotiatorUse, PoolUse

MAX_NAME = 1_000  # characters
MAX_OTHERS = 100  # further attributes of one account
MAX_TEXT = 10_000  # characters of a further attribute

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
ORDER = "submitters"
"""The name of the order that the rows belong to."""
_CLOCK = "clock"
_ACCOUNT = "account:"
_GROUP = "group:"
_USE = "use:"
_NEGOTIATORS = "negotiators"
_SLOTS = "slots"
_SLOTS_OF = "slots:"


def to_row(name: str, record: AccountRecord) -> dict[str, object]:
    """Return the row of an account: its name, the attributes that differ from a new account's, and all others."""
    return {"Name": name, **numbers_of(record), **dict(sorted(record.others.items()))}


def from_row(row: Mapping[str, object]) -> tuple[str, AccountRecord]:
    """Return the name and the account of a row.

    :raises ValueError: the row is damaged; the message has the attribute.
    """
    if not isinstance(row, Mapping):
        raise ValueError("a row must be an object")  # noqa: TRY004 - the row is at fault, not the caller
    name = row.get("Name")
    check_name(name)
    numbers: dict[str, object] = {}
    others: dict[str, str] = {}
    for attribute, value in row.items():
        if attribute == "Name":
            continue
        if (known := canonical(attribute)) in numbers:
            raise ValueError(f"{known} is given twice")
        if known is not None:
            numbers[known] = value
        else:
            others[attribute] = checked_text(attribute, value)
    check_others(others)
    return str(name), record_of(numbers, others)


def check_name(name: object) -> None:
    """Check the name of an account.

    :raises ValueError: it is not a text of 1 to 1,000 printable characters.
    """
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise ValueError(f"the name of an account must have 1 to {MAX_NAME} printable characters")


def checked_text(attribute: str, value: object) -> str:
    """Return the text of an attribute without meaning here.

    :raises ValueError: its name is not that of an attribute, or the value is not a line of at most 10,000 characters.
    """
    if not _ATTRIBUTE.fullmatch(attribute):
        raise ValueError("the name of an attribute must be an identifier")
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT or not value.isprintable():
        raise ValueError(f"{attribute} must be ClassAd text of at most {MAX_TEXT} printable characters")
    return value


def check_others(others: Mapping[str, str]) -> None:
    """Check the number of attributes without meaning here.

    :raises ValueError: there are more than 100.
    """
    if len(others) > MAX_OTHERS:
        raise ValueError(f"more than {MAX_OTHERS} further attributes")


def accounts_of(rows: OrderRows, now: int) -> Accounts:
    """Return the accounts of rows that passed ``check_row``; without a clock, they were updated at ``now``."""
    records = dict(from_row(row) for key, row in rows.items() if key.startswith(_ACCOUNT))
    pool = pool_use_of(rows)
    if pool is not None:
        records = {name: _with_use(record, *pool.own_use(name)) for name, record in records.items()}
    return Accounts(records=records, last_update=rows.get(_CLOCK, {}).get("last_update", now), pool=pool)


def pool_use_of(rows: OrderRows) -> PoolUse | None:
    """Return the use of a pool that several negotiators serve; None for the only one."""
    if _NEGOTIATORS not in rows:
        return None
    negotiators = {
        key.removeprefix(_USE): NegotiatorUse.of_row(row) for key, row in rows.items() if key.startswith(_USE)
    }
    row = rows[_NEGOTIATORS]
    return PoolUse(own=row["own"], constraints=row["slots"], negotiators=negotiators)


def negotiators_row(negotiators: PoolNegotiators) -> dict[str, Mapping[str, Any]]:
    """Return the row by which a negotiator knows that it shares the accounts."""
    return {_NEGOTIATORS: {"own": negotiators.own, "slots": dict(negotiators.constraints)}}


def rows_of(accounts: Accounts) -> dict[str, Mapping[str, Any]]:
    """Return the rows of accounts; those of names that cannot be stored are left out: slot ads may have any."""
    rows: dict[str, Mapping[str, Any]] = {_CLOCK: {"last_update": accounts.last_update}}
    pool = accounts.pool
    for name, record in accounts.records.items():
        if _is_valid(name):
            rows[_ACCOUNT + name] = to_row(name, record if pool is None else _with_use(record, 0, 0.0, 0.0))
    if pool is not None:
        rows |= negotiators_row(PoolNegotiators(pool.own, pool.constraints))
        rows |= {_USE + name: use.to_row() for name, use in pool.negotiators.items()}
    return rows


def resources_of(rows: OrderRows, user: str | None = None) -> dict[str, ResourceRecord]:
    """Return the slots in use of rows that passed ``check_row``, by key (``name@address``).

    :param user: a submitter whose slots alone are returned.
    """
    at = rows.get(_SLOTS, {}).get("at", 0)
    keys = [key for key in rows if key.startswith(_SLOTS_OF)] if user is None else [_SLOTS_OF + user]
    return {
        key: ResourceRecord(name, weight, at if since is None else since, limits)
        for name, slots in (_slots_of(rows[row]) for row in keys if row in rows)
        for key, weight, since, limits in slots
    }


def resource_rows(resources: Mapping[str, ResourceRecord], at: int) -> dict[str, Mapping[str, Any]]:
    """Return the rows of slots in use; those of submitters whose names cannot be stored are left out.

    :param at: when the last cycle counted them. A row changes with the slots of its submitter, not with the time.
    """
    slots: dict[str, list[list[Any]]] = {}
    for key, each in resources.items():
        since = None if each.start_time == at else each.start_time
        slots.setdefault(each.user, []).append([key, each.weight, since, each.concurrency_limits])
    found = {_SLOTS_OF + name: {"Name": name, "slots": own} for name, own in slots.items() if _is_valid(name)}
    return {_SLOTS: {"at": at}, **found}


def is_of_slots(key: str) -> bool:
    """True if a row has slots in use."""
    return key == _SLOTS or key.startswith(_SLOTS_OF)


def is_of_accounts(key: str) -> bool:
    """True if a row belongs to the accounts, False if the groups have it."""
    return key == _NEGOTIATORS or is_shared(key)


def is_shared(key: str) -> bool:
    """True if the negotiators of a pool share a row."""
    return key == _CLOCK or key.startswith((_ACCOUNT, _USE))


def last_served_of(rows: OrderRows) -> dict[str, int]:
    """Return when each group was served last, as earlier cycles left it."""
    return {
        key.removeprefix(_GROUP): row["last_served"]
        for key, row in rows.items()
        if key.startswith(_GROUP) and "last_served" in row
    }


def quotas_of(rows: OrderRows) -> dict[str, float]:
    """Return the quota of each group in the cycle before."""
    return {key.removeprefix(_GROUP): row["quota"] for key, row in rows.items() if key.startswith(_GROUP)}


def group_rows(quotas: Mapping[str, float], served: Mapping[str, int]) -> dict[str, Mapping[str, Any]]:
    """Return the rows of the groups: their quotas, and the times when they were served last."""
    times = {name: {"last_served": time} for name, time in served.items()}
    return {_GROUP + name: {"quota": quota, **times.get(name, {})} for name, quota in quotas.items()}


def check_row(key: str, row: Mapping[str, Any]) -> None:
    """Check a row that an earlier process left.

    :raises ValueError: it is damaged.
    """
    if key.startswith(_ACCOUNT):
        name, _record = from_row(row)
        if key != _ACCOUNT + name:
            raise ValueError("it has the name of another account")
    elif key.startswith(_GROUP):
        if type(row.get("last_served", 0)) is not int or type(row.get("quota")) is not float:
            raise ValueError("expected the quota of a group, and when it was served last, in seconds")
    elif key.startswith(_SLOTS_OF):
        name, _slots = _slots_of(row)
        if key != _SLOTS_OF + name:
            raise ValueError("it has the name of another submitter")
    elif key == _SLOTS:
        if type(row.get("at")) is not int:
            raise ValueError("expected when slots were counted, in seconds")
    elif key.startswith(_USE):
        NegotiatorUse.of_row(row)
    elif key == _NEGOTIATORS:
        if not isinstance(row.get("own"), str) or not isinstance(row.get("slots"), dict):
            raise ValueError("expected the names of the negotiators and their slots")
    elif key != _CLOCK or type(row.get("last_update")) is not int:
        raise ValueError("expected an account, a group, or the time of the last update")


def _with_use(record: AccountRecord, slots: int, weighted: float, hierarchical: float) -> AccountRecord:
    return attrs.evolve(
        record,
        resources_used=slots,
        weighted_resources_used=weighted,
        hierarchical_weighted_resources_used=hierarchical,
    )


def _slots_of(row: Mapping[str, Any]) -> tuple[str, list[tuple[str, float, int | None, str]]]:
    """Return the submitter of a row and its slots: key, weight, when they were counted if not last, and concurrency limits.

    :raises ValueError: the row is damaged.
    """
    name, slots = row.get("Name"), row.get("slots")
    check_name(name)
    kinds = (str, float, int | None, str)
    if not isinstance(slots, list) or not all(
        isinstance(each, list) and len(each) == len(kinds) and all(map(isinstance, each, kinds))
        for each in slots
    ):
        raise ValueError("expected the slots of a submitter")
    return str(name), [tuple(each) for each in slots]


def _is_valid(name: str) -> bool:
    try:
        check_name(name)
    except ValueError:
        return False
    return True
