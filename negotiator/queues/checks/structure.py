"""Check the whole configuration: partitions and their settings, and the queue tree of each.

Names, duplicates, the root, access control lists, the amounts of each queue, settings without effect, and keys that matter only to an order that
follows the queues.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from negotiator.queues.acl import HINT, NOBODY, Acl, AclError
from negotiator.queues.checks.findings import Findings
from negotiator.queues.checks.limits import (
    check_applications,
    check_levels,
    check_limits,
    check_modes,
    check_resources,
)
from negotiator.queues.config import (
    ChildTemplateEntry,
    ConfigurationEntry,
    NodeSortEntry,
    PartitionEntry,
    QueueEntry,
)
from negotiator.queues.model import (
    NOWHERE,
    ChildTemplate,
    NodeSortKind,
    NodeSortPolicy,
    OrderKeyUse,
    PartitionConfig,
    QueueConfig,
)
from negotiator.queues.modes import PREFIX
from negotiator.queues.names import LONGEST_PATH, QUEUE_NAME, RECOVERY, ROOT, below, is_queue_name
from negotiator.queues.quantities import is_zero
from negotiator.records import Problem, ScalarText, Source

GUARANTEED = "guaranteed"
NODE_SORT = "nodesortpolicy"
PREEMPTION = "preemption"
QUOTA_PREEMPTION = "quotapreemptionenabled"
_IGNORED = "has no effect here"
DEFAULT = "default"
_SORTINGS = ("", "fair", "binpacking")


def order_keys(entry: PartitionEntry) -> tuple[OrderKeyUse, ...]:
    """Return the keys that a partition uses, each at its first occurrence."""
    found: dict[str, OrderKeyUse] = {}
    for use in _uses(entry):
        found.setdefault(use.key, use)
    return tuple(found.values())


def _uses(entry: PartitionEntry) -> Iterator[OrderKeyUse]:
    preemption = entry.preemption
    for key, value in ((NODE_SORT, entry.nodesortpolicy), (PREEMPTION, preemption)):
        if value is not None:
            yield OrderKeyUse(key, f"{key} {_IGNORED}", value.source or NOWHERE)
    if preemption is not None and preemption.quotapreemptionenabled is not None:
        message = f"{QUOTA_PREEMPTION} {_IGNORED}"
        yield OrderKeyUse(QUOTA_PREEMPTION, message, preemption.source or NOWHERE)
    for queue in _walk(entry.queues or ()):
        for each in (queue, queue.childtemplate):
            if each is None:
                continue
            if each.resources is not None and each.resources.guaranteed:
                source = each.resources.source or each.source
                yield OrderKeyUse(
                    GUARANTEED, "guaranteed resources have no effect here, in any queue", source or NOWHERE
                )
            yield from _properties(each.properties or {}, each.source)


def _properties(properties: Mapping[str, ScalarText | None], where: Source | None) -> Iterator[OrderKeyUse]:
    for key, value in properties.items():
        if key.startswith(PREFIX):
            continue
        source = value.source if value else where
        yield OrderKeyUse(key, f"the property {key[:80]} {_IGNORED}, in any queue", source or NOWHERE)


def _walk(entries: Sequence[QueueEntry]) -> Iterator[QueueEntry]:
    waiting = list(reversed(entries))
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting += reversed(entry.queues or ())


def build_tree(entries: Sequence[QueueEntry], source: Source, findings: Findings) -> QueueConfig:
    """Return the queue tree of a partition; a missing root queue is added.

    :param source: the place of the partition.
    """
    if len(entries) == 1 and entries[0].name.text.lower() == ROOT:
        top = entries[0]
        resources = top.resources
        if resources is not None and (resources.guaranteed is not None or resources.max is not None):
            message = "resources of the root queue can't be set: it has those of the pool"
            findings.error(
                "root_resources_set", resources.source or top.source, message, "set them on the queues below"
            )
        return _queue(top, ROOT, findings)
    children = _children(ROOT, entries, findings)
    for entry in entries:
        if entry.name.text.lower() == ROOT:
            message = "root beside other queues is the queue root.root, as in YuniKorn: its lists do not open the others"
            findings.warning(entry.name.source, message, "put the other queues below root: queues:")
    source = (entries[0].source if entries else None) or source
    return QueueConfig(path=ROOT, leaf=False, children=children, source=source)


def in_effect(queue: QueueConfig) -> QueueConfig:
    """Return the queue and all queues below it without maxima of only zeros.

    YuniKorn's checks compare such a maximum with others, but its queues ignore it.
    """
    children = tuple(in_effect(child) for child in queue.children)
    return attrs.evolve(queue, children=children, max={} if is_zero(queue.max) else queue.max)


def _queue(entry: QueueEntry, path: str, findings: Findings) -> QueueConfig:
    guaranteed = maximum = None
    if entry.resources is not None:
        guaranteed = findings.resources(entry.resources.guaranteed, entry.resources.source)
        maximum = findings.resources(entry.resources.max, entry.resources.source)
        if maximum is None and entry.limits:
            message = f"the limits of {path} can't be compared with its maximum, which is invalid"
            findings.error("limit_queue_max_unparsable", entry.limits[0].source, message)
        if maximum and not any(maximum.values()):
            findings.warning(
                entry.resources.source,
                f"{path}: a maximum of zero has no effect",
                "close a queue by its ACLs",
            )
    children = _children(path, entry.queues or (), findings)
    leaf = not (children or entry.parent or path == ROOT)
    if entry.parent is False and not leaf:
        findings.warning(
            entry.source, f"{path} has children, so it is a parent queue", "remove parent: false"
        )
    if entry.childtemplate is not None and leaf:
        findings.warning(entry.childtemplate.source, f"{path} is a leaf: its childtemplate has no effect")
    return QueueConfig(
        path=path,
        leaf=leaf,
        submit=_acl("submitacl", entry.submitacl, findings),
        admin=_acl("adminacl", entry.adminacl, findings),
        guaranteed=guaranteed or {},
        max=maximum or {},
        applications=findings.count("maxapplications", entry.maxapplications),
        properties=_texts(entry.properties),
        property_sources=_sources(entry.properties),
        template=_template(entry.childtemplate, findings),
        limits=check_limits(entry.limits or (), findings),
        children=children,
        source=entry.source or Source(""),
    )


def _children(path: str, entries: Sequence[QueueEntry], findings: Findings) -> tuple[QueueConfig, ...]:
    seen: dict[str, Source] = {}
    children = []
    for entry in entries:
        name, source = entry.name.text, entry.name.source
        if not is_queue_name(name):
            hint = "dots separate levels: nest the queues" if "." in name else QUEUE_NAME
            findings.error("invalid_queue_name", source, f"invalid queue name {name[:80]!r}", hint)
        elif len(below(path, name)) > LONGEST_PATH >= len(path):  # reported once, not for each queue below
            message = f"the path of {name} has more than {LONGEST_PATH} characters"
            findings.error("invalid_queue_name", source, message, "use shorter names or fewer levels")
        folded = name.lower()
        if folded in seen:
            message = f"duplicate queue {name!r} below {path}; the first is in {seen[folded]}"
            findings.error("duplicate_queue", source, message, "names ignore case")
        seen.setdefault(folded, source)
        if below(path, folded) == RECOVERY:
            findings.warning(
                source, f"{RECOVERY} is reserved for forced applications that no rule places", "rename it"
            )
        children.append(_queue(entry, below(path, folded), findings))
    return tuple(children)


def _template(entry: ChildTemplateEntry | None, findings: Findings) -> ChildTemplate | None:
    if entry is None:
        return None
    guaranteed = maximum = None
    if entry.resources is not None:
        guaranteed = findings.resources(entry.resources.guaranteed, entry.resources.source)
        maximum = findings.resources(entry.resources.max, entry.resources.source)
    applications = findings.count("maxapplications", entry.maxapplications)
    maximum = {} if maximum is None or is_zero(maximum) else maximum
    texts, sources = _texts(entry.properties), _sources(entry.properties)
    return ChildTemplate(guaranteed or {}, maximum, applications, texts, sources)


def _acl(key: str, written: ScalarText | None, findings: Findings) -> Acl:
    if written is None:
        return NOBODY
    try:
        acl = Acl.parse(written.text)
    except AclError as error:
        findings.error("acl_syntax", written.source, f"{key}: {error}", HINT)
        return NOBODY
    if acl.ignored:
        names = ", ".join(repr(name[:40]) for name in acl.ignored[:5])
        findings.warning(
            written.source, f"{key}: invalid names of users or groups, which never match: {names}", HINT
        )
    return acl


def _texts(written: dict[str, ScalarText | None] | None) -> dict[str, str]:
    return {key: value.text if value else "" for key, value in (written or {}).items()}


def _sources(written: dict[str, ScalarText | None] | None) -> dict[str, Source]:
    return {key: value.source for key, value in (written or {}).items() if value}


def check_configuration(
    entry: ConfigurationEntry, wanted: str = DEFAULT
) -> tuple[PartitionConfig | None, tuple[Problem, ...]]:
    """Return the partition of the pool, and the problems of all partitions.

    None if no partition has that name: the pool then has the default configuration.
    """
    findings = Findings()
    partitions: dict[str, PartitionConfig | None] = {}
    for each in entry.partitions or ():
        name = (each.name.text if each.name else "").lower() or DEFAULT
        if name in partitions:
            message = f"duplicate partition {name}"
            findings.error("duplicate_partition", each.name.source if each.name else each.source, message)
        partition = _partition(each, name, findings)
        partitions.setdefault(name, partition)
        if name != wanted:
            findings.notice(
                each.source, f"partition {name} has no effect here: the pool is partition {wanted}"
            )
    if partitions and wanted not in partitions:
        message = f"missing partition {wanted}, which is the pool's"
        hint = f"the partitions are: {', '.join(partitions)}; choose one in pool.yaml (placement: partition:)"
        findings.error("partition_missing", entry.source, message, hint)
    return partitions.get(wanted), tuple(findings.problems)


def _partition(entry: PartitionEntry, name: str, findings: Findings) -> PartitionConfig | None:
    if entry.queues is None:
        findings.error(
            "no_queues", entry.source, f"partition {name} has no queues", "configure at least the root queue"
        )
        return None
    node_sort = _node_sorting(entry.nodesortpolicy, findings)
    root = build_tree(entry.queues, entry.source or Source(""), findings)
    limits = check_limits(entry.limits or (), findings)
    if limits and root.limits and limits != root.limits:
        message = f"the limits of partition {name} are not those of its root queue ({root.source})"
        source = (entry.limits or ())[0].source
        findings.error(
            "limits_partition_root_differ", source, message, "both mean the same: configure them once"
        )
    root = attrs.evolve(root, limits=root.limits or limits)
    check_resources(root, findings)
    check_applications(root, findings)
    check_levels(root, findings)
    check_modes(root, findings)
    for source, message in _without_effect(entry):
        findings.notice(source, message)
    preemption = entry.preemption is None or entry.preemption.enabled is not False
    return PartitionConfig(
        *(name, in_effect(root), entry.placementrules or (), entry.source or Source("")),
        node_sort=node_sort,
        preemption=preemption,
        order_keys=order_keys(entry),
    )


def _node_sorting(entry: NodeSortEntry | None, findings: Findings) -> NodeSortPolicy:
    if entry is None:
        return NodeSortPolicy()
    kind = entry.type.text if entry.type else ""
    if kind not in _SORTINGS:
        source = entry.type.source if entry.type else entry.source
        message = f"unknown node sorting policy {kind[:80]!r}"
        findings.error("node_sort_policy_unknown", source, message, "use fair or binpacking")
        kind = ""
    weights = {}
    for resource, written in (entry.resourceweights or {}).items():
        source = written.source if written else entry.source
        text = written.text if written else ""
        try:
            weights[resource] = float(text)
        except ValueError:
            findings.error("yaml_schema", source, f"the weight of {resource[:80]} must be a number")
            continue
        if re.match(r"[-+]?0[0-9]", text, re.ASCII):  # YAML reads 010 as 8
            message = f"the weight of {resource[:80]} has leading zeros"
            findings.error("yaml_schema", source, message, "remove them")
        if weights[resource] < 0:
            findings.error("node_weight_negative", source, f"the weight of {resource[:80]} is negative")
        elif not math.isfinite(weights[resource]):
            findings.error("yaml_schema", source, f"the weight of {resource[:80]} must be finite")
    return NodeSortPolicy(NodeSortKind(kind or NodeSortKind.FAIR), weights, entry.source or NOWHERE)


def _without_effect(entry: PartitionEntry) -> Iterator[tuple[Source | None, str]]:
    """Yield the keys that are accepted and have no effect under any order."""
    here = "has no effect here"
    if entry.statedumpfilepath is not None:
        yield entry.statedumpfilepath.source, f"statedumpfilepath {here}"
    if entry.usergroupresolver is not None:
        yield entry.usergroupresolver.source, f"usergroupresolver {here}: see groups: in pool.yaml"
