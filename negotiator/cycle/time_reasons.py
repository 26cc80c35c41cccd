"""The reasons of requests whose submitter had no time left."""

from __future__ import annotations

import math

import attrs

from negotiator import __version__
from negotiator.bundle.time_limits import TIME_KNOBS, TimeLimits
from negotiator.cycle.cycle_time import TimeStop
from negotiator.hooks.turn_time import TimeLimit
from negotiator.records import CORE, Provenance, Reason, Station, Verdict

_TEXTS = {
    TimeLimit.CYCLE: "the cycle reached its time limit",
    TimeLimit.SUBMITTER: "the submitter reached its time limit in this cycle",
    TimeLimit.SCHEDD: "the schedd reached its time limit in this cycle",
    TimeLimit.SPIN: "the submitter reached its time limit in the last spin",
}


@attrs.frozen
class ReachedLimit:
    """A limit that was reached, and the reason of those whom it left no time."""

    stop: TimeStop
    reason: Reason


def time_reason(limit: TimeLimit, limits: TimeLimits) -> Reason:
    """Return the reason of requests that a limit left no time."""
    code = f"time_per_{limit}"
    if limit is TimeLimit.ADMINISTRATOR:
        code, rule, text = "cycle_stopped", "stop", "an administrator ended the cycle"
    else:
        rule, text = TIME_KNOBS[limit], f"{_TEXTS[limit]}: {TIME_KNOBS[limit]} is {limits.seconds(limit):g} s"
    seconds = limits.seconds(limit)
    numbers = {"limit": seconds} if math.isfinite(seconds) else {}
    where = Provenance(Station.ORDER, CORE, __version__, rule, limits.sources.get(limit))
    return Reason(Verdict.WAITING, code, text, where, numbers=numbers)
