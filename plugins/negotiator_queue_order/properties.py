"""The properties of queues that decide the order, with YuniKorn's defaults and inheritance.

Source: YuniKorn's documentation, "Partition and Queue Configuration", Properties, "Priorities" and "Preemption"; its
``UpdateQueueProperties`` and ``filterParentProperty``. A managed queue inherits from its parent the properties that it
does not set, but not ``priority.policy`` and ``priority.offset``, and of ``preemption.policy`` only ``disabled``. A queue that a placement rule
created has the properties of its template alone.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import attrs

from negotiator.plugin import RECOVERY, ROOT, QueueTree, parent_of

K = TypeVar("K", bound=enum.StrEnum)

SORT_POLICY = "application.sort.policy"
SORT_PRIORITY = "application.sort.priority"
PRIORITY_POLICY = "priority.policy"
PRIORITY_OFFSET = "priority.offset"
PREEMPTION_POLICY = "preemption.policy"
PREEMPTION_DELAY = "preemption.delay"

#: Priorities are 32-bit integers; the lowest is that of a queue without jobs.
MIN_PRIORITY, MAX_PRIORITY = -(2**31), 2**31 - 1


class SortPolicy(enum.StrEnum):
    """The order of the applications of a leaf queue."""

    FIFO = "fifo"  # by submission time
    FAIR = "fair"  # by what each uses


class PriorityPolicy(enum.StrEnum):
    """What priority the parent of a queue sees."""

    DEFAULT = "default"  # the highest below, plus the offset
    FENCE = "fence"  # the offset alone


class PreemptionPolicy(enum.StrEnum):
    """What may be preempted for, and in, a queue and those below it."""

    DEFAULT = "default"
    FENCE = "fence"  # for queues below it, only what runs below it
    DISABLED = "disabled"


@attrs.frozen
class QueueProperties:
    """The properties of one queue; ``preemption_delay`` is in seconds."""

    sort: SortPolicy = SortPolicy.FIFO
    by_priority: bool = True
    priority: PriorityPolicy = PriorityPolicy.DEFAULT
    offset: int = 0
    preemption: PreemptionPolicy = PreemptionPolicy.DEFAULT
    preemption_delay: float = 30.0


def read_property(key: str, text: str) -> Any:
    """Return the value of a property.

    :raises ValueError: it is invalid; the message says what is expected.
    """
    return _READERS[key][1](text)


def read_properties(texts: Mapping[str, str]) -> QueueProperties:
    """Return the properties of a queue; an empty or invalid text counts as missing, as in YuniKorn."""
    values = {}
    for key, (field, reader) in _READERS.items():
        if texts.get(key):
            try:
                values[field] = reader(texts[key])
            except ValueError:
                continue
    return QueueProperties(**values)


def properties_of(tree: QueueTree) -> dict[str, QueueProperties]:
    """Return the properties of all queues by path."""
    texts: dict[str, Mapping[str, str]] = {}
    for queue in tree:
        own = queue.config.properties
        if queue.managed and queue.path != ROOT:
            own = {**dict(_inherited(texts.get(parent_of(queue.path), {}))), **own}
        texts[queue.path] = own
    return {
        path: QueueProperties() if path == RECOVERY else read_properties(own) for path, own in texts.items()
    }


def _inherited(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, text in texts.items():
        if key in {PRIORITY_POLICY, PRIORITY_OFFSET}:
            continue
        if key == PREEMPTION_POLICY and text.lower() != PreemptionPolicy.DISABLED:
            continue
        yield key, text


def _sort_policy(text: str) -> SortPolicy:
    if text == "stateaware":  # an alias since YuniKorn 1.5
        return SortPolicy.FIFO
    return _one_of(SortPolicy, text)


def _sort_priority(text: str) -> bool:
    if text.lower() not in {"enabled", "disabled"}:
        raise ValueError("expected enabled or disabled")
    return text.lower() == "enabled"


def _priority_policy(text: str) -> PriorityPolicy:
    return _one_of(PriorityPolicy, text.lower())


def _preemption_policy(text: str) -> PreemptionPolicy:
    return _one_of(PreemptionPolicy, text.lower())


def _one_of(kind: type[K], text: str) -> K:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected one of {', '.join(kind)}") from None


def _offset(text: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,20}", text, re.ASCII) is None:
        raise ValueError("expected a whole number")
    if not MIN_PRIORITY <= int(text) <= MAX_PRIORITY:
        raise ValueError(f"expected a number from {MIN_PRIORITY} to {MAX_PRIORITY}")
    return int(text)


_SECONDS = {"ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(ns|us|\u00b5s|ms|s|m|h)", re.ASCII)


def _duration(text: str) -> float:
    parts = _PART.findall(text)
    seconds = math.fsum(float(number) * _SECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text.removeprefix("+"):
        raise ValueError("expected a duration such as 30s, 5m or 1h30m")
    if seconds <= 0:
        raise ValueError("expected a duration of more than 0")
    return seconds


_READERS: Mapping[str, tuple[str, Callable[[str], Any]]] = MappingProxyType(
    {
        SORT_POLICY: ("sort", _sort_policy),
        SORT_PRIORITY: ("by_priority", _sort_priority),
        PRIORITY_POLICY: ("priority", _priority_policy),
        PRIORITY_OFFSET: ("offset", _offset),
        PREEMPTION_POLICY: ("preemption", _preemption_policy),
        PREEMPTION_DELAY: ("preemption_delay", _duration),
    }
)
#: The properties that decide the order.
KNOWN = frozenset(_READERS)
