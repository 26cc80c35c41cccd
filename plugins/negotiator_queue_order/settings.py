"""The keys ``queue_turns:`` and ``queue_preemption:`` of ``pool.yaml``, and the properties of queues that decide the order.

YuniKorn replaces invalid properties by the default: each is reported.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping

import attrs

from negotiator.plugin import (
    QUEUE_SETTINGS,
    SORT_POLICY,
    PartitionConfig,
    Problem,
    Severity,
    Source,
    printable,
    read_queue_property,
)


class QueueTurns(enum.StrEnum):
    """How many jobs may get slots before the queues are compared again."""

    #: One job at a time where queues or applications alternate, as YuniKorn does.
    EXACT = "exact"
    #: Up to an eighth of what the queue got before, and of what is left for each queue.
    BATCHED = "batched"


@attrs.frozen
class QueuePreemption:
    """When queues below their guaranteed resources may end jobs of queues above theirs.

    ``threshold`` is the part of the pool that must be in use, of the resource of which the largest part is; ``interval`` is the
    time between two checks in seconds.

    Source: "Scheduler Configuration", Pre-emption related configuration; the interval is YuniKorn's.
    """

    threshold: float = attrs.field(
        default=0.0, validator=[attrs.validators.ge(0.0), attrs.validators.le(1.0)]
    )
    interval: float = attrs.field(default=15.0, validator=attrs.validators.ge(0.0))


@attrs.frozen
class QueueOrderSettings:
    """What ``order: queues`` reads of ``pool.yaml``."""

    queue_turns: QueueTurns = QueueTurns.BATCHED
    queue_preemption: QueuePreemption = QueuePreemption()


def check_queues(partition: PartitionConfig) -> Iterator[Problem]:
    """Yield the problems of the properties of all queues and templates."""
    for queue in partition.root.walk():
        yield from _properties(queue.path, queue.properties, queue.property_sources)
        if queue.template is not None:
            template = queue.template
            yield from _properties(
                f"childtemplate of {queue.path}", template.properties, template.property_sources
            )


def _properties(where: str, texts: Mapping[str, str], sources: Mapping[str, Source]) -> Iterator[Problem]:
    for key, text in texts.items():
        if key not in QUEUE_SETTINGS or not text:
            continue
        source = sources.get(key, Source(""))
        if (key, text) == (SORT_POLICY, "stateaware"):
            message = f"{where}: {key} stateaware is the same as fifo"
            yield Problem(Severity.WARNING, source, message, "write fifo")
        try:
            read_queue_property(key, text)
        except ValueError as error:
            message = f"{where}: invalid {key} {printable(text[:80])}"
            yield Problem(Severity.ERROR, source, message, str(error))
