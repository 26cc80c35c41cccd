"""The accounts as HTCondor's tools get them from the negotiator: an ad for each accounting group and each submitter."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.plugin import AccountAd, OrderRows
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.userprio.selection import rolled_up
from negotiator_fairshare.userprio.stored import StoredAccounts


def account_ads(
    rows: OrderRows, settings: FairShareSettings | None, *, rollup: bool = False
) -> Iterator[AccountAd]:
    """Iterate over the ads of all accounts, groups first; damaged rows are left out.

    :param settings: of the plugin; None for the defaults.
    :param rollup: let groups have the sums of the groups below them.
    """
    report = StoredAccounts.of(rows, settings or FairShareSettings()).report()
    yield from (rolled_up(report) if rollup else report).own_ads()
