"""*Queues*: the tree, and the page of one queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from negotiator.app.overview import PoolContents, PoolOverview
from negotiator.queues import ROOT, Queue
from negotiator.queues.model import QueueLimit
from negotiator.queues.names import upwards
from negotiator.queues.quantities import Resources
from negotiator.service.pages.views.applications import ApplicationRow, application_rows
from negotiator.service.pages.views.elements import (
    Bar,
    Link,
    Moment,
    Rows,
    amounts,
    bar,
    link,
    message,
    moment,
    ordered,
    queue_link,
    shown,
)

_NOTHING: Final[Resources] = {}
_MOST_COLUMNS: Final = 4  # resources in the tree; the page of a queue has all


@attrs.frozen
class QueueRow:
    """A queue of the tree, ``depth`` levels below its top.

    ``cells`` are resources with their bars; None for one that it neither uses nor limits.
    """

    depth: int
    name: Link
    cells: tuple[tuple[str, Bar | None], ...]
    applications: str
    state: str
    is_draining: bool
    note: str


@attrs.frozen
class QueueTreeView:
    """The rows of a tree, with the resources of their columns."""

    resources: tuple[str, ...]
    rows: tuple[QueueRow, ...]
    idle: Link


@attrs.frozen
class LimitRow:
    """A limit of users or groups as configured."""

    text: str
    users: str
    groups: str
    resources: str
    applications: str


@attrs.frozen
class QueueView:
    """The page of one queue. ``since`` is None without a state, which has the time of its last change."""

    path: str
    above: tuple[Link, ...]
    bars: tuple[Bar, ...]
    facts: tuple[tuple[str, str], ...]
    since: Moment | None
    limits: tuple[LimitRow, ...]
    below: QueueTreeView | None
    applications: Rows
    all_applications: Link
    decisions: Link
    why: Link


def queue_tree(overview: PoolOverview) -> QueueTreeView:
    """Return the whole tree."""
    return _tree(overview.contents, overview.contents.queues, ROOT)


def _tree(contents: PoolContents, queues: Iterable[Queue], top: str) -> QueueTreeView:
    found = list(queues)
    resources = ordered(
        name for queue in found for name in (*contents.maximum(queue), *contents.used(queue.path))
    )[:_MOST_COLUMNS]
    levels = top.count(".")
    columns = tuple((name, shown(name)) for name in resources)
    rows = (_row(queue, contents, columns, queue.path.count(".") - levels) for queue in found)
    idle = link("why idle jobs get no slot", "idle", by="queue")
    return QueueTreeView(tuple(title for _, title in columns), tuple(rows), idle)


def _row(queue: Queue, contents: PoolContents, columns: Iterable[tuple[str, str]], depth: int) -> QueueRow:
    found = dict(_bars(queue, contents))
    return QueueRow(
        depth,
        queue_link(queue.path, queue.path.rpartition(".")[2]),
        tuple((title, found.get(name)) for name, title in columns),
        _application_count(queue, contents),
        str(queue.state),
        queue.draining,
        "" if queue.managed else "created by a rule",
    )


def _application_count(queue: Queue, contents: PoolContents) -> str:
    running = contents.running_applications(queue.path)
    return f"{running:,} of {queue.config.applications:,}" if queue.config.applications else f"{running:,}"


def _bars(queue: Queue, contents: PoolContents) -> Iterator[tuple[str, Bar]]:
    most, used = contents.maximum(queue), contents.used(queue.path)
    pending, guaranteed = contents.pending.get(queue.path, _NOTHING), queue.config.guaranteed
    others = (name for each in (used, pending, guaranteed) for name, value in each.items() if value)
    for name in dict.fromkeys((*most, *others)):
        yield (
            name,
            bar(
                name,
                used.get(name, 0),
                most.get(name),
                pending=pending.get(name, 0),
                guaranteed=guaranteed.get(name, 0),
                pool=contents.capacity.get(name, 0),
            ),
        )


def queue_page(overview: PoolOverview, queue: Queue) -> QueueView:
    """Return the page of a queue with its applications and those below it."""
    contents, path = overview.contents, queue.path
    prefix = f"{path}."
    below = [each for each in contents.queues if each.path.startswith(prefix)]
    bars = dict(_bars(queue, contents))
    rows: list[ApplicationRow] = application_rows(
        each for each in contents.applications if each.queue == path or each.queue.startswith(prefix)
    )
    return QueueView(
        shown(path),
        tuple(queue_link(each, each.rpartition(".")[2]) for each in reversed(list(upwards(path)))),
        tuple(bars[name] for name in ordered(bars)),
        tuple(_facts(queue, overview)),
        moment(queue.since) if overview.health else None,
        tuple(map(_limit, queue.config.limits)),
        _tree(contents, below, path) if below else None,
        Rows.first(rows, len(rows)),
        link("search them", "applications", queue=path),
        link("decisions", "decisions", queue=path),
        link("why jobs wait", "why", queue=path),
    )


def _facts(queue: Queue, overview: PoolOverview) -> Iterator[tuple[str, str]]:
    config, contents = queue.config, overview.contents
    yield "state", str(queue.state)
    yield "kind", "takes applications" if queue.leaf else "has queues below it"
    yield "origin", "the configuration" if queue.managed else "created by a placement rule"
    yield "running applications", _application_count(queue, contents)
    if config.guaranteed:
        yield "guaranteed", amounts(config.guaranteed)
    left = contents.headrooms[queue.path]
    yield "left, with the queues above", amounts(left) or "nothing"
    for name, value in sorted(overview.queue_values.properties[queue.path].items()):
        yield message(name), message(value)


def _limit(limit: QueueLimit) -> LimitRow:
    return LimitRow(
        message(limit.text),
        ", ".join(map(shown, limit.users)),
        ", ".join(map(shown, limit.groups)),
        amounts(limit.resources),
        f"{limit.applications:,}" if limit.applications else "",
    )
