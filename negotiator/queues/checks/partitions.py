"""Check the whole configuration: partitions, their settings, and settings without effect."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import attrs

from negotiator.queues.checks.findings import Findings
from negotiator.queues.checks.limits import check_levels, check_limits
from negotiator.queues.checks.modes import check_modes
from negotiator.queues.checks.order_keys import order_keys
from negotiator.queues.checks.resources import check_applications, check_resources
from negotiator.queues.checks.structure import build_tree, in_effect
from negotiator.queues.config import ConfigurationEntry, NodeSortEntry, PartitionEntry
from negotiator.queues.model import NOWHERE, NodeSortKind, NodeSortPolicy, PartitionConfig
from negotiator.records import Problem, Source

DEFAULT = "default"
_SORTINGS = ("", "fair", "binpacking")


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
