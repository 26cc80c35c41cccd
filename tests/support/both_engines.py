"""Cycles on one process and on several: the bytes must be the same."""

from negotiator.audit.recorded_cycle import result_bytes
from negotiator.cycle.loop import run_cycle
from negotiator.engines.processes import ProcessEngine

WORKERS = ProcessEngine(2)


def run_on_both(*args, **more):
    """Run a cycle on one process and on several, compare the bytes, and return the result."""
    alone = run_cycle(*args, **more)
    assert result_bytes(run_cycle(*args, **more, engine=WORKERS)) == result_bytes(alone)
    return alone
