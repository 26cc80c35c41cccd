"""The modes of the maxima and the limits of queues: properties of queues, which YuniKorn ignores.

A queue without the property has the mode of the queue above it; the root enforces. A queue that a placement rule created has
that of its template before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from negotiator.queues.model import QueueConfig
from negotiator.queues.names import parent_of
from negotiator.records import Mode

#: All properties of this program begin with it.
PREFIX: Final = "negotiator."
#: The mode of ``resources: max:`` and ``maxapplications:`` of a queue.
MAXIMA_MODE: Final = "negotiator.max.mode"
#: The mode of ``limits:`` of a queue.
LIMITS_MODE: Final = "negotiator.limits.mode"
PROPERTIES: Final = (MAXIMA_MODE, LIMITS_MODE)


def own_mode(properties: Mapping[str, str], key: str) -> Mode | None:
    """Return the mode that a queue sets; None if it sets none, or an invalid one, which ``check`` refuses."""
    text = properties.get(key)
    return Mode(text) if text in set(Mode) else None


def configured_modes(root: QueueConfig, key: str) -> dict[str, Mode]:
    """Return the modes of all queues of a configuration, by path."""
    modes: dict[str, Mode] = {}
    for queue in root.walk():
        inherited = modes.get(parent_of(queue.path), Mode.ENFORCE)
        modes[queue.path] = own_mode(queue.properties, key) or inherited
    return modes
