"""The checked queue configuration, and what the jobs of a queue use."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import attrs

from negotiator.queues.acl import NOBODY, Acl
from negotiator.queues.config import RuleEntry
from negotiator.queues.quantities import Resources
from negotiator.records import Source

#: The place of a default that no file configures.
NOWHERE = Source("")
_NO_AMOUNTS: Resources = MappingProxyType({})
_NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


def read_only_amounts(amounts: Resources) -> Resources:
    """Return amounts as a mapping that can't be changed, without a copy: plugins are given these records."""
    return amounts if type(amounts) is MappingProxyType else MappingProxyType(amounts)


def read_only_texts(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Return texts by name as a mapping that can't be changed, without a copy."""
    return texts if type(texts) is MappingProxyType else MappingProxyType(texts)


@attrs.frozen
class QueueLimit:
    """The maximum of each user alone, and of all users of each group together; 0 ``applications`` is unlimited."""

    users: tuple[str, ...]
    groups: tuple[str, ...]
    resources: Resources = attrs.field(converter=read_only_amounts)
    applications: int
    text: str
    source: Source = attrs.field(default=NOWHERE, eq=False)


@attrs.frozen
class ChildTemplate:
    """The initial settings of a queue that a placement rule creates."""

    guaranteed: Resources = attrs.field(converter=read_only_amounts)
    max: Resources = attrs.field(converter=read_only_amounts)
    applications: int
    properties: Mapping[str, str] = attrs.field(converter=read_only_texts)
    property_sources: Mapping[str, Source] = attrs.field(factory=dict, eq=False)

    @property
    def is_empty(self) -> bool:
        """True if it sets nothing: then that of the queue above applies, as for YuniKorn's ``isChildTemplateEmpty``."""
        return not (self.applications or self.guaranteed or self.max or any(self.properties.values()))


@attrs.frozen
class QueueConfig:
    """One managed queue. ``path`` is in lower case; resources that are not listed are unlimited."""

    path: str
    leaf: bool
    submit: Acl = NOBODY
    admin: Acl = NOBODY
    guaranteed: Resources = attrs.field(default=_NO_AMOUNTS, converter=read_only_amounts)
    max: Resources = attrs.field(default=_NO_AMOUNTS, converter=read_only_amounts)
    applications: int = 0
    properties: Mapping[str, str] = attrs.field(default=_NO_PROPERTIES, converter=read_only_texts)
    template: ChildTemplate | None = None
    limits: tuple[QueueLimit, ...] = ()
    children: tuple[QueueConfig, ...] = ()
    source: Source = NOWHERE
    property_sources: Mapping[str, Source] = attrs.field(factory=dict, eq=False)

    def walk(self) -> Iterator[QueueConfig]:
        """Yield the queue and all queues below it, each before its children."""
        waiting = [self]
        while waiting:
            queue = waiting.pop()
            yield queue
            waiting += reversed(queue.children)


@attrs.frozen
class OrderKeyUse:
    """A key that matters only to an order that follows the queues, at its first occurrence.

    ``key`` is ``guaranteed``, ``nodesortpolicy``, ``preemption``, ``quotapreemptionenabled``, or the name of a property of queues; ``notice`` is the
    message if the order of the bundle does not follow it.
    """

    key: str
    notice: str
    source: Source


class NodeSortKind(enum.StrEnum):
    """Which machines are filled first."""

    FAIR = "fair"  # the least used
    BINPACKING = "binpacking"  # the most used


@attrs.frozen
class NodeSortPolicy:
    """``nodesortpolicy:``; ``weights`` are those of resources in the use of a machine, empty for the default."""

    kind: NodeSortKind = NodeSortKind.FAIR
    weights: Mapping[str, float] = attrs.field(factory=dict)
    source: Source = attrs.field(default=NOWHERE, eq=False)


@attrs.frozen
class PartitionConfig:
    """A partition: its queues, its placement rules as written, and what orders that follow the queues read.

    ``preemption`` is False if the partition forbids preemption between queues.
    """

    name: str
    root: QueueConfig
    rules: tuple[RuleEntry, ...] = ()
    source: Source = NOWHERE
    node_sort: NodeSortPolicy = NodeSortPolicy()
    preemption: bool = True
    order_keys: tuple[OrderKeyUse, ...] = attrs.field(default=(), eq=False)

    @property
    def creates_queues(self) -> bool:
        """True if a placement rule, or the rule for its parent, creates queues that the configuration does not name."""
        return any(map(_creates, self.rules))


def _creates(rule: RuleEntry) -> bool:
    return bool(rule.create) or (isinstance(rule.parent, RuleEntry) and _creates(rule.parent))


@attrs.frozen
class QueueUsage:
    """The usage of one queue and those below it: the amount of each resource, and the number of applications."""

    resources: Resources
    applications: int
