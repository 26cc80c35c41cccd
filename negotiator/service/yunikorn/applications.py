"""Applications and their allocations: an allocation is a job that has a slot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from negotiator.app.overview import ACCEPTED, RUNNING, ApplicationContents, RunningJob
from negotiator.service.yunikorn.shapes import nanoseconds, present

# The web UI names an allocation by these two tags.
_NAMESPACE: Final = "kubernetes.io/meta/namespace"
_POD: Final = "kubernetes.io/meta/podName"


def applications(found: Iterable[ApplicationContents], partition: str) -> list[dict[str, Any]]:
    """Return applications with their allocations."""
    return [application(each, partition) for each in found]


def application(found: ApplicationContents, partition: str) -> dict[str, Any]:
    """Return an application with its allocations.

    What it used at most is not known: ``maxUsedResource`` is what it uses.
    """
    entry = {
        "applicationID": found.name,
        "usedResource": dict(found.used),
        "maxUsedResource": dict(found.used),
        "pendingResource": dict(found.pending),
        "partition": partition,
        "queueName": found.queue,
        "submissionTime": nanoseconds(found.submitted),
        "allocations": allocations(found.running, partition),
        "applicationState": found.state,
        "user": found.user,
        "groups": [found.group] if found.group else [],
        "stateLog": _states(found),
    }
    return present(entry)


def _states(found: ApplicationContents) -> list[dict[str, Any]]:
    """Return when the application was submitted, and when its first job that still runs began."""
    log = []
    if found.submitted:
        log.append({"time": nanoseconds(found.submitted), "applicationState": ACCEPTED})
    begun = min((job.started for job in found.running if job.started), default=0.0)
    if begun:
        log.append({"time": nanoseconds(begun), "applicationState": RUNNING})
    return log


def allocations(jobs: Iterable[RunningJob], partition: str) -> list[dict[str, Any]]:
    """Return the allocations of jobs."""
    return [_allocation(job, partition) for job in jobs]


def _allocation(job: RunningJob, partition: str) -> dict[str, Any]:
    entry = {
        "allocationTags": {_NAMESPACE: job.user, _POD: job.id or "matched"},
        "allocationTime": nanoseconds(job.started),
        "resource": dict(job.resources),
        "priority": "0",
        "nodeId": job.host,
        "applicationId": job.application,
        "queueName": job.queue,
        "partition": partition,
    }
    return {"allocationKey": job.slot or job.id, **present(entry)}
