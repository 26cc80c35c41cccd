"""The usage rows that a caller selected, and the report ``qquota`` by HTTP, as records and as Grid Engine's XML.

Source: qquota(1). The selections are those of the command's switches; without users, all are selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Final, Self

import attrs

from negotiator.plugin import CounterKey, Environment, PluginUsage, Report, ReportParameter, ReportSource
from negotiator_quotasets.matching import HostIndex, Hosts
from negotiator_quotasets.pool import PoolRules
from negotiator_quotasets.qquota.arguments import LISTS, QquotaArguments, split_names
from negotiator_quotasets.qquota.selection import ANY, RowSelection, scope_matchers
from negotiator_quotasets.qquota.usage_rows import UsageRow, filters, table_lines, usage_rows, xml_lines
from negotiator_quotasets.requests import RequestReader
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


def selection(arguments: QquotaArguments, caller: str) -> RowSelection:
    """Return the selection of a command line: the caller alone if it names no users, everything of all else.

    ``-l slots=5`` selects slots with any value, so that requests of Grid Engine can be used unchanged.
    """
    return RowSelection(
        users=arguments.names("users") or (caller,),
        projects=arguments.names("projects") or ANY,
        pes=arguments.names("pes") or ANY,
        queues=arguments.names("queues") or ANY,
        hosts=arguments.names("hosts") or ANY,
        resources=[name.partition("=")[0] for name in arguments.names("resources")],
    )


@attrs.frozen(eq=False)
class QuotaReport:
    """The usage of all limits of a pool, of which rows are selected, and the hosts of the pool."""

    settings: QuotaSettings
    hosts: Hosts
    rows: tuple[UsageRow, ...]

    @classmethod
    def of(cls, settings: QuotaSettings, usage: PluginUsage) -> Self:
        """Return the usage of all limits."""
        if not settings.sets:
            return cls(settings, Hosts((), {}), ())
        index = PoolRules(settings, RequestReader(settings), usage.slots, Environment()).index
        complexes = settings.gridengine.all_complexes
        rows = usage_rows(settings.sets, complexes, usage.counters.sums, _values_by_name(index))
        return cls(settings, index.hosts, tuple(rows))

    def selected(self, wanted: RowSelection) -> Iterator[UsageRow]:
        """Return the selected usage of each limit."""
        engine = self.settings.gridengine
        matchers = scope_matchers(engine.usersets, self.hosts)
        hosts = [_canonical(name, self.hosts, ignore_domain=engine.ignore_fqdn) for name in wanted.hosts]
        return attrs.evolve(wanted, hosts=hosts).select(self.rows, matchers, engine.all_complexes)


def as_entries(settings: QuotaSettings, sums: Mapping[CounterKey, int]) -> Iterator[dict[str, str]]:
    """Yield all rows as JSON values, without the hosts of the pool: formulas are printed as they were written.

    Entries have the mode of their set if the bundle configures any.
    """
    no_hosts, with_modes = Hosts((), {}), bool(settings.quota_set_modes)
    for row in usage_rows(settings.sets, settings.gridengine.all_complexes, sums, lambda _: {}):
        yield {
            "rule": row.rule,
            "resource": row.complex.name,
            "used": row.used or "",
            "limit": row.limit,
            "filter": filters(row, no_hosts),
            **({"mode": str(settings.mode(row.set_name))} if with_modes else {}),
        }


def _canonical(name: str, hosts: Hosts, *, ignore_domain: bool) -> str:
    """Return a host's name as the pool spells it; any other word unchanged."""
    short = name.partition(".")[0] if ignore_domain else name
    return next((found for each in (name, short) if (found := hosts.canonical(each)) != each), name)


def _values_by_name(index: HostIndex) -> Callable[[str], Mapping[str, Fraction | None]]:
    """Return a lookup of a host's values by its name; a host that has left the pool has none."""
    rows = {name: row for row, name in enumerate(index.hosts.names)}

    def lookup(name: str) -> Mapping[str, Fraction | None]:
        row = rows.get(name)
        return {} if row is None else index.values_of(row)

    return lookup


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
    return _text(xml_lines(found.selected(_selection(given)), found.hosts))


def _table(found: QuotaReport, given: Mapping[str, str]) -> str:
    return _text(table_lines(found.selected(_selection(given)), found.hosts))


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _selection(given: Mapping[str, str]) -> RowSelection:
    lists = {name: split_names(given[name]) for name in LISTS.values()}
    return selection(QquotaArguments(lists), "*")
