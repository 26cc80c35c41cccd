"""Slots that will shut down soon: a job that starts there would not end.

Source: HTCondor manual, NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD; condor_negotiator 25.14.1 for the clock.
"""

from __future__ import annotations

import attrs
import numpy as np

from negotiator.plugin import Environment, Mask, Table, bind, evaluate_table, parse

_SHUTDOWN = bind(parse("MY.DaemonShutdown"))


def shutting_down(slots: Table, threshold: int, env: Environment) -> Mask:
    """Return which slots will shut down within the threshold, in seconds, by their own clocks, (S,).

    One evaluation for each time among the slots' MyCurrentTime; a slot without one has the time of the cycle.
    """
    found = np.zeros(len(slots), np.bool_)
    if not threshold or "daemonshutdown" not in slots.names():
        return found
    times = slots.numbers("MyCurrentTime", default=env.now)
    times = np.where(np.isfinite(times), times, env.now)
    for time in np.unique(times).tolist():
        rows = np.flatnonzero(times == time)
        later = attrs.evolve(env, now=time + threshold)
        found[rows] = evaluate_table(_SHUTDOWN, slots.take(rows), env=later).is_true()
    return found
