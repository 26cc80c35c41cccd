"""The columns of condor_userprio: headings, widths and cells, with dates and durations as HTCondor's tools print them.

Source: condor_userprio 25.14.1, and its manual page; ``format_date``, ``format_date_year`` and ``format_time`` of HTCondor 25.14.1.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Final

import attrs

from negotiator_fairshare.groups.records import GroupFigures
from negotiator_fairshare.userprio.report import GroupNumbers, UserprioEntry

#: Years end with 9999; times are numbers that administrators may set.
_LAST: Final = 250_000_000_000
_UNKNOWN: Final = "    ???    "
LAST_KEY = 3.40282001e38
"""Sort keys from here on are those of the group that is always last."""
_SURPLUS = {"no": "no", "regroup": "Regroup", "byquota": "ByQuota"}
_HOUR = 3_600


def date(seconds: int, zone: tzinfo | None = UTC) -> str:
    """Return month, day, hour and minute of seconds since the epoch, in a zone (None: the local one)."""
    if seconds < 0:
        return _UNKNOWN
    moment = datetime.fromtimestamp(min(seconds, _LAST), zone)
    return f"{moment.month:2}/{moment.day:<2} {moment:%H:%M}"


def date_with_year(seconds: int, zone: tzinfo | None = UTC) -> str:
    """Return month, day, year, hour and minute."""
    moment = datetime.fromtimestamp(min(max(seconds, 0), _LAST), zone)
    return f"{moment.month:2}/{moment.day:02}/{moment.year:<4} {moment:%H:%M}"


def duration(seconds: int) -> str:
    """Return days, hours, minutes and seconds; each of them is negative in a negative number."""
    sign, minutes, left = -1 if seconds < 0 else 1, abs(seconds) // 60, abs(seconds) % 60
    parts = (minutes // 60 % 24, minutes % 60, left)
    return f"{sign * (minutes // 1440):3}+" + ":".join(f"{sign * part:02}" for part in parts)


class ColumnSet(enum.Flag):
    """Which columns a table has; MOST is what condor_userprio shows without options."""

    GROUP_ID = enum.auto()
    GROUP_ORDER = enum.auto()
    SORT_KEY = enum.auto()
    EFFECTIVE_QUOTA = enum.auto()
    CONFIG_QUOTA = enum.auto()
    SURPLUS = enum.auto()
    SUBTREE_QUOTA = enum.auto()
    EFFECTIVE_PRIORITY = enum.auto()
    REAL_PRIORITY = enum.auto()
    FACTOR = enum.auto()
    IN_USE = enum.auto()
    TOTAL_USAGE = enum.auto()
    USAGE_START = enum.auto()
    LAST_USAGE = enum.auto()
    SINCE_LAST_USAGE = enum.auto()
    REQUESTED = enum.auto()
    FLOOR = enum.auto()
    CEILING = enum.auto()
    PRIORITIES = EFFECTIVE_PRIORITY | REAL_PRIORITY | FACTOR
    USED = IN_USE | TOTAL_USAGE
    USAGE = USED | USAGE_START | LAST_USAGE
    QUOTAS = EFFECTIVE_QUOTA | CONFIG_QUOTA | SUBTREE_QUOTA | SURPLUS | REQUESTED
    MOST = (
        CONFIG_QUOTA
        | SURPLUS
        | EFFECTIVE_PRIORITY
        | FACTOR
        | USED
        | SINCE_LAST_USAGE
        | REQUESTED
        | CEILING
        | FLOOR
    )
    ALL = MOST | QUOTAS | PRIORITIES | USAGE_START | LAST_USAGE


@attrs.frozen
class TimeFormat:
    """How times are shown: in a zone (None: the local one), and relative to the last update."""

    last_update: int
    zone: tzinfo | None = UTC

    def date(self, time: int) -> str:
        """Return month, day, hour and minute."""
        return date(max(time, 0), self.zone)

    def date_with_year(self, time: int) -> str:
        """Return month, day, year, hour and minute; nothing if there is no time."""
        return date_with_year(time, self.zone) if time > 0 else ""

    def since(self, time: int) -> str:
        """Return days, hours and minutes from a time to the last update."""
        seconds = self.last_update - time
        if seconds <= 0:
            return "<now>"
        return f"{seconds // 86_400:3}+{seconds // _HOUR % 24:02}:{seconds // 60 % 60:02}"


@attrs.frozen
class CellContext:
    """What cells read beside their entry."""

    times: TimeFormat
    groups: GroupNumbers


@attrs.frozen
class UserprioColumn:
    """A column: its heading of two lines, and the cell of an entry; None if the entry has none."""

    key: ColumnSet
    width: int
    heading: tuple[str, str]
    cell: Callable[[UserprioEntry, CellContext], str | None]

    def text(self, entry: UserprioEntry, context: CellContext) -> str:
        """Return the cell of an entry, as wide as the column."""
        return self.fitted(self.cell(entry, context) or "")

    def fitted(self, text: str) -> str:
        """Return a text as wide as the column: words of the column for surplus at the left, all others at the right."""
        padded = text.ljust(self.width) if self.key is ColumnSet.SURPLUS else text.rjust(self.width)
        return padded[: self.width]

    def heading_line(self, line: int) -> str:
        """Return a line of the heading, centered."""
        text = self.heading[line]
        return (" " * ((self.width - len(text)) // 2) + text).ljust(self.width)


def number(value: float, width: int, decimals: int) -> str:
    """Return a number with decimals; with fewer digits if it does not fit.

    It is first rounded to the digits of the long form, which is what condor_userprio gets.
    """
    value = float(f"{value:.16G}")
    text = f"{value:.{decimals}f}"
    return text if len(text) <= width else f"{value:.{max(width - 6, 0)}g}"


def _of_group(
    width: int, of: Callable[[GroupFigures], float], decimals: int = 2
) -> Callable[..., str | None]:
    return lambda entry, _context: entry.figures and number(of(entry.figures), width, decimals)


def _of_user(width: int, of: Callable[[UserprioEntry], float | None]) -> Callable[..., str | None]:
    def cell(entry: UserprioEntry, _context: CellContext) -> str | None:
        value = None if entry.figures else of(entry)
        return None if value is None else number(value, width, 2)

    return cell


def _group_id(entry: UserprioEntry, context: CellContext) -> str | None:
    found = context.groups.number(entry)
    return None if found is None else number(found, 5, 0)


def _group_order(entry: UserprioEntry, context: CellContext) -> str | None:
    found = context.groups.order(entry)
    return None if found is None else number(found, 9, 2)


def _sort_key(entry: UserprioEntry, _context: CellContext) -> str | None:
    if entry.figures is None:
        return None
    return "<last>" if entry.figures.sort_key >= LAST_KEY else number(entry.figures.sort_key, 9, 2)


def _surplus(entry: UserprioEntry, _context: CellContext) -> str | None:
    if entry.figures is None:
        return None
    return "yes" if entry.name == "<none>" else surplus_name(entry.figures.surplus)


def surplus_name(policy: str) -> str:
    """Return the name of a surplus policy in the table."""
    return _SURPLUS.get(policy, "n/a")


COLUMNS = (
    UserprioColumn(ColumnSet.GROUP_ID, 5, ("Group", "Id"), _group_id),
    UserprioColumn(ColumnSet.GROUP_ORDER, 9, ("Group", "Order"), _group_order),
    UserprioColumn(ColumnSet.SORT_KEY, 9, ("Group", "Sort Key"), _sort_key),
    UserprioColumn(
        ColumnSet.EFFECTIVE_QUOTA, 9, ("Effective", "Quota"), _of_group(9, lambda g: g.effective_quota)
    ),
    UserprioColumn(ColumnSet.CONFIG_QUOTA, 9, ("Config", "Quota"), _of_group(9, lambda g: g.config_quota)),
    UserprioColumn(ColumnSet.SURPLUS, 7, ("Use", "Surplus"), _surplus),
    UserprioColumn(ColumnSet.SUBTREE_QUOTA, 9, ("Subtree", "Quota"), _of_group(9, lambda g: g.subtree_quota)),
    UserprioColumn(
        ColumnSet.EFFECTIVE_PRIORITY, 12, ("Effective", "Priority"), _of_user(12, lambda e: e.priority)
    ),
    UserprioColumn(
        ColumnSet.REAL_PRIORITY,
        8,
        ("Real", "Priority"),
        lambda entry, _context: number(entry.priority / entry.factor, 8, 2) if entry.factor > 0 else None,
    ),
    UserprioColumn(
        ColumnSet.FACTOR,
        9,
        ("Priority", "Factor"),
        lambda entry, _context: number(entry.factor, 9, 2) if entry.factor > 0 else None,
    ),
    UserprioColumn(
        ColumnSet.IN_USE,
        6,
        ("Wghted", "In Use"),
        lambda entry, _context: number(entry.record.weighted_resources_used, 6, 0),
    ),
    UserprioColumn(
        ColumnSet.TOTAL_USAGE,
        12,
        ("Total Usage", "(wghted-hrs)"),
        lambda entry, _context: number(entry.record.weighted_accumulated_usage / _HOUR, 12, 2),
    ),
    UserprioColumn(
        ColumnSet.USAGE_START,
        16,
        ("Usage", "Start Time"),
        lambda entry, context: context.times.date_with_year(entry.record.begin_usage),
    ),
    UserprioColumn(
        ColumnSet.LAST_USAGE,
        16,
        ("Last", "Usage Time"),
        lambda entry, context: context.times.date_with_year(entry.record.last_usage),
    ),
    UserprioColumn(
        ColumnSet.SINCE_LAST_USAGE,
        10,
        ("Time Since", "Last Usage"),
        lambda entry, context: context.times.since(entry.record.last_usage or -1),
    ),
    UserprioColumn(
        ColumnSet.REQUESTED, 10, ("Weighted", "Requested"), _of_group(10, lambda g: g.requested, 0)
    ),
    UserprioColumn(
        ColumnSet.FLOOR,
        9,
        ("Submitter", "Floor"),
        _of_user(9, lambda e: e.record.floor if e.record.floor > 0 else None),
    ),
    UserprioColumn(
        ColumnSet.CEILING,
        9,
        ("Submitter", "Ceiling"),
        _of_user(9, lambda e: e.record.ceiling if e.record.ceiling >= 0 else None),
    ),
)
"""All columns, in the order of the table."""
