"""*Pool now*: capacity and use, jobs, the negotiator and its last cycle, problems. *Machines*: what each has, and what its jobs use."""

from __future__ import annotations

from typing import Final

import attrs
from markupsafe import Markup

from negotiator.app.overview import HostContents, PoolOverview
from negotiator.queues import ROOT
from negotiator.service.health import health_checks
from negotiator.service.pages.views.elements import (
    MOST_ROWS,
    Bar,
    Link,
    Moment,
    Rows,
    bar,
    link,
    message,
    moment,
    ordered,
    picture,
    shown,
)

_MOST_REASONS: Final = 10
_MOST_PROBLEMS: Final = 50


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


@attrs.frozen
class Figure:
    """A number with its name, and what it means."""

    value: str
    name: Link
    note: str = ""


@attrs.frozen
class Check:
    """One of the health checks; ``text`` is what it found."""

    name: str
    is_passed: bool
    text: str


@attrs.frozen
class UnmatchedReason:
    """Why jobs got no slot in the last cycle, with a picture beside the most frequent reason."""

    station: str
    verdict: str
    code: str
    jobs: str
    picture: Markup


@attrs.frozen
class CycleView:
    """The last cycle."""

    number: str
    ended: Moment | None
    facts: tuple[tuple[str, str], ...]
    reasons: Rows


@attrs.frozen
class PoolNow:
    """The whole page."""

    figures: tuple[Figure, ...]
    bars: tuple[Bar, ...]
    is_healthy: bool
    checks: tuple[Check, ...]
    started: Moment | None
    next_cycle: Moment | None
    cycle: CycleView | None
    has_state: bool
    problems: Rows


def pool_now(overview: PoolOverview, failure: str) -> PoolNow:
    """Return the page.

    :param failure: why the pool cannot be read now; empty if it was read.
    """
    contents, health = overview.contents, overview.health
    used = contents.used(ROOT)
    pending = contents.pending.get(ROOT, {})
    checks = health_checks(overview, failure)
    status = health.status if health else None
    return PoolNow(
        tuple(_figures(overview)),
        tuple(
            bar(name, used.get(name, 0), contents.capacity.get(name, 0), pending=pending.get(name, 0))
            for name in ordered((*contents.capacity, *used))
        ),
        all(each.is_passed for each in checks),
        tuple(Check(each.name, each.is_passed, message(each.fault or each.description)) for each in checks),
        moment(status.started) if status else None,
        moment(status.next_cycle) if status and status.next_cycle else None,
        _cycle(overview),
        health is not None,
        Rows.first(
            (message(str(each)) for each in overview.problems), len(overview.problems), _MOST_PROBLEMS
        ),
    )


def _figures(overview: PoolOverview) -> list[Figure]:
    contents = overview.contents
    running, idle = contents.running_jobs, contents.idle_jobs
    slots = sum(host.slots for host in contents.hosts)
    return [
        Figure(f"{running:,}", link("jobs running", "applications"), "have a slot, or are matched with one"),
        Figure(f"{idle:,}", link("jobs idle", "applications"), "wait for a slot"),
        Figure(f"{contents.rejected:,}", Link("jobs rejected"), "are not considered: no queue, held, …"),
        Figure(f"{len(contents.hosts):,}", link("machines", "hosts"), f"with {slots:,} slots"),
        Figure(
            f"{len(contents.applications):,}", link("applications", "applications"), "a cluster of jobs each"
        ),
        Figure(f"{len(contents.queues):,}", link("queues", "queues"), "of the configuration, or created"),
    ]


def _cycle(overview: PoolOverview) -> CycleView | None:
    status = overview.health.status if overview.health else None
    last = status.last if status else None
    if last is None:
        return None
    facts = (
        ("duration", f"{last.ended - last.begun:.2f} s"),
        ("slots read", f"{last.slots:,}"),
        ("jobs read", f"{last.jobs:,}"),
        ("matches", f"{last.matches:,}"),
        ("jobs without a match", f"{sum(each.jobs for each in last.unmatched):,}"),
        ("matches not delivered", f"{last.undelivered:,}"),
        ("running jobs that a policy would deny", f"{last.overruns:,}"),
        ("running jobs that are unknown", f"{last.unjudged:,}"),
        ("limits exceeded at its beginning", f"{last.limits_exceeded:,}"),
    )
    most = max((each.jobs for each in last.unmatched), default=0)
    reasons = (
        UnmatchedReason(
            message(each.station),
            message(each.verdict),
            message(each.code),
            f"{each.jobs:,}",
            picture(round(each.jobs * 100 / most, 1) if most > 0 else 0.0),
        )
        for each in last.unmatched
    )
    return CycleView(
        f"{last.number:,}",
        moment(last.ended),
        facts,
        Rows.first(reasons, len(last.unmatched), _MOST_REASONS),
    )
