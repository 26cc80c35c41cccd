"""Use case: why the idle jobs of a pool get no slot, all in one pass, added up by reason, user or queue."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from negotiator.app.phrases import NO_PART
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.audit.values import reason_fields
from negotiator.cycle.jobs import NOT_IDLE
from negotiator.cycle.result import CycleResult, DiscardedAds, RequestOutcome
from negotiator.explain.job_classes import FEW_CLASSES, split_classes
from negotiator.explain.job_classes import SplitClasses as SplitClasses
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.overruns import OverrunCount
from negotiator.queues.names import upwards
from negotiator.records import CORE, Mode, Reason, Verdict

#: The words of states that are not those of their codes.
_STATES: Final = {"job_not_idle": "in another state"}


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


@attrs.frozen
class IdleJobs:
    """Jobs of one user in one queue that get no slot for one decisive reason.

    ``user`` and ``queue`` are empty for jobs that took no part in the cycle, such as those that no queue accepts.
    """

    user: str
    queue: str
    reason: Reason
    jobs: int


@attrs.frozen
class IdleReport:
    """The idle jobs of a pool: how many a cycle now would match, and why the others get no slot, most jobs first.

    ``split`` is the attribute that makes many classes of alike jobs; None if they are few, or if no attribute alone does.
    ``overruns`` are the rules that running jobs break, with how many, and ``running`` how many jobs that are in all; ``unjudged`` are those that
    not every rule could judge.
    """

    matched: int
    idle: tuple[IdleJobs, ...]
    failures: tuple[HookFailure, ...]
    split: SplitClasses | None = None
    overruns: tuple[OverrunCount, ...] = ()
    running: int = 0
    unjudged: int = 0


def idle_report(view: PoolView) -> IdleReport:
    """Return what a cycle over a pool decides about its idle jobs; nothing is changed.

    :raises InvalidCallError: no pool is named.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    result = view.present_cycle
    failures = (*view.group_failures, *result.failures)
    is_split = result.counts.requests >= FEW_CLASSES
    return IdleReport(
        len(result.matches),
        idle_jobs(result),
        tuple(dict.fromkeys(failures)),
        split_classes(view.snapshot, view.bundle) if is_split else None,
        tuple(each for each in result.overrun_counts if each.reason.mode is Mode.ENFORCE),
        result.jobs_in_overrun,
        result.unjudged,
    )


def idle_jobs(result: CycleResult) -> tuple[IdleJobs, ...]:
    """Return the idle jobs that a cycle leaves without a slot, the reasons of most of them first."""
    return most_first((*without_slot(result.outcomes), *without_part(result.discarded)))


def is_other_state(discarded: DiscardedAds) -> bool:
    """True for jobs that take no part in cycles because they are not idle: they run, are held or have ended."""
    return discarded.kind is AdKind.JOB and discarded.reason.code in NOT_IDLE


def jobs_by_state(result: CycleResult) -> dict[str, int]:
    """Return the number of jobs that are not idle by their state, the most first."""
    counts = Counter[str]()
    for each in result.discarded:
        if is_other_state(each):
            counts[
                _STATES.get(each.reason.code) or each.reason.code.removeprefix("job_").replace("_", " ")
            ] += each.count
    return dict(counts.most_common())


def states_text(result: CycleResult) -> str:
    """Return how many jobs are not idle, by their state; empty if all are."""
    found = ", ".join(f"{count} {state}" for state, count in jobs_by_state(result).items())
    return f"Other jobs: {found}" if found else ""


def most_first(found: Iterable[IdleJobs]) -> tuple[IdleJobs, ...]:
    """Return jobs without a slot, the reasons of most of them first."""
    return tuple(sorted(found, key=lambda each: -each.jobs))


def without_slot(outcomes: Iterable[RequestOutcome]) -> Iterator[IdleJobs]:
    """Yield the jobs without a slot; those of equal user, queue and reason together."""
    jobs: Counter[tuple[str, str, str, str, str]] = Counter()
    examples: dict[tuple[str, str, str, str, str], IdleJobs] = {}
    for outcome in outcomes:
        rejection = outcome.rejection
        if rejection is None:
            continue
        request, reason = outcome.request, rejection.reason
        user = request.user or request.submitter
        key = user, request.queue, str(reason.provenance), reason.code, reason.text
        examples.setdefault(key, IdleJobs(user, request.queue, reason, 0))
        jobs[key] += rejection.jobs
    for key, count in jobs.items():
        yield attrs.evolve(examples[key], jobs=count)


def without_part(discarded: Iterable[DiscardedAds]) -> Iterator[IdleJobs]:
    """Yield the idle jobs that took no part in a cycle, by reason."""
    for each in discarded:
        if each.kind is AdKind.JOB and each.reason.mode is Mode.ENFORCE and not is_other_state(each):
            yield IdleJobs("", "", each.reason, each.count)


def idle_values(report: IdleReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    split = None if report.split is None else attrs.asdict(report.split)
    overruns = [{"jobs": each.jobs, "reason": reason_fields(each.reason)} for each in report.overruns]
    return {
        "matched": report.matched,
        "idle": idle_rows(report.idle),
        "split_classes": split,
        "overruns": overruns,
        "unjudged": report.unjudged,
    }


def idle_rows(idle: Iterable[IdleJobs]) -> list[dict[str, Any]]:
    """Return jobs without a slot as JSON values."""
    return [
        {"user": each.user, "queue": each.queue, "jobs": each.jobs, "reason": reason_fields(each.reason)}
        for each in idle
    ]
