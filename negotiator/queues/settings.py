"""The effective settings of queues: the properties that decide an order, with YuniKorn's defaults and inheritance.

The one place that says what a property of a queue means: cycles, commands and the REST interface read ``effective_settings``.

Source: YuniKorn's documentation, "Partition and Queue Configuration", Properties, "Priorities" and "Preemption"; its
``UpdateQueueProperties``, ``mergeProperties`` and ``filterParentProperty``. A managed queue inherits from its parent the properties
that it does not set, with the exceptions of ``QUEUE_SETTINGS``. A queue that a placement rule created has the properties of its template alone,
the recovery queue none.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import attrs

from negotiator.queues.names import RECOVERY, ROOT, parent_of
from negotiator.queues.tree import Queue, QueueTree

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
class QueueSettings:
    """The effective settings of one queue; ``preemption_delay`` is in seconds."""

    sort: SortPolicy = SortPolicy.FIFO
    by_priority: bool = True
    priority: PriorityPolicy = PriorityPolicy.DEFAULT
    offset: int = 0
    preemption: PreemptionPolicy = PreemptionPolicy.DEFAULT
    preemption_delay: float = 30.0


@attrs.frozen
class QueueSetting:
    """A property of queues, and the field of ``QueueSettings`` that it decides.

    ``read`` returns the value of a text, or raises ValueError. ``inherited`` returns the text that a queue without the property gets from that
    of its parent. ``of_parent`` is the value of a queue that takes no applications, whatever its property; None if the property decides.
    """

    field: str
    read: Callable[[str], Any]
    inherited: Callable[[str], str] = str
    of_parent: Any = None


def read_queue_property(key: str, text: str) -> Any:
    """Return the value of a property.

    :raises ValueError: it is invalid; the message says what is expected.
    """
    return QUEUE_SETTINGS[key].read(text)


def read_settings(texts: Mapping[str, str], *, leaf: bool = True) -> QueueSettings:
    """Return the settings of a queue with these properties; an empty or invalid text counts as missing, as in YuniKorn."""
    values = {}
    for key, setting in QUEUE_SETTINGS.items():
        if not leaf and setting.of_parent is not None:
            values[setting.field] = setting.of_parent
        elif texts.get(key):
            try:
                values[setting.field] = setting.read(texts[key])
            except ValueError:
                continue
    return QueueSettings(**values)


def effective_properties(tree: QueueTree) -> dict[str, Mapping[str, str]]:
    """Return the properties of all queues by path, with the inherited ones."""
    found: dict[str, Mapping[str, str]] = {}
    for queue in tree:  # each after its parent
        found[queue.path] = _merged(queue, found.get(parent_of(queue.path), {}))
    return found


def effective_settings(tree: QueueTree) -> dict[str, QueueSettings]:
    """Return the settings of all queues by path."""
    texts = effective_properties(tree)
    return {queue.path: read_settings(texts[queue.path], leaf=queue.leaf) for queue in tree}


def _merged(queue: Queue, above: Mapping[str, str]) -> Mapping[str, str]:
    if queue.path == RECOVERY:
        return {}
    own = queue.config.properties
    if not queue.managed or queue.path == ROOT or not above:
        return own
    inherited = {
        key: QUEUE_SETTINGS[key].inherited(text) if key in QUEUE_SETTINGS else text
        for key, text in above.items()
    }
    return {**inherited, **own}


def duration_text(seconds: float) -> str:
    """Return a length of time as YuniKorn writes it: ``1m30s``, ``2h0m0s``, ``500ms``."""
    nanoseconds = round(seconds * 1e9)
    if nanoseconds < 10**9:
        unit, size = next(
            (each for each in (("ms", 10**6), ("\u00b5s", 10**3)) if nanoseconds >= each[1]), ("ns", 1)
        )
        return f"{_decimal(nanoseconds, size)}{unit}" if nanoseconds else "0s"
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, left = divmod(minutes, 60)
    text = f"{_decimal(rest, 10**9)}s"
    return f"{hours}h{left}m{text}" if hours else f"{minutes}m{text}" if minutes else text


def _decimal(number: int, size: int) -> str:
    whole, part = divmod(number, size)
    digits = f"{part:0{len(str(size)) - 1}}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


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


def _not_inherited(default: str) -> Callable[[str], str]:
    return lambda _: default


def _disabled_only(text: str) -> str:
    return text if text.lower() == PreemptionPolicy.DISABLED else PreemptionPolicy.DEFAULT.value


#: The properties that decide the order, by their names in queues.yaml.
QUEUE_SETTINGS: Final[Mapping[str, QueueSetting]] = MappingProxyType(
    {
        # Queues above the leaves are always compared by what they use.
        SORT_POLICY: QueueSetting("sort", _sort_policy, of_parent=SortPolicy.FAIR),
        SORT_PRIORITY: QueueSetting("by_priority", _sort_priority),
        PRIORITY_POLICY: QueueSetting(
            "priority", _priority_policy, _not_inherited(PriorityPolicy.DEFAULT.value)
        ),
        # Offsets add up on the way to the root.
        PRIORITY_OFFSET: QueueSetting("offset", _offset, _not_inherited("0")),
        PREEMPTION_POLICY: QueueSetting("preemption", _preemption_policy, _disabled_only),
        PREEMPTION_DELAY: QueueSetting(
            "preemption_delay", _duration, of_parent=QueueSettings().preemption_delay
        ),
    }
)
