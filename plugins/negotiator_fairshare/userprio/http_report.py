"""The report ``userprio``: priorities and usage of submitters and accounting groups by HTTP, and condor_userprio's table of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import attrs

from negotiator.plugin import Report, ReportParameter, ReportSource
from negotiator_fairshare.accounts.state_rows import ORDER
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.userprio.columns import ColumnSet
from negotiator_fairshare.userprio.report import UserprioEntry, UserprioReport
from negotiator_fairshare.userprio.selection import StoredAccounts, rolled_up, with_names
from negotiator_fairshare.userprio.table import UserprioView, table_lines

_FLAGS = ("false", "true")


@attrs.frozen(kw_only=True)
class Priority:
    """The priority and the usage of a submitter, or of an accounting group.

    The lower ``priority`` is, the larger the share. ``group`` is the group of a submitter, and the group above a group. ``factor`` is 0
    for groups without a configured one. Usage is in slot seconds, weighted in seconds times slot weight; times are in seconds since the
    epoch, 0 if there is none. ``share`` and ``limit`` are those of the last cycle. ``ceiling`` is -1 if there is none. ``quota`` is null
    for submitters.
    """

    name: str
    group: str
    is_group: bool
    priority: float
    factor: float
    resources_used: int
    weighted_resources_used: float
    usage: float
    weighted_usage: float
    begun: int
    last_used: int
    share: float
    limit: float
    ceiling: int
    floor: int
    quota: float | None


def userprio_report(settings: FairShareSettings | None) -> Report:
    """Return the report of a bundle's settings."""
    return Report(
        name="userprio",
        summary="Priorities and usage of submitters and accounting groups, as of the last cycle",
        row=Priority,
        collect=partial(_collect, settings or FairShareSettings()),
        rows=_rows,
        parameters=(
            ReportParameter(
                "names", "Submitters, full names or users alone, and groups, separated by commas."
            ),
            ReportParameter(
                "rollup", "Whether groups have the sums of the groups below them.", "false", _FLAGS
            ),
        ),
        texts={"text/plain": _table},
    )


def _collect(settings: FairShareSettings, source: ReportSource) -> UserprioReport:
    stored = source.order_rows(ORDER)
    return StoredAccounts.of(stored.rows, settings, stored.damaged).report()


def _rows(found: UserprioReport, given: Mapping[str, str]) -> Iterator[Priority]:
    return map(_priority, _selected(found, given).entries)


def _table(found: UserprioReport, given: Mapping[str, str]) -> str:
    lines = table_lines(_selected(found, given), UserprioView(columns=ColumnSet.MOST))
    return "".join(f"{line}\n" for line in lines)


def _selected(found: UserprioReport, given: Mapping[str, str]) -> UserprioReport:
    names = [name for name in given["names"].split(",") if name]
    return with_names(rolled_up(found) if given["rollup"] == "true" else found, names)


def _priority(entry: UserprioEntry) -> Priority:
    record = entry.record
    return Priority(
        name=entry.name,
        group=entry.group,
        is_group=entry.figures is not None,
        priority=entry.priority,
        factor=entry.factor,
        resources_used=record.resources_used,
        weighted_resources_used=record.weighted_resources_used,
        usage=record.accumulated_usage,
        weighted_usage=record.weighted_accumulated_usage,
        begun=record.begin_usage,
        last_used=record.last_usage,
        share=entry.share,
        limit=entry.limit,
        ceiling=max(record.ceiling, -1),
        floor=max(record.floor, 0),
        quota=None if entry.figures is None else entry.figures.effective_quota,
    )
