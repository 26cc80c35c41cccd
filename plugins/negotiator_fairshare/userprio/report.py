"""What condor_userprio shows of the accounts: one entry for each accounting group and each submitter, with the numbers of groups.

Source: condor_userprio 25.14.1, which numbers groups by name if a submitter is in one, and else by their places in the ad.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from negotiator_fairshare.accounts.account import AccountRecord
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.settings import AccountSettings
from negotiator_fairshare.groups.records import GroupFigures
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.userprio.literals import literal

_LAST = 3.4028234663852886e38
_HOUR = 3_600
#: The attributes of an account that its ad has once it has used something.
_OF_USE = frozenset({"AccumulatedUsage", "WeightedAccumulatedUsage", "BeginUsageTime", "LastUsageTime"})


@attrs.frozen
class GroupNumbers:
    """The number of each group and its place in the order, by name; the root has no number. ``entries`` is the size of the report."""

    numbers: Mapping[str, int]
    orders: Mapping[str, float]
    entries: int

    @classmethod
    def of(cls, entries: Sequence[UserprioEntry], *, by_priority: bool, by_usage: bool) -> GroupNumbers:
        """Number the groups of a report; ``by_priority`` and ``by_usage``: the table has such columns, which sort its groups."""
        groups = {each.name: each for each in entries if each.figures is not None}
        if all(each.group == ROOT_GROUP for each in entries if each.figures is None):
            places = {each.name: -place for place, each in enumerate(entries, 1) if each.name in groups}
            return cls(
                {name: place for name, place in places.items() if name != ROOT_GROUP}, {}, len(entries)
            )
        numbers = {name: place for place, name in enumerate(sorted(groups.keys() - {ROOT_GROUP}), 1)}
        orders: dict[str, float] = {}
        for name, group in groups.items():
            if by_priority:
                orders[name] = group.figures.sort_key if group.figures else 0.0
            elif by_usage:
                orders[name] = group.record.weighted_accumulated_usage / _HOUR
            else:
                orders[name] = numbers.get(name, _LAST)
        return cls(numbers, orders, len(entries))

    def number(self, entry: UserprioEntry) -> int | None:
        """Return the number of the group of an entry, None in the root; negative if the report lacks the group."""
        name = group_of(entry)
        return None if name == ROOT_GROUP else self.numbers.get(name, -2 * self.entries)

    def order(self, entry: UserprioEntry) -> float | None:
        """Return the value that the group of an entry is sorted by, None if groups are not sorted."""
        return self.orders.get(group_of(entry))


def group_of(entry: UserprioEntry) -> str:
    """Return the group of a submitter; of a group, that group."""
    return entry.group if entry.figures is None else entry.name


@attrs.frozen(kw_only=True)
class UserprioEntry:
    """A submitter, or an accounting group (``figures`` is None of a submitter).

    ``group`` is the group of a submitter, and the group above a group. ``priority`` is the effective one. ``factor`` is 0
    for groups without a configured one; ``used_factor`` is then that with which the priority is computed. ``share`` and
    ``limit`` are those of the last cycle.
    """

    name: str
    group: str
    priority: float
    factor: float
    record: AccountRecord
    figures: GroupFigures | None = None
    share: float = 0.0
    limit: float = 0.0
    used_factor: float = 0.0


@attrs.frozen
class UserprioReport:
    """The entries of a report, groups before submitters, and the time of the last update."""

    last_update: int
    entries: tuple[UserprioEntry, ...]

    def long_form(self) -> str:
        """Return the report as one ad in long form: the input of ``condor_userprio -inputfile``.

        The attributes of each entry end with its number; reals are as HTCondor prints them.
        """
        numbered = [
            (name, number, literal(value))
            for number, entry in enumerate(self.entries, 1)
            for name, value in _attributes(entry).items()
        ]
        lines = [f"{name}{number} = {text}" for name, number, text in numbered]
        lines += [f"LastUpdate = {self.last_update}", f"NumSubmittors = {len(self.entries)}"]
        return "".join(f"{line}\n" for line in sorted(lines, key=_attribute_order))

    def ads(self) -> Iterator[dict[str, str | float]]:
        """Iterate over the entries as ads of their own, as ``condor_userprio -long`` prints those of a negotiator."""
        for entry in self.entries:
            yield dict(sorted({**_attributes(entry), "LastUpdate": self.last_update}.items()))

    def own_ads(self) -> Iterator[dict[str, str | float]]:
        """Iterate over the entries as the ads that a negotiator itself sends, to the collector or as answer to a query."""
        for entry in self.entries:
            yield dict(sorted({**_ad(entry), "LastUpdate": self.last_update}.items()))

    def modular_long_form(self) -> str:
        """Return the report as one ad for each entry, in long form, with a blank line after each."""
        ads = ("".join(f"{name} = {literal(value)}\n" for name, value in ad.items()) for ad in self.ads())
        return "".join(f"{ad}\n" for ad in ads)


def report_of(
    accounts: Accounts,
    settings: AccountSettings,
    figures: Mapping[str, GroupFigures] | None = None,
    shares: Mapping[str, tuple[float, float]] | None = None,
) -> UserprioReport:
    """Return the report of all accounts.

    :param figures: those of the accounting groups, by name.
    :param shares: share and limit of submitters in the last cycle.
    """
    figures = figures or {}
    shares = shares or {}
    groups = [
        UserprioEntry(
            name=name,
            group=_group_above(name, settings),
            priority=accounts.effective_priority(name, settings),
            factor=settings.group_factors.get(name.lower(), 0.0),
            used_factor=accounts.factor(name, settings),
            record=accounts.get(name),
            figures=figures.get(name, GroupFigures(surplus="byquota" if name == ROOT_GROUP else "no")),
        )
        for name in settings.groups
    ]
    submitters = [
        UserprioEntry(
            name=name,
            group=settings.group_of(name),
            priority=accounts.effective_priority(name, settings),
            factor=accounts.factor(name, settings),
            record=record,
            share=shares.get(name, (0.0, 0.0))[0],
            limit=shares.get(name, (0.0, 0.0))[1],
        )
        for name, record in sorted(accounts.records.items())
        if name not in settings.groups
    ]
    return UserprioReport(accounts.last_update, (*groups, *submitters))


def _group_above(name: str, settings: AccountSettings) -> str:
    above = name.rpartition(".")[0]
    return settings.group_of(above) if above else ROOT_GROUP


def _attributes(entry: UserprioEntry) -> dict[str, str | float]:
    record = entry.record
    values: dict[str, str | float] = {
        "Name": entry.name,
        "IsAccountingGroup": entry.figures is not None,
        "AccountingGroup": entry.group,
        "Priority": entry.priority,
        "PriorityFactor": entry.factor,
        "ResourcesUsed": record.resources_used,
        "WeightedResourcesUsed": record.weighted_resources_used,
        "AccumulatedUsage": record.accumulated_usage,
        "WeightedAccumulatedUsage": record.weighted_accumulated_usage,
        "BeginUsageTime": record.begin_usage,
        "LastUsageTime": record.last_usage,
    }
    if entry.figures is None:
        return values | {
            "Ceiling": max(record.ceiling, -1),
            "Floor": max(record.floor, 0),
            "SubmitterShare": entry.share,
            "SubmitterLimit": entry.limit,
        }
    return values | {
        "HierWeightedResourcesUsed": record.hierarchical_weighted_resources_used,
        "EffectiveQuota": entry.figures.effective_quota,
        "ConfigQuota": entry.figures.config_quota,
        "SubtreeQuota": entry.figures.subtree_quota,
        "GroupSortKey": entry.figures.sort_key,
        "SurplusPolicy": entry.figures.surplus,
        "Requested": entry.figures.requested,
    }


def _ad(entry: UserprioEntry) -> dict[str, str | float]:
    """Return the attributes of an entry as an ad of its own (``Accountant::ReportState`` for a query).

    Other than in the ad of all, a group is in itself, has what submitters have, and the factor of its priority.
    """
    record = entry.record
    # Usage that was reset has a beginning: its sums are 0, and not unknown.
    unknown = _OF_USE - {"AccumulatedUsage", "WeightedAccumulatedUsage"} if record.begin_usage else _OF_USE
    found = {name: value for name, value in _attributes(entry).items() if value or name not in unknown}
    found |= {
        "HierWeightedResourcesUsed": record.hierarchical_weighted_resources_used,
        "Ceiling": max(record.ceiling, -1),
        "Floor": max(record.floor, 0),
        "SubmitterShare": entry.share,
        "SubmitterLimit": entry.limit,
    }
    if entry.figures is not None:
        found |= {"AccountingGroup": entry.name, "PriorityFactor": entry.used_factor}
    return found


def _attribute_order(line: str) -> tuple[str, int]:
    name = line.partition(" ")[0]
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :] or 0)
