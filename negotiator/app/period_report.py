"""Use case: the figures of a report: a period of the audit log, the last cycles of a negotiator, and the pool now."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.audit import searching
from negotiator.app.cycles import CycleHistory, last_cycles
from negotiator.app.pool_view import PoolView, pool_paths
from negotiator.audit.newest import records_backwards
from negotiator.audit.search import AuditQuery
from negotiator.errors import InvalidCallError, NotFoundError
from negotiator.explain.report import BlockedJobs as BlockedJobs
from negotiator.explain.report import PeriodCollector
from negotiator.explain.report import PeriodFigures as PeriodFigures
from negotiator.explain.report import PoolPoint as PoolPoint
from negotiator.explain.report import Series as Series
from negotiator.explain.report.collector import KINDS
from negotiator.explain.report.collector import OTHERS as OTHERS
from negotiator.queues import ROOT

_MOST: Final = 10  # users, and queues


@attrs.frozen
class NamedUse:
    """The running and idle jobs of a user or in a queue."""

    name: str
    running: int
    idle: int


@attrs.frozen
class ResourceUse:
    """How much of a resource of the pool is used, in the units of queues.yaml."""

    name: str
    used: int
    most: int


@attrs.frozen
class PresentUse:
    """A pool at the time of the report; the last user and queue may be the sum of further ones."""

    slots: int
    running: int
    idle: int
    users: tuple[NamedUse, ...]
    queues: tuple[NamedUse, ...]
    resources: tuple[ResourceUse, ...]


@attrs.frozen(kw_only=True)
class PoolReport:
    """The figures of a report; a part is None if its source is missing, which ``notes`` say."""

    made: float
    period: PeriodFigures | None
    history: CycleHistory | None
    now: PresentUse | None
    notes: tuple[str, ...]


def pool_report(
    view: PoolView,
    since: float | None = None,
    until: float | None = None,
    cycle: int | None = None,
) -> PoolReport:
    """Return the figures of a report, from those of the audit log, the state and the pool that are there.

    :param since: seconds since the epoch, included; ``until`` excluded.
    :param cycle: the number of the only cycle of the log that is wanted.
    :raises InvalidCallError: none is there.
    :raises NotFoundError: the log has no cycle in this time, and there is nothing else.
    :raises AuditError, StateError, PoolError: one cannot be read.
    """
    targets = view.targets
    notes = []
    period = history = now = None
    if targets.audit_log.is_dir():
        period = _period(targets.audit_log, AuditQuery(kinds=KINDS, since=since, until=until), cycle)
        if period is None:
            notes.append("The audit log has no cycle in this time.")
    else:
        notes.append("There is no audit log, so nothing is known of a period (--audit-log).")
    if targets.state_location is not None:
        history = last_cycles(targets.state_location.folder)
    else:
        notes.append("No state was given, so the times and shares of the last cycles are missing (--state).")
    if pool_paths(targets):
        now = _pool_now(view)
    else:
        notes.append("No pool was given, so what it runs now is missing (--pool).")
    if period is None and history is None and now is None:
        kind = NotFoundError if targets.audit_log.is_dir() else InvalidCallError
        raise kind(" ".join(notes))
    return PoolReport(made=view.now, period=period, history=history, now=now, notes=tuple(notes))


def _period(folder: Path, query: AuditQuery, cycle: int | None) -> PeriodFigures | None:
    collector = PeriodCollector()
    with searching(folder, "reading the audit log"):
        for record in records_backwards(folder, query):
            number = record.get("cycle", 0)
            if cycle is not None and number < cycle:
                break
            if cycle is None or number == cycle:
                collector.add(record)
    return collector.figures()


def _pool_now(view: PoolView) -> PresentUse:
    from negotiator.runtime.pool_contents import pool_contents  # noqa: PLC0415 - a pool may not be needed

    contents = pool_contents(view.snapshot, view.bundle, view.cycle_state, view.now)
    users: dict[str, Counter[str]] = {}
    queues: dict[str, Counter[str]] = {}
    for each in contents.applications:
        counts = Counter(running=len(each.running), idle=each.idle)
        for names, name in ((users, each.user), (queues, each.queue)):
            names.setdefault(name, Counter()).update(counts)
    used = contents.used(ROOT)
    return PresentUse(
        slots=len(view.snapshot.slots),
        running=contents.running_jobs,
        idle=contents.idle_jobs,
        users=_named(users),
        queues=_named(queues),
        resources=tuple(
            ResourceUse(name, used.get(name, 0), most) for name, most in contents.capacity.items() if most
        ),
    )


def _named(counts: dict[str, Counter[str]]) -> tuple[NamedUse, ...]:
    """Return the names with most running jobs, and the sum of the others."""
    order = sorted(counts, key=lambda name: (-counts[name]["running"], -counts[name]["idle"], name))
    found = [NamedUse(name, counts[name]["running"], counts[name]["idle"]) for name in order]
    rest = found[_MOST:]
    others = NamedUse(
        f"{len(rest)} others", sum(each.running for each in rest), sum(each.idle for each in rest)
    )
    return (*found[:_MOST], *([others] if rest else ()))
