"""The numbers of accounting groups in a table of condor_userprio, and the values that groups are sorted by.

Source: condor_userprio 25.14.1, which numbers groups by name if a submitter is in one, and else by their places in the ad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.userprio.report import UserprioEntry

_LAST = 3.4028234663852886e38
_HOUR = 3_600


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
