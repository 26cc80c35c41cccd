"""The Accounting ads: what ``condor_userprio`` reads of accounts at the collector.

Source: ``Matchmaker::forwardAccountingData`` and ``forwardGroupAccounting``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from negotiator.plugin import AccountAd
from negotiator_live.ads.literals import literals
from negotiator_live.ads.negotiator_ad import STARTED

_TIMES: Final = frozenset({"BeginUsageTime", "LastUsageTime"})


def accounting_ads(
    accounts: Iterable[AccountAd], active: Collection[str], negotiator: str, number: int
) -> Iterator[dict[str, str]]:
    """Yield an ad for each accounting group, and for each submitter that is active or uses slots.

    :param active: the names of active submitters, in lower case.
    :param negotiator: the name of the negotiator: two may have accounts of one name in a collector.
    :param number: how often ads were sent before.
    """
    for account in accounts:
        is_group = account.get("IsAccountingGroup") is True
        if is_group or account.get("ResourcesUsed") or str(account.get("Name", "")).lower() in active:
            own = {"MyType": "Accounting", "NegotiatorName": negotiator}
            sent = {"DaemonStartTime": int(STARTED), "UpdateSequenceNumber": number}
            yield literals({**account_values(account), **own, **sent})


def account_values(account: AccountAd) -> AccountAd:
    """Return the attributes that an ad of its own has of an account: as condor_negotiator's, those of times only if there was any use.

    With 0, ``condor_userprio`` takes the account for one that nobody used for a day, and leaves it out.
    """
    return {name: value for name, value in account.items() if value != 0 or name not in _TIMES}
