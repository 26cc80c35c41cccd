"""The queue configuration as it is written: YuniKorn's file format, key by key.

Source: "Scheduler Configuration", Queue Configuration; YuniKorn's documentation, "Partition and Queue Configuration".
A key left empty is one left out. Amounts and names are kept as they are written, with their places: ``checked`` makes
sense of them.
"""

from __future__ import annotations

import attrs

from negotiator.records import Source, Written


@attrs.frozen
class ResourceEntry:
    """``resources:`` of a queue, by resource."""

    guaranteed: dict[str, Written | None] | None = None
    max: dict[str, Written | None] | None = None
    source: Source | None = None


@attrs.frozen
class LimitEntry:
    """One of ``limits:``: so much for each of these users, and for all users of a group together."""

    limit: Written | None = None  # what it is for, in words
    users: tuple[Written, ...] | None = None
    groups: tuple[Written, ...] | None = None
    maxresources: dict[str, Written | None] | None = None
    maxapplications: Written | None = None
    source: Source | None = attrs.field(default=None, eq=False)


@attrs.frozen
class ChildTemplateEntry:
    """What queues that rules create below a queue start with."""

    maxapplications: Written | None = None
    properties: dict[str, Written | None] | None = None
    resources: ResourceEntry | None = None
    source: Source | None = None


@attrs.frozen
class QueueEntry:
    """One queue and all below it."""

    name: Written
    parent: bool | None = None
    resources: ResourceEntry | None = None
    maxapplications: Written | None = None
    properties: dict[str, Written | None] | None = None
    adminacl: Written | None = None
    submitacl: Written | None = None
    childtemplate: ChildTemplateEntry | None = None
    queues: tuple[QueueEntry, ...] | None = None
    limits: tuple[LimitEntry, ...] | None = None
    source: Source | None = None


@attrs.frozen
class FilterEntry:
    """Whom a placement rule is for."""

    type: Written | None = None
    users: tuple[Written, ...] | None = None
    groups: tuple[Written, ...] | None = None
    source: Source | None = None


@attrs.frozen
class RuleEntry:
    """One placement rule."""

    name: Written
    create: bool | None = None
    filter: FilterEntry | None = None
    parent: RuleEntry | None = None
    value: Written | None = None
    source: Source | None = None


@attrs.frozen
class NodeSortEntry:
    """``nodesortpolicy:``, which has no effect here: slots are ranked by the job."""

    type: Written | None = None
    resourceweights: dict[str, Written | None] | None = None
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

    type: Written | None = None
    source: Source | None = None


@attrs.frozen
class PartitionEntry:
    """One partition."""

    name: Written | None = None
    queues: tuple[QueueEntry, ...] | None = None
    placementrules: tuple[RuleEntry, ...] | None = None
    limits: tuple[LimitEntry, ...] | None = None
    preemption: PreemptionEntry | None = None
    nodesortpolicy: NodeSortEntry | None = None
    statedumpfilepath: Written | None = None
    usergroupresolver: ResolverEntry | None = None
    source: Source | None = None


@attrs.frozen
class ConfigurationEntry:
    """The whole file."""

    partitions: tuple[PartitionEntry, ...] | None = None
    checksum: Written | None = None
    source: Source | None = None
