"""The usage rows that a caller selected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Self

import attrs

from negotiator.plugin import CounterKey, Environment, PluginUsage
from negotiator_quotasets.matching import HostIndex, Hosts
from negotiator_quotasets.pool import PoolRules
from negotiator_quotasets.qquota.arguments import QquotaArguments
from negotiator_quotasets.qquota.filter_matching import scope_matchers
from negotiator_quotasets.qquota.selection import ANY, RowSelection
from negotiator_quotasets.qquota.table import filters
from negotiator_quotasets.qquota.usage_rows import UsageRow, usage_rows
from negotiator_quotasets.requests import RequestReader
from negotiator_quotasets.settings import QuotaSettings


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
