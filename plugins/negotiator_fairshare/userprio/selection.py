"""The accounts of a state as the command and HTCondor's tools get them: which entries are shown, and sums of groups.

Source: condor_userprio, the options that change the entries, and condor_negotiator 25.14.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Self

import attrs

from negotiator.plugin import AccountAd, Ad, CommandContext, CommandTargets, Expr, OrderRows
from negotiator_fairshare.accounts.account import AccountRecord
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.state_rows import ORDER, accounts_of
from negotiator_fairshare.cycle_figures import KEY, CycleFigures, check_row
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.userprio.literals import as_sent
from negotiator_fairshare.userprio.report import UserprioReport, report_of

PLUGIN = "fairshare"
_CONSTRAINT = "_Constraint"


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


def with_names(report: UserprioReport, names: Collection[str]) -> UserprioReport:
    """Return the report with the entries of some names: full ones, or users alone; with all if there are no names."""
    if not names:
        return report
    wanted = set(names)
    entries = (each for each in report.entries if {each.name, each.name.partition("@")[0]} & wanted)
    return attrs.evolve(report, entries=tuple(entries))


def constrained(report: UserprioReport, constraints: Sequence[Expr]) -> UserprioReport:
    """Return the report with the entries for whose ads all constraints are true, or a number other than 0."""
    if not constraints:
        return report
    entries = (
        entry
        for entry, ad in zip(report.entries, report.ads(), strict=True)
        if all(_is_true(as_sent(ad), each) for each in constraints)
    )
    return attrs.evolve(report, entries=tuple(entries))


def _is_true(ad: Ad, constraint: Expr) -> bool:
    value = ad.with_items([(_CONSTRAINT, constraint)]).evaluate(_CONSTRAINT)
    return isinstance(value, bool | int | float) and bool(value)


def rolled_up(report: UserprioReport) -> UserprioReport:
    """Return the report with the sums of the groups below each group; groups have no priority of their own then.

    The first use of a group is that of the earliest group below, the last use that of the latest.
    """
    records = {entry.name: entry.record for entry in report.entries if entry.figures is not None}
    below: dict[str, list[str]] = {name: [] for name in records}
    roots: list[str] = []
    for entry in report.entries:
        if entry.figures is not None:
            (roots if entry.group == entry.name else below[entry.group]).append(entry.name)

    def add_up(name: str) -> None:
        for child in below[name]:
            add_up(child)
            records[name] = _sum(records[name], records[child])

    for root in roots:
        add_up(root)
    entries = (
        each
        if each.figures is None
        else attrs.evolve(each, record=records[each.name], priority=0.0, factor=each.record.factor or 0.0)
        for each in report.entries
    )
    return attrs.evolve(report, entries=tuple(entries))


def _sum(group: AccountRecord, below: AccountRecord) -> AccountRecord:
    return attrs.evolve(
        group,
        resources_used=group.resources_used + below.resources_used,
        weighted_resources_used=group.weighted_resources_used + below.weighted_resources_used,
        accumulated_usage=group.accumulated_usage + below.accumulated_usage,
        weighted_accumulated_usage=group.weighted_accumulated_usage + below.weighted_accumulated_usage,
        begin_usage=min(group.begin_usage, below.begin_usage),
        last_usage=max(group.last_usage, below.last_usage),
    )


def account_ads(
    rows: OrderRows, settings: FairShareSettings | None, *, rollup: bool = False
) -> Iterator[AccountAd]:
    """Iterate over the ads of all accounts, groups first; damaged rows are left out.

    :param settings: of the plugin; None for the defaults.
    :param rollup: let groups have the sums of the groups below them.
    """
    report = StoredAccounts.of(rows, settings or FairShareSettings()).report()
    yield from (rolled_up(report) if rollup else report).own_ads()
