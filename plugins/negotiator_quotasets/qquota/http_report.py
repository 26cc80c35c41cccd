"""The report ``qquota``: the usage of limits by HTTP, as records and as Grid Engine's XML.

Source: qquota(1). The selections are those of the command's switches; without users, all are selected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

import attrs

from negotiator.plugin import Report, ReportParameter, ReportSource
from negotiator_quotasets.qquota import markup, table
from negotiator_quotasets.qquota.arguments import LISTS, QquotaArguments, split_names
from negotiator_quotasets.qquota.report import QuotaReport, selection
from negotiator_quotasets.qquota.selection import RowSelection
from negotiator_quotasets.settings import QuotaSettings

_TEXTS: Final = {
    "users": "Limits of these users, or of the members of user sets (@SET).",
    "hosts": "Limits of these hosts, or of host groups (@GROUP).",
    "projects": "Limits of these projects.",
    "pes": "Limits of these parallel environments.",
    "queues": "Limits of these queues.",
    "resources": "Limits of these resources, by name or shortcut.",
}
_EACH: Final = "Names and wildcards, separated by commas."


@attrs.frozen
class QuotaFilterNames:
    """A filter of a rule: its scope, the names in it, and those that it excludes."""

    scope: str
    names: tuple[str, ...]
    excluded: tuple[str, ...]


@attrs.frozen
class QuotaUse:
    """A limit of a rule (``SET/RULE``), and what is used of it, as Grid Engine writes numbers.

    ``used`` is null for a limit of a complex that is not consumed. ``mode`` is that of the rule set: enforce, warn or dryrun.
    """

    rule: str
    resource: str
    used: str | None
    limit: str
    filters: tuple[QuotaFilterNames, ...]
    mode: str


def qquota_report(settings: QuotaSettings) -> Report:
    """Return the report of a bundle's rule sets."""
    return Report(
        name="qquota",
        summary="The usage of the limits of resource quota sets, as qquota prints it",
        row=QuotaUse,
        collect=partial(_collect, settings),
        rows=_rows,
        parameters=tuple(ReportParameter(name, f"{text} {_EACH}") for name, text in _TEXTS.items()),
        texts={"application/xml": _xml, "text/plain": _table},
    )


def _collect(settings: QuotaSettings, source: ReportSource) -> QuotaReport:
    return QuotaReport.of(settings, source.usage)


def _rows(found: QuotaReport, given: Mapping[str, str]) -> Iterator[QuotaUse]:
    for row in found.selected(_selection(given)):
        filters = tuple(QuotaFilterNames(*each) for each in row.filter_names(found.hosts))
        mode = str(found.settings.mode(row.set_name))
        yield QuotaUse(row.rule, row.complex.name, row.used, row.limit, filters, mode)


def _xml(found: QuotaReport, given: Mapping[str, str]) -> str:
    return _text(markup.lines(found.selected(_selection(given)), found.hosts))


def _table(found: QuotaReport, given: Mapping[str, str]) -> str:
    return _text(table.lines(found.selected(_selection(given)), found.hosts))


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _selection(given: Mapping[str, str]) -> RowSelection:
    lists = {name: split_names(given[name]) for name in LISTS.values()}
    return selection(QquotaArguments(lists), "*")
