"""The table of condor_userprio: submitters below their groups, or all in one list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, tzinfo
from typing import Any

import attrs

from negotiator.plugin import printable
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.userprio.columns import (
    COLUMNS,
    CellContext,
    ColumnSet,
    TimeFormat,
    UserprioColumn,
    number,
    surplus_name,
)
from negotiator_fairshare.userprio.report import GroupNumbers, UserprioEntry, UserprioReport, group_of

LONGEST_NAME = 99


@attrs.frozen(kw_only=True)
class UserprioView:
    """What a table shows: its columns, entries used since a time (-1: all), and groups above their submitters or not.

    ``hierarchical`` None means below their groups, unless the columns have priorities alone. ``groups_first``: in one list,
    groups are above all submitters, in the order of the tree. ``keeps_quotas``: quotas have columns although no submitter is in
    a group.
    """

    columns: ColumnSet = ColumnSet.MOST
    active_since: int = -1
    hierarchical: bool | None = None
    groups_first: bool = False
    keeps_quotas: bool = False
    zone: tzinfo | None = UTC


def table_lines(report: UserprioReport, view: UserprioView) -> list[str]:
    """Return the lines of the table, with their trailing spaces, as condor_userprio prints them."""
    return list(_Layout.of(report, view).lines()) if report.entries else []


@attrs.frozen
class _Layout:
    report: UserprioReport
    view: UserprioView
    columns: tuple[UserprioColumn, ...]
    hierarchical: bool
    root: bool
    groups: bool
    users: bool

    @classmethod
    def of(cls, report: UserprioReport, view: UserprioView) -> _Layout:
        chosen = view.columns
        priorities_alone = not chosen & ~ColumnSet.PRIORITIES
        hierarchical = view.hierarchical if view.hierarchical is not None else not priorities_alone
        groups = hierarchical or not priorities_alone
        in_groups = any(entry.group != ROOT_GROUP for entry in report.entries if entry.figures is None)
        all_in_root = not in_groups or not any(
            _active(entry, view) for entry in report.entries if group_of(entry) != ROOT_GROUP
        )
        quotas_alone = not chosen & ~ColumnSet.QUOTAS
        if (all_in_root or not groups) and not (quotas_alone or view.keeps_quotas):
            chosen &= ~ColumnSet.QUOTAS
        return cls(
            report,
            view,
            tuple(column for column in COLUMNS if column.key in chosen),
            hierarchical and not all_in_root,
            not all_in_root,
            groups,
            not quotas_alone,
        )

    def lines(self) -> Iterator[str]:
        times = TimeFormat(self.report.last_update, self.view.zone)
        context = CellContext(times, self._group_numbers())
        rows = [entry for entry in self._sorted() if _active(entry, self.view)]
        users = [entry for entry in rows if entry.figures is None]
        yield f"Last Priority Update: {times.date(self.report.last_update)}"
        names = self._names_heading()
        width = self._name_width()
        for label, line in zip(names, (0, 1), strict=True):
            yield self._line(label, width, [column.heading_line(line) for column in self.columns])
        yield self._rule(width)
        for entry in self._shown(rows):
            yield self._line(
                self._label(entry), width, [column.text(entry, context) for column in self.columns]
            )
        yield self._rule(width)
        label = f"Number of users: {len(users)}"
        totals = [column.fitted(self._total(column, users, times)) for column in self.columns]
        yield self._line(label, width, totals)

    def _group_numbers(self) -> GroupNumbers:
        chosen = {column.key for column in self.columns}
        return GroupNumbers.of(
            self.report.entries,
            by_priority=ColumnSet.EFFECTIVE_PRIORITY in chosen,
            by_usage=bool(chosen & {ColumnSet.IN_USE, ColumnSet.TOTAL_USAGE}),
        )

    def _names_heading(self) -> tuple[str, str]:
        if self.hierarchical:
            return "Group", "  User Name" if self.users else "Name"
        return "", "User Name" if self.users else "Group Name"

    def _shown(self, rows: list[UserprioEntry]) -> Iterator[UserprioEntry]:
        """Iterate over the rows without the hidden ones: the root is hidden as long as no other group is shown."""
        root = self.root
        for entry in rows:
            if entry.figures is None:
                if self.users:
                    yield entry
            elif self.groups and (root or entry.name != ROOT_GROUP):
                root = True
                yield entry

    def _label(self, entry: UserprioEntry) -> str:
        if not self.hierarchical or entry.figures is not None:
            return printable(entry.name)
        name = entry.name if entry.group == ROOT_GROUP else entry.name[len(entry.group) + 1 :]
        return f"  {printable(name)}"

    def _name_width(self) -> int:
        longest = 10
        for entry in self.report.entries:
            if _active(entry, self.view):
                length = len(entry.name)
                if self.hierarchical and entry.figures is None:
                    length += 2 - (len(entry.group) if entry.group != ROOT_GROUP else 0)
                longest = max(longest, length)
        least = len(f"Number of users: {len(self.report.entries)}")
        return max(min(longest, LONGEST_NAME), least) + 2 * self.hierarchical

    def _line(self, label: str, width: int, cells: Iterable[str]) -> str:
        return " ".join([label.ljust(width)[:width], *cells])

    def _rule(self, width: int) -> str:
        return " ".join(["-" * width, *("-" * column.width for column in self.columns)])

    def _total(self, column: UserprioColumn, users: list[UserprioEntry], times: TimeFormat) -> str:
        since = self.view.active_since
        if column.key is ColumnSet.SURPLUS:
            return self._surplus()
        if column.key is ColumnSet.IN_USE:
            return number(sum(each.record.weighted_resources_used for each in users), column.width, 0)
        if column.key is ColumnSet.TOTAL_USAGE:
            hours = sum(each.record.weighted_accumulated_usage for each in users) / 3600.0
            return number(hours, column.width, 2)
        if column.key is ColumnSet.LAST_USAGE:
            return times.date_with_year(since)
        if column.key is ColumnSet.SINCE_LAST_USAGE and since > 0:
            return times.since(since)
        return ""

    def _surplus(self) -> str:
        """Return the policy of the last group that has one other than ``no``."""
        policies = [each.figures.surplus for each in self.report.entries if each.figures]
        used = [policy for policy in policies if policy != "no"]
        return surplus_name(used[-1]) if used else ""

    def _sorted(self) -> list[UserprioEntry]:
        if not self.hierarchical:
            submitters = self.report.entries
            groups: list[UserprioEntry] = []
            if self.view.groups_first:
                groups = [each for each in self.report.entries if each.figures is not None]
                submitters = tuple(each for each in self.report.entries if each.figures is None)
            return [*groups, *sorted(submitters, key=self._column_key)]
        root_last = self._surplus() == surplus_name("regroup")
        by_name = {each.name: each for each in self.report.entries if each.figures}
        order = {name: place for place, name in enumerate(sorted(by_name.keys() - {ROOT_GROUP}), 1)}

        def key(entry: UserprioEntry) -> tuple[Any, ...]:
            group = group_of(entry)
            place = order.get(group, 0)
            last = root_last and not place
            return (
                last,
                self._group_key(by_name.get(group), place),
                place,
                entry.figures is None,
                self._column_key(entry),
            )

        return sorted(self.report.entries, key=key)

    def _group_key(self, group: UserprioEntry | None, place: int) -> float:
        chosen = {column.key for column in self.columns}
        if (
            group is None
            or group.figures is None
            or not chosen
            & {
                ColumnSet.EFFECTIVE_PRIORITY,
                ColumnSet.IN_USE,
                ColumnSet.TOTAL_USAGE,
            }
        ):
            return place
        if ColumnSet.EFFECTIVE_PRIORITY in chosen:
            return group.figures.sort_key
        return group.record.weighted_accumulated_usage

    def _column_key(self, entry: UserprioEntry) -> float | str:
        chosen = {column.key for column in self.columns}
        if ColumnSet.EFFECTIVE_PRIORITY in chosen:
            return entry.priority
        if chosen & {ColumnSet.IN_USE, ColumnSet.TOTAL_USAGE}:
            return entry.record.weighted_accumulated_usage
        return entry.name


def _active(entry: UserprioEntry, view: UserprioView) -> bool:
    return (entry.record.last_usage or -1) >= view.active_since
