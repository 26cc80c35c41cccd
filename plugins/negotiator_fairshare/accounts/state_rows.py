"""The rows of fair share in the negotiator's state.

Accounts have the keys ``account:NAME``, the time of their last update ``clock``, and accounting groups ``group:NAME``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negotiator.plugin import OrderRows
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.rows import check_name, from_row, to_row

ORDER = "submitters"
"""The name of the order that the rows belong to."""

_CLOCK = "clock"
_ACCOUNT = "account:"
_GROUP = "group:"


def accounts_of(rows: OrderRows, now: int) -> Accounts:
    """Return the accounts of rows that passed ``check_row``; without a clock, they were updated at ``now``."""
    records = dict(from_row(row) for key, row in rows.items() if key.startswith(_ACCOUNT))
    return Accounts(records=records, last_update=rows.get(_CLOCK, {}).get("last_update", now))


def rows_of(accounts: Accounts) -> dict[str, Mapping[str, Any]]:
    """Return the rows of accounts; those of names that cannot be stored are left out: slot ads may have any."""
    rows: dict[str, Mapping[str, Any]] = {_CLOCK: {"last_update": accounts.last_update}}
    for name, record in accounts.records.items():
        if _is_valid(name):
            rows[_ACCOUNT + name] = to_row(name, record)
    return rows


def is_of_accounts(key: str) -> bool:
    """True if a row belongs to the accounts, False if the groups have it."""
    return key == _CLOCK or key.startswith(_ACCOUNT)


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
    elif key != _CLOCK or type(row.get("last_update")) is not int:
        raise ValueError("expected an account, a group, or the time of the last update")


def _is_valid(name: str) -> bool:
    try:
        check_name(name)
    except ValueError:
        return False
    return True
