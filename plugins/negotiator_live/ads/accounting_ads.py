"""The Accounting ads: what ``condor_userprio`` reads of accounts at the collector.

Source: ``Matchmaker::forwardAccountingData`` and ``forwardGroupAccounting``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from negotiator.plugin import AccountAd
from negotiator_live.ads.literals import literals
from negotiator_live.ads.negotiator_ad import STARTED


def accounting_ads(
    accounts: Iterable[AccountAd], active: Collection[str], negotiator: str, number: int
) -> Iterator[dict[str, str]]:
    """Yield an ad for each accounting group, and for each submitter that is active or uses slots.

    :param active: the names of submitters with idle jobs.
    :param negotiator: the name of the negotiator: two may have accounts of one name in a collector.
    :param number: how often ads were sent before.
    """
    names = {name.lower() for name in active}
    for account in accounts:
        is_group = account.get("IsAccountingGroup") is True
        if is_group or account.get("ResourcesUsed") or str(account.get("Name", "")).lower() in names:
            own = {"MyType": "Accounting", "NegotiatorName": negotiator}
            sent = {"DaemonStartTime": int(STARTED), "UpdateSequenceNumber": number}
            yield literals({**account, **own, **sent})
