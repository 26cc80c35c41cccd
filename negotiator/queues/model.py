"""The queue configuration, checked: what the scheduler works with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from negotiator.queues.acl import NOBODY, Acl
from negotiator.queues.config import RuleEntry
from negotiator.queues.quantities import Resources
from negotiator.records import Source

#: The place of what nobody wrote.
NOWHERE = Source("")


@attrs.frozen
class QueueLimit:
    """So much for each user alone, and for all users of each group together. ``applications`` 0 is no limit."""

    users: tuple[str, ...]
    groups: tuple[str, ...]
    resources: Resources
    applications: int
    text: str
    source: Source = attrs.field(default=NOWHERE, eq=False)


@attrs.frozen
class ChildTemplate:
    """What a queue that rules create starts with."""

    guaranteed: Resources
    max: Resources
    applications: int
    properties: Mapping[str, str]


@attrs.frozen
class QueueConfig:
    """One managed queue. ``path`` is in lower case; amounts that are not named are not limited."""

    path: str
    leaf: bool
    submit: Acl = NOBODY
    admin: Acl = NOBODY
    guaranteed: Resources = attrs.field(factory=dict)
    max: Resources = attrs.field(factory=dict)
    applications: int = 0
    properties: Mapping[str, str] = attrs.field(factory=dict)
    template: ChildTemplate | None = None
    limits: tuple[QueueLimit, ...] = ()
    children: tuple[QueueConfig, ...] = ()
    source: Source = NOWHERE

    def walk(self) -> Iterator[QueueConfig]:
        """The queue and all below it, each before its children."""
        waiting = [self]
        while waiting:
            queue = waiting.pop()
            yield queue
            waiting += reversed(queue.children)


@attrs.frozen
class PartitionConfig:
    """A partition: its queues, and its placement rules as they are written."""

    name: str
    root: QueueConfig
    rules: tuple[RuleEntry, ...] = ()
    source: Source = NOWHERE
