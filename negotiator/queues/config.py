"""The queue configuration as written: YuniKorn's file format, key by key.

Source: "Scheduler Configuration", Queue Configuration; YuniKorn's documentation, "Partition and Queue Configuration".
An empty key counts as a missing one. Amounts and names are texts with their places; ``negotiator.queues.checks``
interprets them.
"""

from __future__ import annotations

import attrs

from negotiator.records import ScalarText, Source


@attrs.frozen
class ResourceEntry:
    """``resources:`` of a queue, by resource."""

    guaranteed: dict[str, ScalarText | None] | None = None
    max: dict[str, ScalarText | None] | None = None
    source: Source | None = None


@attrs.frozen
class LimitEntry:
    """One of ``limits:``: the maximum of each of these users alone, and of all users of a group together."""

    limit: ScalarText | None = None  # a description
    users: tuple[ScalarText, ...] | None = None
    groups: tuple[ScalarText, ...] | None = None
    maxresources: dict[str, ScalarText | None] | None = None
    maxapplications: ScalarText | None = None
    source: Source | None = attrs.field(default=None, eq=False)


@attrs.frozen
class ChildTemplateEntry:
    """The initial settings of queues that placement rules create below a queue."""

    maxapplications: ScalarText | None = None
    properties: dict[str, ScalarText | None] | None = None
    resources: ResourceEntry | None = None
    source: Source | None = None


@attrs.frozen
class QueueEntry:
    """One queue and all queues below it."""

    name: ScalarText
    parent: bool | None = None
    resources: ResourceEntry | None = None
    maxapplications: ScalarText | None = None
    properties: dict[str, ScalarText | None] | None = None
    adminacl: ScalarText | None = None
    submitacl: ScalarText | None = None
    childtemplate: ChildTemplateEntry | None = None
    queues: tuple[QueueEntry, ...] | None = None
    limits: tuple[LimitEntry, ...] | None = None
    source: Source | None = None


@attrs.frozen
class FilterEntry:
    """The users and groups that a placement rule applies to."""

    type: ScalarText | None = None
    users: tuple[ScalarText, ...] | ScalarText | None = None
    groups: tuple[ScalarText, ...] | ScalarText | None = None
    source: Source | None = None


@attrs.frozen
class RuleEntry:
    """One placement rule; ``parent`` as a text is a path from the root on, or the name of a rule."""

    name: ScalarText
    create: bool | None = None
    filter: FilterEntry | None = None
    parent: RuleEntry | ScalarText | None = None
    value: ScalarText | None = None
    source: Source | None = None


@attrs.frozen
class NodeSortEntry:
    """``nodesortpolicy:``; no effect here, because jobs rank slots."""

    type: ScalarText | None = None
    resourceweights: dict[str, ScalarText | None] | None = None
    source: Source | None = None


@attrs.frozen
class PreemptionEntry:
    """``preemption:``."""

    enabled: bool | None = None
    quotapreemptionenabled: bool | None = None
    source: Source | None = None


@attrs.frozen
class ResolverEntry:
    """``usergroupresolver:`` of earlier versions."""

    type: ScalarText | None = None
    source: Source | None = None


@attrs.frozen
class PartitionEntry:
    """One partition."""

    name: ScalarText | None = None
    queues: tuple[QueueEntry, ...] | None = None
    placementrules: tuple[RuleEntry, ...] | None = None
    limits: tuple[LimitEntry, ...] | None = None
    preemption: PreemptionEntry | None = None
    nodesortpolicy: NodeSortEntry | None = None
    statedumpfilepath: ScalarText | None = None
    usergroupresolver: ResolverEntry | None = None
    source: Source | None = None


@attrs.frozen
class ConfigurationEntry:
    """The whole file."""

    partitions: tuple[PartitionEntry, ...] | None = None
    checksum: ScalarText | None = None
    source: Source | None = None
