"""Carries out what ``negotiator userprio`` requests: changes of accounts, and the import of all accounts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

import attrs

from negotiator.plugin import OrderRows, RowsChange
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.changes import AccountChange, changed
from negotiator_fairshare.accounts.state_rows import (
    accounts_of,
    check_row,
    is_of_accounts,
    is_of_slots,
    pool_use_of,
    resource_rows,
    rows_of,
)
from negotiator_fairshare.settings import FairShareSettings

_IMPORT = "import"


@attrs.frozen
class AccountsImport:
    """All accounts, to replace those of the state; ``source`` is the file that they are from."""

    source: str
    rows: OrderRows

    @classmethod
    def of(cls, source: str, accounts: Accounts) -> Self:
        """Return the import of accounts, with the slots in use; each cycle counts these anew."""
        slots = resource_rows(accounts.resources, accounts.last_update) if accounts.resources else {}
        return cls(source, rows_of(accounts) | slots)

    def to_text(self) -> str:
        """Return the import as JSON, for a request; its source comes first, for the audit log."""
        values = {"kind": _IMPORT, "source": self.source, "rows": self.rows}
        return json.dumps(values, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the import of the values of ``to_text``.

        :raises ValueError: they are damaged.
        """
        rows = values.get("rows")
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            raise ValueError("not an import of accounts")
        if not all(is_of_accounts(key) or is_of_slots(key) for key in rows):
            raise ValueError("an import has accounts only")
        for key, row in rows.items():
            check_row(key, row)
        return cls(str(values.get("source", "")), rows)


def change_rows(rows: OrderRows, change: str, settings: Any, now: float) -> RowsChange:
    """Return the rows of accounts after a change.

    :param change: the text of an ``AccountChange`` or an ``AccountsImport``.
    :param settings: of the plugin; None for the defaults.
    :raises ValueError: the change is damaged, or refused.
    """
    others = {key: row for key, row in rows.items() if not is_of_accounts(key)}
    imported = _import(change)
    if imported is not None:
        count = sum(1 for key, row in imported.rows.items() if "Name" in row and not is_of_slots(key))
        text = f"{count} accounts were imported from {imported.source}"
        pool, others = pool_use_of(rows), {key: row for key, row in others.items() if not is_of_slots(key)}
        slots = {key: row for key, row in imported.rows.items() if is_of_slots(key)}
        accounts = attrs.evolve(accounts_of(imported.rows, int(now)), pool=pool)
        return RowsChange({**(imported.rows if pool is None else rows_of(accounts) | slots), **others}, text)
    own = (settings or FairShareSettings()).accounts
    accounts, text = changed(accounts_of(rows, int(now)), AccountChange.from_text(change), int(now), own)
    return RowsChange({**rows_of(accounts), **others}, text)


def _import(change: str) -> AccountsImport | None:
    try:
        values = json.loads(change)
    except RecursionError:
        return None
    if not isinstance(values, dict) or values.get("kind") != _IMPORT:
        return None
    return AccountsImport.from_values(values)
