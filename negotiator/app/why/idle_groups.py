"""Idle jobs without a slot, added up by reason, user or queue."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from negotiator.app.phrases import NO_PART
from negotiator.app.why.idle import IdleJobs, IdleReport
from negotiator.audit.values import reason_fields
from negotiator.queues.names import upwards
from negotiator.records import CORE, Verdict


class IdleBy(enum.StrEnum):
    """What jobs are added up by."""

    REASON = "reason"
    USER = "user"
    QUEUE = "queue"


@attrs.frozen
class IdleGroup:
    """Jobs that are added up: their number, how many different reasons they have, and those of the most frequent one."""

    name: str
    jobs: int
    reasons: int
    most: IdleJobs


def selected(report: IdleReport, user: str, queue: str | None) -> IdleReport:
    """Return a report about the jobs of a user, in a queue and those below it; empty or None for all."""
    wanted = (
        each
        for each in report.idle
        if (not user or each.user == user) and (not queue or queue in upwards(each.queue))
    )
    return attrs.evolve(report, idle=tuple(wanted))


def idle_groups(idle: Iterable[IdleJobs], by: IdleBy, *, by_text: bool = False) -> tuple[IdleGroup, ...]:
    """Return the jobs by reason, user or queue; those with most jobs first, and by reason those that are denied before those that wait.

    :param by_text: by reason, keep sentences of one rule apart that differ.
    """
    jobs = Counter[str]()
    reasons: dict[str, Counter[str]] = {}
    most: dict[str, IdleJobs] = {}
    for each in idle:
        name = _NAMES[by](each)
        if by_text and by is IdleBy.REASON:
            name = f"{name} {each.reason.text}"
        jobs[name] += each.jobs
        reasons.setdefault(name, Counter())[f"{_reason(each)} {each.reason.text}"] += each.jobs
        if each.jobs > most.setdefault(name, each).jobs:
            most[name] = each
    found = (IdleGroup(name, count, len(reasons[name]), most[name]) for name, count in jobs.items())
    return tuple(
        sorted(found, key=lambda group: (by is IdleBy.REASON and _waits(group), -group.jobs, group.name))
    )


def _waits(group: IdleGroup) -> bool:
    return group.most.reason.verdict is Verdict.WAITING


def group_values(group: IdleGroup) -> dict[str, Any]:
    """Return a group as JSON values, with the reason of most of its jobs."""
    reason = reason_fields(group.most.reason)
    return {"name": group.name, "jobs": group.jobs, "reasons": group.reasons, "reason": reason}


def _reason(idle: IdleJobs) -> str:
    """Return the rule and code of a reason; the core's own reasons name the expression of each job in their text."""
    reason = idle.reason
    where = CORE if reason.provenance.plugin == CORE else str(reason.provenance)
    return f"{reason.verdict} {reason.code} {where}"


_NAMES: Final[Mapping[IdleBy, Callable[[IdleJobs], str]]] = {
    IdleBy.REASON: _reason,
    IdleBy.USER: lambda each: each.user or NO_PART,
    IdleBy.QUEUE: lambda each: each.queue or NO_PART,
}
