"""The keys ``queue_turns:`` and ``queue_preemption:`` of ``pool.yaml``."""

from __future__ import annotations

import enum

import attrs


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
