"""The checked queue configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from negotiator.queues.acl import NOBODY, Acl
from negotiator.queues.config import RuleEntry
from negotiator.queues.quantities import Resources
from negotiator.records import Source

#: The place of a default that no file configures.
NOWHERE = Source("")


@attrs.frozen
class QueueLimit:
    """The maximum of each user alone, and of all users of each group together; 0 ``applications`` is unlimited."""

    users: tuple[str, ...]
    groups: tuple[str, ...]
    resources: Resources
    applications: int
    text: str
    source: Source = attrs.field(default=NOWHERE, eq=False)


@attrs.frozen
class ChildTemplate:
    """The initial settings of a queue that a placement rule creates."""

    guaranteed: Resources
    max: Resources
    applications: int
    properties: Mapping[str, str]


@attrs.frozen
class QueueConfig:
    """One managed queue. ``path`` is in lower case; resources that are not listed are unlimited."""

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
        """Yield the queue and all queues below it, each before its children."""
        waiting = [self]
        while waiting:
            queue = waiting.pop()
            yield queue
            waiting += reversed(queue.children)


@attrs.frozen
class PartitionConfig:
    """A partition: its queues, and its placement rules as written."""

    name: str
    root: QueueConfig
    rules: tuple[RuleEntry, ...] = ()
    source: Source = NOWHERE
