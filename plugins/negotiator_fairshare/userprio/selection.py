"""Which entries of a report are shown, and sums of groups: the options of condor_userprio that change the entries.

Source: condor_userprio and condor_negotiator 25.14.1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from negotiator.plugin import Ad, Expr
from negotiator_fairshare.accounts.account import AccountRecord
from negotiator_fairshare.userprio.literals import as_sent
from negotiator_fairshare.userprio.report import UserprioReport

_CONSTRAINT = "_Constraint"


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
