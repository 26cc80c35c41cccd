"""*Applications*: those of a user, of a queue, or all."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

import attrs

from negotiator.app.overview import ApplicationContents, PoolOverview
from negotiator.service.pages.views.elements import (
    MOST_ROWS,
    Link,
    Moment,
    Rows,
    amounts,
    link,
    message,
    moment,
    queue_link,
    shown,
    user_link,
)


@attrs.frozen
class ApplicationRow:
    """An application."""

    name: str
    user: Link
    group: str
    queue: Link
    state: str
    running: str
    idle: str
    used: str
    pending: str
    submitted: Moment | None
    decisions: Link


@attrs.frozen
class ApplicationsView:
    """The page, with the filter as it was given."""

    user: str
    queue: str
    total: int
    rows: Rows


def applications_page(overview: PoolOverview, user: str, queue: str) -> ApplicationsView:
    """Return the applications of a user and of a queue and all below it; an empty name is any."""
    path = queue.lower()
    found = [
        each
        for each in overview.contents.applications
        if user in {"", each.user} and (not path or each.queue == path or each.queue.startswith(f"{path}."))
    ]
    rows = application_rows(found)
    return ApplicationsView(message(user), message(queue), len(found), Rows.first(rows, len(found)))


def application_rows(found: Iterable[ApplicationContents]) -> list[ApplicationRow]:
    """Return as many rows as a table has, by queue, and by submission in it."""
    first = nsmallest(MOST_ROWS, found, key=lambda each: (each.queue, each.submitted, each.name))
    return [_row(each) for each in first]


def _row(found: ApplicationContents) -> ApplicationRow:
    return ApplicationRow(
        shown(found.name),
        user_link(found.user),
        shown(found.group),
        queue_link(found.queue) if found.queue else Link("none"),
        found.state,
        f"{len(found.running):,}",
        f"{found.idle:,}",
        amounts(found.used),
        amounts(found.pending),
        moment(found.submitted),
        link("decisions", "decisions", job=found.name.rpartition("#")[2], user=found.user),
    )
