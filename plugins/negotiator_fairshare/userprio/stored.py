"""The accounts of a state, as ``negotiator userprio`` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs

from negotiator.plugin import CommandContext, CommandTargets, OrderRows
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.state_rows import ORDER, accounts_of
from negotiator_fairshare.cycle_figures import KEY, CycleFigures, check_row
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.userprio.report import UserprioReport, report_of

PLUGIN = "fairshare"


@attrs.frozen
class StoredAccounts:
    """The accounts of a state, the figures of the last cycle, and the settings of the bundle.

    ``damaged`` are sentences on damaged rows, which are set aside.
    """

    accounts: Accounts
    cycle: CycleFigures
    settings: FairShareSettings
    damaged: tuple[str, ...]

    @classmethod
    def read(cls, program: CommandContext, targets: CommandTargets) -> StoredAccounts:
        """Read the accounts; without any cycle under ``order: submitters`` there are none.

        :raises BundleError: the bundle has errors.
        :raises StateError: the folder has no state, or it cannot be read.
        """
        stored = program.order_rows(targets, ORDER)
        return cls.of(stored.rows, settings_of(program, targets), stored.damaged)

    @classmethod
    def of(cls, rows: OrderRows, settings: FairShareSettings, damaged: Sequence[str] = ()) -> Self:
        """Return the accounts of rows; damaged ones are set aside."""
        valid, problems = {}, list(damaged)
        for key, row in rows.items():
            try:
                check_row(key, row)
                valid[key] = row
            except ValueError as error:
                problems.append(f"row {key[:200]!r} is damaged and set aside ({error})")
        cycle = CycleFigures.from_row(valid[KEY]) if KEY in valid else CycleFigures()
        return cls(accounts_of(valid, 0).whole(), cycle, settings, tuple(problems))

    def report(self) -> UserprioReport:
        """Return what condor_userprio shows."""
        figures = self.cycle.figures(self.settings.groups.tree)
        shown = self.accounts.without_use(self.cycle.preempted)
        return report_of(shown, self.settings.accounts, figures, self.cycle.shares)


def settings_of(program: CommandContext, targets: CommandTargets) -> FairShareSettings:
    """Return the settings of fair share in a bundle."""
    settings: FairShareSettings | None = program.bundle(targets).settings(PLUGIN)
    return settings or FairShareSettings()
