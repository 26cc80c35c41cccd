"""The key ``queue_turns:`` of ``pool.yaml``."""

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
class QueueOrderSettings:
    """What ``order: queues`` reads of ``pool.yaml``."""

    queue_turns: QueueTurns = QueueTurns.BATCHED
