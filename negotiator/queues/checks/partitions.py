"""Check the whole configuration: partitions, their settings, and settings without effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from negotiator.queues.checks.findings import Findings
from negotiator.queues.checks.limits import check_levels, check_limits
from negotiator.queues.checks.resources import check_applications, check_resources
from negotiator.queues.checks.structure import build_tree, in_effect
from negotiator.queues.config import ConfigurationEntry, NodeSortEntry, PartitionEntry, QueueEntry
from negotiator.queues.model import PartitionConfig
from negotiator.records import Problem, Source

DEFAULT = "default"
_NOT_YET = "have no effect here yet: no queue is preferred"
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
    if entry.nodesortpolicy is not None:
        _node_sorting(entry.nodesortpolicy, findings)
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
    for source, message in _without_effect(entry):
        findings.notice(source, message)
    return PartitionConfig(name, in_effect(root), entry.placementrules or (), entry.source or Source(""))


def _node_sorting(entry: NodeSortEntry, findings: Findings) -> None:
    kind = entry.type.text if entry.type else ""
    if kind not in _SORTINGS:
        source = entry.type.source if entry.type else entry.source
        message = f"unknown node sorting policy {kind[:80]!r}"
        findings.error("node_sort_policy_unknown", source, message, "use fair or binpacking")
    for resource, written in (entry.resourceweights or {}).items():
        source = written.source if written else entry.source
        try:
            weight = float(written.text if written else "")
        except ValueError:
            findings.error("yaml_schema", source, f"the weight of {resource[:80]} must be a number")
            continue
        if weight < 0:
            findings.error("node_weight_negative", source, f"the weight of {resource[:80]} is negative")


def _without_effect(entry: PartitionEntry) -> Iterator[tuple[Source | None, str]]:
    """Keys that are accepted and have no effect: each is reported once, at its first occurrence."""
    here = "has no effect here"
    without_effect = {
        "nodesortpolicy": (entry.nodesortpolicy, f"{here}: slots are ranked by the job, then by the pool"),
        "preemption": (entry.preemption, f"{here}: no job is preempted"),
        "statedumpfilepath": (entry.statedumpfilepath, here),
        "usergroupresolver": (entry.usergroupresolver, f"{here}: see groups: in pool.yaml"),
    }
    for key, (value, message) in without_effect.items():
        if value is not None:
            yield value.source, f"{key} {message}"
    seen: set[str] = set()
    for queue in _walk(entry.queues or ()):
        for key, source, message in _of_queue(queue):
            if key not in seen:
                seen.add(key)
                yield source or queue.source, message


def _of_queue(queue: QueueEntry) -> Iterator[tuple[str, Source | None, str]]:
    """Yield the keys of one queue that have no effect, with their places."""
    resources = queue.resources
    if resources is not None and resources.guaranteed:
        yield "guaranteed", resources.source, f"guaranteed resources {_NOT_YET}, in any queue"
    for key, value in (queue.properties or {}).items():
        source = value.source if value else queue.source
        yield f"property {key}", source, f"the property {key[:80]} has no effect here, in any queue"


def _walk(entries: Sequence[QueueEntry]) -> Iterator[QueueEntry]:
    waiting = list(reversed(entries))
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting += reversed(entry.queues or ())
