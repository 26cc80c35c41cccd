"""The tree of queues in YuniKorn's shape: use, settings, limits; applications and their allocations; placement rules.

An allocation is a job that has a slot. The recovery rule, which is always there, is the last of the placement rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from negotiator.app.overview import ACCEPTED, RUNNING, ApplicationContents, PoolOverview, RunningJob
from negotiator.placement.filters import is_expression, listed
from negotiator.queues import RECOVERY, ROOT, Queue
from negotiator.queues.config import FilterEntry, RuleEntry
from negotiator.queues.names import is_qualified, parent_of
from negotiator.queues.quantities import Resources
from negotiator.records import ScalarText
from negotiator.service.yunikorn.shapes import nanoseconds, percent, present

_NOTHING: Final[Resources] = {}
# The web UI names an allocation by these two tags.
_NAMESPACE: Final = "kubernetes.io/meta/namespace"
_POD: Final = "kubernetes.io/meta/podName"
_RECOVERY: Final = {"name": "recovery", "parameters": {"queue": RECOVERY}}
#: Which parameter the value of a rule is.
_VALUES: Final = {"tag": "tagName", "fixed": "queue"}


def queue_tree(overview: PoolOverview, top: Queue, *, subtree: bool = True) -> dict[str, Any]:
    """Return a queue, with all queues below it if ``subtree``."""
    children: dict[str, list[Queue]] = {}
    for queue in overview.contents.queues:
        if queue.path != ROOT:
            children.setdefault(parent_of(queue.path), []).append(queue)

    def entry(queue: Queue) -> dict[str, Any]:
        below = children.get(queue.path, [])
        found = {
            **overview.queue_values.entry(queue, overview.contents.maximum(queue)),
            **_use(queue, overview),
        }
        found |= present({"childNames": [each.path for each in below]})
        if subtree:
            found["children"] = [entry(each) for each in below]
        return found

    return entry(top)


def _use(queue: Queue, overview: PoolOverview) -> dict[str, Any]:
    contents, path = overview.contents, queue.path
    used = contents.used(path)
    return present(
        {
            "pendingResource": dict(contents.pending.get(path, _NOTHING)),
            "allocatedResource": dict(used),
            "headroom": dict(contents.headrooms[path]),
            "absUsedCapacity": percent(contents.maximum(queue), used),
            "runningApps": contents.running_applications(path),
        }
    )


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


def placement_rules(rules: tuple[RuleEntry, ...]) -> list[dict[str, Any]]:
    """Return the rules of a partition in their order."""
    return [*map(_rule, rules), dict(_RECOVERY)]


def _rule(rule: RuleEntry) -> dict[str, Any]:
    name = rule.name.text.lower()
    parameters = {"create": _text(is_true=bool(rule.create))}
    if rule.value is not None:
        parameters[_VALUES.get(name, "value")] = rule.value.text
    if name == "fixed":
        parameters["qualified"] = _text(is_true=rule.value is not None and is_qualified(rule.value.text))
    entry: dict[str, Any] = {"name": name, "parameters": parameters}
    if rule.filter is not None and (found := _filter(rule.filter)):
        entry["filter"] = found
    if isinstance(rule.parent, RuleEntry):
        entry["parentRule"] = _rule(rule.parent)
    elif rule.parent is not None:  # the path of a queue
        entry["parentRule"] = {"name": "fixed", "parameters": {"queue": rule.parent.text, "create": "false"}}
    return entry


def _filter(entry: FilterEntry) -> dict[str, Any]:
    """Return a filter; an empty one is left out."""
    users, groups = listed(entry.users), listed(entry.groups)
    if not users and not groups:
        return {}
    kind = entry.type.text.lower() if entry.type and entry.type.text else "allow"
    return present({"type": kind, **_listed("user", users), **_listed("group", groups)})


def _listed(subject: str, entries: Sequence[ScalarText]) -> dict[str, Any]:
    if is_expression(entries):
        return {f"{subject}Exp": entries[0].text}
    return {f"{subject}List": [each.text for each in entries]}


def _text(*, is_true: bool) -> str:
    return "true" if is_true else "false"
