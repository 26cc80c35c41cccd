"""*Users and groups*: who is near a limit, and who uses how much of the pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from negotiator.app.limits import (
    APPLICATIONS,
    LimitKind,
    LimitUse,
    amounts_of,
    limit_uses,
    running_of,
    share_of,
    subject_queues,
)
from negotiator.app.overview import PoolOverview
from negotiator.app.usage import entry_name
from negotiator.queues.quantities import Resources
from negotiator.service.pages.views.elements import (
    MOST_ROWS,
    Bar,
    Link,
    Rows,
    bar,
    link,
    ordered,
    queue_link,
    shown,
    user_link,
)

_APPLICATIONS: Final = "running applications"
_SUBJECTS: Final = frozenset({LimitKind.USER, LimitKind.GROUP})
_WORDS: Final = {"over": "over the limit", "full": "at the limit", "near": "near the limit", "": ""}


@attrs.frozen
class LimitBar:
    """A limit of a user or a group in a queue, and what is used of it."""

    kind: str
    name: Link
    queue: Link
    bar: Bar
    text: str


@attrs.frozen
class SubjectUse:
    """What a user or a group uses of the pool, a bar for each resource; ``decisions`` are those of a user."""

    name: Link
    decisions: Link
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
    limits = [_limit(each) for each in limit_uses(overview) if each.kind in _SUBJECTS]
    capacity = overview.contents.capacity
    resources = ordered(capacity)
    return UsageView(
        Rows.first(limits, len(limits)),
        sum(each.bar.level == "over" for each in limits),
        tuple(map(shown, resources)),
        _subjects(overview.users, LimitKind.USER, capacity, resources),
        _subjects(overview.groups, LimitKind.GROUP, capacity, resources),
    )


def _limit(found: LimitUse) -> LimitBar:
    resource = _APPLICATIONS if found.resource == APPLICATIONS else found.resource
    made = bar(resource, int(found.used), int(found.limit))
    return LimitBar(
        found.kind,
        _subject_link(found.name, found.kind),
        queue_link(found.queue),
        made,
        _WORDS[made.level],
    )


def _subjects(
    entries: Sequence[Mapping[str, Any]], kind: LimitKind, capacity: Resources, resources: list[str]
) -> Rows:
    found = []
    for entry in entries:
        root = next(subject_queues(entry), {})
        used = amounts_of(root.get("resourceUsage"))
        if not any(used.values()):
            continue
        share = max(share_of(amount, capacity.get(name, 0)) for name, amount in used.items())
        bars = tuple(bar(name, used.get(name, 0), None, pool=capacity.get(name, 0)) for name in resources)
        name = entry_name(entry)
        decisions = link("decisions", "decisions", user=name) if kind == "user" else Link("")
        found.append(SubjectUse(_subject_link(name, kind), decisions, bars, f"{running_of(root):,}", share))
    found.sort(key=lambda each: -each.share)
    return Rows.first(found[:MOST_ROWS], len(found))


def _subject_link(name: str, kind: LimitKind) -> Link:
    return user_link(name) if kind is LimitKind.USER else Link(shown(name))
