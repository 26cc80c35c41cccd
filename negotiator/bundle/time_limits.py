"""The time limits of a cycle, and when the next cycle of a live pool begins, by their names in HTCondor's configuration, with its defaults.

Source: HTCondor manual, "Configuration Macros", condor_negotiator; the timer of ``Matchmaker::negotiationTime``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from negotiator.bundle.folder import no_files
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.text import MapEntry, is_unset
from negotiator.hooks.turn_time import TimeLimit
from negotiator.records import Problem, Source

#: The settings, by what they bound.
TIME_KNOBS: Final = MappingProxyType(
    {
        TimeLimit.CYCLE: "NEGOTIATOR_MAX_TIME_PER_CYCLE",
        TimeLimit.SUBMITTER: "NEGOTIATOR_MAX_TIME_PER_SUBMITTER",
        TimeLimit.SCHEDD: "NEGOTIATOR_MAX_TIME_PER_SCHEDD",
        TimeLimit.SPIN: "NEGOTIATOR_MAX_TIME_PER_PIESPIN",
    }
)
#: HTCondor's defaults, in seconds.
_DEFAULTS: Final = MappingProxyType(
    {TimeLimit.CYCLE: 1200, TimeLimit.SUBMITTER: 60, TimeLimit.SCHEDD: 120, TimeLimit.SPIN: 120}
)
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
class TimeLimits:
    """How many seconds a cycle, a submitter, a schedd, and a submitter in one spin may take.

    ``seconds_of`` has those that are limited; ``sources`` the places of those that the bundle sets.
    """

    seconds_of: Mapping[TimeLimit, int] = _DEFAULTS
    sources: Mapping[TimeLimit, Source] = attrs.field(factory=dict)

    def seconds(self, limit: TimeLimit) -> float:
        """Return a limit in seconds; infinity if there is none."""
        return self.seconds_of.get(limit, math.inf)


def read_time_limits(entries: Mapping[str, MapEntry]) -> tuple[TimeLimits | None, tuple[Problem, ...]]:
    """Return the time limits of a bundle, None if one is invalid, and their problems.

    :param entries: the values of the bundle by key.
    """
    builder = ObjectBuilder(no_files)
    seconds, sources = dict(_DEFAULTS), {}
    for limit, knob in TIME_KNOBS.items():
        if knob not in entries or is_unset(entries[knob].value):
            continue
        entry = entries[knob]
        file = entry.value.file
        value = builder.value(entry.value, int)
        if value is not INVALID and value < 1:
            message = f"{knob} must be at least 1 second, not {value}"
            builder.problems.append(file.error(entry.value.at, message))
        seconds[limit], sources[limit] = value, file.place(entry.at)
    if builder.problems:
        return None, tuple(builder.problems)
    return TimeLimits(MappingProxyType(seconds), MappingProxyType(sources)), ()


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
