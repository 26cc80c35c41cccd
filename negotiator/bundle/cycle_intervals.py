"""When the next cycle of a live pool begins, by HTCondor's settings and with its defaults.

Source: HTCondor manual, "Configuration Macros", condor_negotiator; the timer of ``Matchmaker::negotiationTime``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from negotiator.bundle.nodes import MapEntry, is_unset
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.paths import no_files
from negotiator.records import Problem

#: The settings by field, and the least value of each in seconds.
_KNOBS: Final = MappingProxyType(
    {
        "interval": ("NEGOTIATOR_INTERVAL", 1),
        "minimum": ("NEGOTIATOR_MIN_INTERVAL", 0),
        "delay": ("NEGOTIATOR_CYCLE_DELAY", 0),
    }
)
#: The least value of each setting in seconds.
LEAST_SECONDS: Final = MappingProxyType(dict(_KNOBS.values()))
INTERVAL_KNOBS: Final = tuple(LEAST_SECONDS)


@attrs.frozen
class CycleIntervals:
    """Seconds between cycles: ``interval`` and ``minimum`` from beginning to beginning, ``delay`` from an end to the next beginning.

    ``minimum`` is for a cycle that somebody requested (RESCHEDULE).
    """

    interval: float = 60
    minimum: float = 5
    delay: float = 20

    @classmethod
    def every(cls, seconds: float, requested: CycleIntervals | None = None) -> CycleIntervals:
        """Return intervals of exactly this length, however long a cycle takes.

        :param requested: the least interval of a requested cycle is that of these, or ``seconds`` if that is less.
        """
        minimum = seconds if requested is None else min(requested.minimum, seconds)
        return cls(seconds, minimum, 0)

    def due(self, begun: float, ended: float) -> float:
        """Return when the cycle after one that began and ended at these times begins, without a request."""
        return max(begun + self.interval, ended + self.delay)

    def earliest(self, begun: float, ended: float) -> float:
        """Return when the cycle after one that began and ended at these times begins, on request."""
        return min(self.due(begun, ended), max(begun + self.minimum, ended + self.delay))


def read_cycle_intervals(
    entries: Mapping[str, MapEntry],
) -> tuple[CycleIntervals | None, tuple[Problem, ...]]:
    """Return the intervals of a bundle, None if one is invalid, and their problems.

    :param entries: the values of the bundle by key.
    """
    builder = ObjectBuilder(no_files)
    found: dict[str, int] = {}
    for field, (knob, least) in _KNOBS.items():
        if knob not in entries or is_unset(entries[knob].value):
            continue
        entry = entries[knob]
        value = builder.value(entry.value, int)
        if value is not INVALID and value < least:
            message = f"{knob} must be at least {least} s, not {value}"
            builder.problems.append(entry.value.file.error(entry.value.at, message))
        found[field] = value
    if builder.problems:
        return None, tuple(builder.problems)
    return CycleIntervals(**found), ()
