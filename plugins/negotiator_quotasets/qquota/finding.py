"""The rows that somebody asked for, of what is used in a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import attrs

from negotiator.plugin import CounterKey, Environment, PluginUsage
from negotiator_quotasets.matching import HostQueueIndex, Hosts
from negotiator_quotasets.pool import PoolRules
from negotiator_quotasets.qquota.arguments import QquotaArguments
from negotiator_quotasets.qquota.selection import ANY, RowSelection, members_of
from negotiator_quotasets.qquota.table import filters
from negotiator_quotasets.qquota.usage_rows import UsageRow, usage_rows
from negotiator_quotasets.requests import RequestReader
from negotiator_quotasets.settings import QuotaSettings


def selection(asked: QquotaArguments, caller: str) -> RowSelection:
    """What is selected: of users the caller alone where none are named, of all else everything.

    ``-l slots=5`` is for slots, whatever the value: requests of Grid Engine may be given as they are.
    """
    return RowSelection(
        users=asked.names("users") or (caller,),
        projects=asked.names("projects") or ANY,
        pes=asked.names("pes") or ANY,
        queues=asked.names("queues") or ANY,
        hosts=asked.names("hosts") or ANY,
        resources=[name.partition("=")[0] for name in asked.names("resources")],
    )


def wanted_rows(
    settings: QuotaSettings, usage: PluginUsage, selected: RowSelection
) -> tuple[Hosts, Iterator[UsageRow]]:
    """The hosts of the pool, and what is used of each limit there, of what is selected."""
    engine = settings.gridengine
    spots = PoolRules(settings, RequestReader(settings), usage.slots, Environment()).spots
    found = usage_rows(settings.sets, engine.all_complexes, usage.counters.sums, _on_host(spots))
    members = members_of(engine.usersets, spots.hosts)
    hosts = [_spelled(name, spots.hosts, ignore_domain=engine.ignore_fqdn) for name in selected.hosts]
    selected = attrs.evolve(selected, hosts=hosts)
    return spots.hosts, selected.chosen(found, members, engine.all_complexes)


def as_entries(settings: QuotaSettings, sums: Mapping[CounterKey, int]) -> Iterator[dict[str, str]]:
    """All rows as values that JSON has, where nothing is known of the pool but what is used."""
    nowhere = Hosts((), {})
    for row in usage_rows(settings.sets, settings.gridengine.all_complexes, sums, lambda _: {}):
        yield {
            "rule": row.rule,
            "resource": row.complex.name,
            "used": row.used or "",
            "limit": row.limit,
            "filter": filters(row, nowhere),
        }


def _spelled(name: str, hosts: Hosts, *, ignore_domain: bool) -> str:
    """A host's name as the pool has it; any other word as it is."""
    short = name.partition(".")[0] if ignore_domain else name
    return next((found for each in (name, short) if (found := hosts.spelled(each)) != each), name)


def _on_host(spots: HostQueueIndex) -> Callable[[str], Mapping[str, Fraction | None]]:
    """What formulas may know of a host, by its name; nothing of a host that is gone."""
    place = {name: row for row, name in enumerate(spots.hosts.names)}

    def on_host(name: str) -> Mapping[str, Fraction | None]:
        row = place.get(name)
        return {} if row is None else {key: values[row] for key, values in spots.values.items()}

    return on_host
