"""The time limits of a cycle, by their names in HTCondor's configuration, with its defaults.

Source: HTCondor manual, "Configuration Macros", condor_negotiator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from negotiator.bundle.nodes import MapEntry, is_unset
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.paths import no_files
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
