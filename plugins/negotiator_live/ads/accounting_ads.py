"""The Accounting ads: what ``condor_userprio`` reads of accounts at the collector.

Source: ``Matchmaker::forwardAccountingData`` and ``forwardGroupAccounting``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from negotiator.plugin import AccountAd
from negotiator_live.ads.negotiator_ad import STARTED, literals

_TIMES: Final = frozenset({"BeginUsageTime", "LastUsageTime"})
_IS_GROUP: Final = "IsAccountingGroup"
_ROOT: Final = "<none>"
_HIERARCHICAL: Final = "HierWeightedResourcesUsed"
#: What a complete ad has of an account that has used nothing yet.
_UNUSED: Final[AccountAd] = {
    "AccumulatedUsage": 0.0,
    "WeightedAccumulatedUsage": 0.0,
    "BeginUsageTime": 0,
    "LastUsageTime": 0,
}
_OF_SUBMITTERS: Final = frozenset({"Ceiling", "Floor", "SubmitterShare", "SubmitterLimit"})


def group_names(accounts: Iterable[AccountAd]) -> frozenset[str]:
    """Return the names of the accounting groups."""
    return frozenset(str(each.get("Name")) for each in accounts if each.get(_IS_GROUP) is True)


def complete(account: AccountAd, groups: Collection[str]) -> AccountAd:
    """Return an account with all attributes of its kind, a group in the one above it (``Accountant::ReportGroups``).

    :param groups: the names of all accounting groups.
    """
    if account.get(_IS_GROUP) is not True:
        return {**_UNUSED, **{name: value for name, value in account.items() if name != _HIERARCHICAL}}
    above = str(account.get("Name")).rpartition(".")[0]
    while above and above not in groups:
        above = above.rpartition(".")[0]
    own = {name: value for name, value in account.items() if name not in _OF_SUBMITTERS}
    return {**_UNUSED, **own, "AccountingGroup": above or _ROOT}


def accounting_ads(
    accounts: Iterable[AccountAd], active: Collection[str], negotiator: str, number: int
) -> Iterator[dict[str, str]]:
    """Yield an ad for each accounting group, and for each submitter that is active or uses slots.

    :param active: the names of active submitters, in lower case.
    :param negotiator: the name of the negotiator: two may have accounts of one name in a collector.
    :param number: how often ads were sent before.
    """
    accounts = tuple(accounts)
    groups = group_names(accounts)
    for account in accounts:
        is_group = account.get(_IS_GROUP) is True
        if is_group or account.get("ResourcesUsed") or str(account.get("Name", "")).lower() in active:
            own = {"MyType": "Accounting", "NegotiatorName": negotiator}
            sent = {"DaemonStartTime": int(STARTED), "UpdateSequenceNumber": number}
            yield literals({**account_values(account, groups), **own, **sent})


def account_values(account: AccountAd, groups: Collection[str]) -> AccountAd:
    """Return the attributes that an ad of its own has of an account, as condor_negotiator's.

    A group's are complete, so that ``condor_userprio`` leaves it out without use. A submitter's have times only if there was any
    use: with 0 it would take the account for one that nobody used for a day.

    :param groups: the names of all accounting groups.
    """
    if account.get(_IS_GROUP) is True:
        return {name: value for name, value in complete(account, groups).items() if name != _HIERARCHICAL}
    return {name: value for name, value in account.items() if value != 0 or name not in _TIMES}
