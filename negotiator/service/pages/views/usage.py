"""*Users and groups*: who is near a limit, and who uses how much of the pool."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from negotiator.app.overview import PoolOverview
from negotiator.app.usage import entry_name
from negotiator.queues.quantities import Resources
from negotiator.service.pages.views.elements import (
    MOST_ROWS,
    Bar,
    Link,
    Rows,
    bar,
    ordered,
    queue_link,
    shown,
    user_link,
)

_APPLICATIONS: Final = "running applications"
_WORDS: Final = {"over": "over the limit", "full": "at the limit", "near": "near the limit", "": ""}


@attrs.frozen
class LimitUse:
    """A limit of a user or a group in a queue, and what is used of it."""

    kind: str
    name: Link
    queue: Link
    bar: Bar
    text: str
    share: float


@attrs.frozen
class SubjectUse:
    """What a user or a group uses of the pool, a bar for each resource."""

    name: Link
    bars: tuple[Bar, ...]
    applications: str
    share: float


@attrs.frozen
class UsageView:
    """The page."""

    limits: Rows
    exceeded: int
    resources: tuple[str, ...]
    users: Rows
    groups: Rows


def usage_page(overview: PoolOverview) -> UsageView:
    """Return the page: limits by their share that is used, users and groups by their largest share of the pool."""
    limits = [*_limits(overview.users, "user"), *_limits(overview.groups, "group")]
    limits.sort(key=lambda each: -each.share)
    capacity = overview.contents.capacity
    resources = ordered(capacity)
    return UsageView(
        Rows.first(limits, len(limits)),
        sum(each.bar.level == "over" for each in limits),
        tuple(map(shown, resources)),
        _subjects(overview.users, "user", capacity, resources),
        _subjects(overview.groups, "group", capacity, resources),
    )


def _limits(entries: Sequence[Mapping[str, Any]], kind: str) -> Iterator[LimitUse]:
    for entry in entries:
        name = _subject_link(entry, kind)
        for node in _walk(entry.get("queues")):
            queue = queue_link(str(node.get("queuePath", "")))
            for made, share in _node_limits(node):
                yield LimitUse(kind, name, queue, made, _WORDS[made.level], share)


def _node_limits(node: Mapping[str, Any]) -> Iterator[tuple[Bar, float]]:
    """Yield the bar and the used share of each limit of an entry's queue."""
    used = _amounts(node.get("resourceUsage"))
    for resource, most in _amounts(node.get("maxResources")).items():
        yield bar(resource, used.get(resource, 0), most), _share(used.get(resource, 0), most)
    most_applications, running = node.get("maxApplications"), _running(node)
    if isinstance(most_applications, int) and most_applications:
        yield bar(_APPLICATIONS, running, most_applications), _share(running, most_applications)


def _subjects(
    entries: Sequence[Mapping[str, Any]], kind: str, capacity: Resources, resources: list[str]
) -> Rows:
    found = []
    for entry in entries:
        root = next(_walk(entry.get("queues")), {})
        used = _amounts(root.get("resourceUsage"))
        if not any(used.values()):
            continue
        share = max(_share(used.get(name, 0), capacity.get(name, 0)) for name in used)
        bars = tuple(bar(name, used.get(name, 0), None, pool=capacity.get(name, 0)) for name in resources)
        found.append(SubjectUse(_subject_link(entry, kind), bars, f"{_running(root):,}", share))
    found.sort(key=lambda each: -each.share)
    return Rows.first(found[:MOST_ROWS], len(found))


def _subject_link(entry: Mapping[str, Any], kind: str) -> Link:
    name = entry_name(entry)
    return user_link(name) if kind == "user" else Link(shown(name))


def _walk(node: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the queues of an entry; entries are of plugins, so that any value may be missing."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            yield each
            waiting += reversed(each.get("children") or ())


def _amounts(value: Any) -> Resources:
    if not isinstance(value, Mapping):
        return {}
    return {str(name): amount for name, amount in value.items() if isinstance(amount, int)}


def _running(node: Mapping[str, Any]) -> int:
    return len(node.get("runningApplications") or ())


def _share(used: int, most: int) -> float:
    if most:
        return used / most
    return math.inf if used else 0.0
