"""The keys of a partition that matter only to an order that follows the queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from negotiator.queues.config import PartitionEntry, QueueEntry
from negotiator.queues.model import NOWHERE, OrderKeyUse
from negotiator.queues.modes import PREFIX
from negotiator.records import ScalarText, Source

GUARANTEED = "guaranteed"
NODE_SORT = "nodesortpolicy"
PREEMPTION = "preemption"
QUOTA_PREEMPTION = "quotapreemptionenabled"
_IGNORED = "has no effect here"


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
