"""The accounts of a state, as ``negotiator userprio`` reads them."""

from __future__ import annotations

import attrs

from negotiator.plugin import CommandContext, CommandTargets
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.state_rows import ORDER, accounts_of, check_row
from negotiator_fairshare.settings import FairShareSettings

PLUGIN = "fairshare"


@attrs.frozen
class StoredAccounts:
    """The accounts of a state, the settings of the bundle, and sentences on damaged accounts, which are set aside."""

    accounts: Accounts
    settings: FairShareSettings
    damaged: tuple[str, ...]

    @classmethod
    def read(cls, program: CommandContext, targets: CommandTargets) -> StoredAccounts:
        """Read the accounts; without any cycle under ``order: submitters`` there are none.

        :raises BundleError: the bundle has errors.
        :raises StateError: the folder has no state, or it cannot be read.
        """
        stored = program.order_rows(targets, ORDER)
        valid, damaged = {}, list(stored.damaged)
        for key, row in stored.rows.items():
            try:
                check_row(key, row)
                valid[key] = row
            except ValueError as error:
                damaged.append(f"row {key[:200]!r} is damaged and set aside ({error})")
        return cls(accounts_of(valid, 0), settings_of(program, targets), tuple(damaged))


def settings_of(program: CommandContext, targets: CommandTargets) -> FairShareSettings:
    """Return the settings of fair share in a bundle."""
    settings: FairShareSettings | None = program.bundle(targets).settings(PLUGIN)
    return settings or FairShareSettings()
