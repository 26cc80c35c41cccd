"""*Machines*: what each has, and what its jobs use."""

from __future__ import annotations

import attrs

from negotiator.app.overview import HostContents, PoolOverview
from negotiator.service.pages.views.elements import MOST_ROWS, Bar, Rows, bar, message, ordered, shown


@attrs.frozen
class HostRow:
    """A machine."""

    name: str
    slots: str
    jobs: str
    bars: tuple[Bar | None, ...]


@attrs.frozen
class HostsView:
    """The page, with the filter as it was given."""

    name: str
    total: int
    resources: tuple[str, ...]
    rows: Rows


def hosts_page(overview: PoolOverview, name: str) -> HostsView:
    """Return the machines whose names contain a text; an empty one is any."""
    hosts = overview.contents.hosts
    found = [host for host in hosts if name.lower() in host.name.lower()]
    resources = ordered(overview.contents.capacity)
    rows = [_row(host, resources) for host in found[:MOST_ROWS]]
    return HostsView(message(name), len(found), tuple(map(shown, resources)), Rows.first(rows, len(found)))


def _row(host: HostContents, resources: list[str]) -> HostRow:
    return HostRow(
        shown(host.name) or "(no name)",
        f"{host.slots:,}",
        f"{len(host.running):,}",
        tuple(
            bar(name, host.used.get(name, 0), host.capacity.get(name, 0))
            if name in host.capacity or host.used.get(name)
            else None
            for name in resources
        ),
    )
