"""The current queues of the pool: those of the configuration, and those that placement rules created.

Source: "Scheduler Configuration", Configuration updates; YuniKorn's partition manager. A managed queue that leaves the
configuration drains: it takes no new application and is removed with its last one. A queue that a rule created is
removed as soon as it is empty.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Self

import attrs

from negotiator.errors import NegotiatorError
from negotiator.queues.model import ChildTemplate, QueueConfig
from negotiator.queues.modes import own_mode
from negotiator.queues.names import ROOT, parent_of, upwards
from negotiator.records import Mode


class QueueState(enum.StrEnum):
    """The state of a queue, as YuniKorn names it."""

    ACTIVE = "Active"
    DRAINING = "Draining"


class QueueChangeKind(enum.StrEnum):
    """The kind of a change of a queue."""

    CREATED = "created"  # by a rule, or by the configuration
    CHANGED = "changed"
    MANAGED = "managed"  # created by a rule; the configuration lists it now
    DRAINING = "draining"  # removed from the configuration
    RESTORED = "restored"  # was draining; the configuration lists it again
    REMOVED = "removed"


@attrs.frozen
class QueueChange:
    """A change of a queue; ``at`` is in seconds since the epoch."""

    path: str
    change: QueueChangeKind
    at: float


class QueueError(NegotiatorError):
    """A queue that can't be created, with a ``code`` for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@attrs.frozen
class Queue:
    """One queue; ``since`` is the time of its last change of state, in seconds since the epoch.

    ``notified`` is True if its users and administrators were notified that it drains.
    """

    config: QueueConfig
    managed: bool
    since: float
    state: QueueState = QueueState.ACTIVE
    notified: bool = False

    @property
    def path(self) -> str:
        """The full path, in lower case."""
        return self.config.path

    @property
    def leaf(self) -> bool:
        """True if it takes applications."""
        return self.config.leaf

    @property
    def draining(self) -> bool:
        """True if it takes no new application and will be removed."""
        return self.state is QueueState.DRAINING


class QueueTree:
    """All queues by path, read-only. Paths ignore case.

    A ``MutableQueueTree`` is a copy that can be changed.
    """

    def __init__(self, queues: Mapping[str, Queue]) -> None:
        self._queues = MappingProxyType(dict(queues))
        self._children: Mapping[str, int] = MappingProxyType(_child_counts(queues))

    @classmethod
    def of(cls, root: QueueConfig, now: float) -> Self:
        """Return the queues of a configuration."""
        return cls({each.path: Queue(each, managed=True, since=now) for each in root.walk()})

    def mutable(self) -> MutableQueueTree:
        """Return a copy that can be changed."""
        return MutableQueueTree(self._queues)

    def __iter__(self) -> Iterator[Queue]:
        """All queues, each before those below it."""
        return iter([self._queues[path] for path in sorted(self._queues, key=lambda path: path.split("."))])

    def __len__(self) -> int:
        return len(self._queues)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueueTree) and self._queues == other._queues

    __hash__ = None  # type: ignore[assignment]

    def get(self, path: str) -> Queue | None:
        """Return the queue of a path, or None."""
        return self._queues.get(path) or self._queues.get(path.lower())

    def nearest(self, path: str) -> Queue:
        """Return the queue of a path, else the lowest existing queue above it; the root for any other path."""
        return next(filter(None, map(self.get, upwards(path))), self._queues[ROOT])

    def mode(self, path: str, key: str) -> Mode:
        """Return the mode of a queue's maxima or limits, by the property: its own, or that of the nearest queue above."""
        queues = filter(None, map(self.get, upwards(path)))
        modes = (own_mode(queue.config.properties, key) for queue in queues)
        return next(filter(None, modes), Mode.ENFORCE)

    def template(self, path: str) -> ChildTemplate | None:
        """Return the first settings of a leaf that a rule creates below a queue: its template, else that of the nearest queue above with one."""
        templates = (queue.config.template for queue in map(self.get, upwards(path)) if queue)
        return next((each for each in templates if each is not None and not each.is_empty), None)

    def follows(self, root: QueueConfig) -> bool:
        """True if each queue is as a configuration has it, or was created by a rule and has no settings.

        False if a queue still drains, or has settings of a template.
        """
        configured = {each.path: each for each in root.walk()}
        return all(
            queue.config == (configured.get(path) or QueueConfig(path, queue.leaf))
            for path, queue in self._queues.items()
        )

    def has_children(self, path: str) -> bool:
        """True if a queue has children."""
        return bool(self._children.get(path))


class _QueueTreeView(QueueTree):
    """A read-only view of the queues of a ``MutableQueueTree``: it shows each change, and makes none."""

    def __init__(self, queues: dict[str, Queue], children: dict[str, int]) -> None:
        self._queues, self._children = MappingProxyType(queues), MappingProxyType(children)


class MutableQueueTree:
    """Queues that can be created, configured anew, and removed. ``view`` is a read-only view of the current queues."""

    def __init__(self, queues: Mapping[str, Queue]) -> None:
        self._queues = dict(queues)
        self._children = _child_counts(queues)
        self.view: QueueTree = _QueueTreeView(self._queues, self._children)

    def create(self, path: str, now: float) -> tuple[QueueChange, ...]:
        """Create a leaf and the missing queues above it.

        :raises QueueError: ``create_under_leaf``, ``create_under_draining``.
        """
        path = path.lower()
        top = self.view.nearest(path)
        if top.path == path:
            return ()
        if top.leaf:
            raise QueueError("create_under_leaf", f"{path} can't be made: {top.path} is a leaf")
        if top.draining:
            raise QueueError("create_under_draining", f"{path} can't be made: {top.path} is draining")
        missing = [each for each in upwards(path) if each not in self._queues]
        template = self.view.template(top.path)
        for each in reversed(missing):
            leaf = each == path
            self._put(Queue(_dynamic(each, template, leaf=leaf), managed=False, since=now))
        return tuple(QueueChange(each, QueueChangeKind.CREATED, now) for each in reversed(missing))

    def undo(self, created: Sequence[QueueChange]) -> None:
        """Remove queues that ``create`` created since, all of them without applications.

        :param created: the changes that ``create`` returned, in their order.
        """
        for change in reversed(created):
            del self._queues[change.path]
            self._count(change.path, -1)

    def apply(self, root: QueueConfig, now: float) -> tuple[QueueChange, ...]:
        """Apply a new configuration; running applications stay."""
        changes = []
        wanted = {each.path: each for each in root.walk()}
        for path, config in wanted.items():
            old = self._queues.get(path)
            change = _difference(old, config)
            since = (
                now
                if old is None or change in {QueueChangeKind.MANAGED, QueueChangeKind.RESTORED}
                else old.since
            )
            self._put(Queue(config, managed=True, since=since))
            if change is not None:
                changes.append(QueueChange(path, change, now))
        for path in sorted(self._queues.keys() - wanted.keys()):
            changes += self._drain(path, now)
        return tuple(changes)

    def mark_notified(self, path: str) -> None:
        """Note that people were notified that a queue drains; nothing if it is gone."""
        if path in self._queues:
            self._queues[path] = attrs.evolve(self._queues[path], notified=True)

    def renew_templates(self) -> None:
        """Apply the current templates to the queues that rules created."""
        for path, queue in self._queues.items():
            if not queue.managed and queue.leaf:
                self._queues[path] = attrs.evolve(
                    queue, config=_dynamic(path, self.view.template(parent_of(path)), leaf=True)
                )

    def clean(self, busy: Collection[str], now: float) -> tuple[QueueChange, ...]:
        """Remove empty queues that drain or that a rule created, from the bottom up.

        :param busy: the paths of the queues that have applications.
        """
        removed = []
        for path in sorted(self._queues, key=lambda each: (-each.count("."), each)):
            queue = self._queues[path]
            if (
                (queue.draining or not queue.managed)
                and path not in busy
                and not self.view.has_children(path)
            ):
                del self._queues[path]
                self._count(path, -1)
                removed.append(QueueChange(path, QueueChangeKind.REMOVED, now))
        return tuple(removed)

    def _drain(self, path: str, now: float) -> Iterator[QueueChange]:
        queue = self._queues[path]
        if queue.managed and not queue.draining:
            self._queues[path] = attrs.evolve(queue, state=QueueState.DRAINING, since=now)
            yield QueueChange(path, QueueChangeKind.DRAINING, now)

    def _put(self, queue: Queue) -> None:
        if queue.path not in self._queues:
            self._count(queue.path, 1)
        self._queues[queue.path] = queue

    def _count(self, path: str, by: int) -> None:
        parent = parent_of(path)
        self._children[parent] = self._children.get(parent, 0) + by


def _child_counts(paths: Iterable[str]) -> dict[str, int]:
    """Return the number of queues directly below each queue."""
    counts: dict[str, int] = {}
    for path in paths:
        parent = parent_of(path)
        counts[parent] = counts.get(parent, 0) + 1
    return counts


def _dynamic(path: str, template: ChildTemplate | None, *, leaf: bool) -> QueueConfig:
    if template is None or not leaf:
        return QueueConfig(path, leaf)
    return QueueConfig(
        path,
        leaf,
        guaranteed=template.guaranteed,
        max=template.max,
        applications=template.applications,
        properties=template.properties,
    )


def _difference(old: Queue | None, config: QueueConfig) -> QueueChangeKind | None:
    if old is None:
        return QueueChangeKind.CREATED
    if not old.managed:
        return QueueChangeKind.MANAGED
    if old.draining:
        return QueueChangeKind.RESTORED
    same = attrs.evolve(old.config, source=config.source, children=(), template=None) == attrs.evolve(
        config, children=(), template=None
    )
    return None if same and old.config.template == config.template else QueueChangeKind.CHANGED
