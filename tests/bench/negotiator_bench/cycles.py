"""Whole negotiation cycles, from tables in memory to the result, as a negotiator runs them."""

from __future__ import annotations

import gc

from negotiator.bundle import default_bundle, load_bundle
from negotiator.classad import Table
from negotiator.cycle.loop import run_cycle
from negotiator.hooks.records import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import CLASSES, job_class
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan
from negotiator_bench.slots import texts

#: Jobs of each class.
JOBS = 100


def measure(size: int, plan: Plan) -> Measured:
    """Measure seconds of a whole cycle over so many slots, with cold caches each time."""
    seconds, matches = [], 0
    for _ in range(plan.repetitions):
        snapshot = _snapshot(size)
        bundle = load_bundle(default_bundle())
        ours.forget()
        gc.collect()
        start = clock()
        result = run_cycle(snapshot, bundle, Cycle(1, ours.CYCLE.now, bundle.digest))
        seconds.append(clock() - start)
        matches = len(result.matches)
    facts = {"slots": size, "classes": CLASSES, "jobs": CLASSES * JOBS, "matches": matches}
    return Measured((Figure(Area.CYCLE, f"{size:,} plain slots", "s", tuple(seconds), facts=facts),))


def _snapshot(size: int) -> Snapshot:
    empty = Table.from_ads(())
    # A schedd's resource request: one ad without status that stands for so many jobs.
    requests = (
        "".join(
            line
            for line in f"{job_class(number)}_condor_RESOURCE_COUNT = {JOBS}\n\n".splitlines(keepends=True)
            if not line.startswith("JobStatus ")
        )
        for number in range(CLASSES)
    )
    slots = ours.read(texts(SLOTS["plain"], range(size)))
    return Snapshot(schedds=empty, submitters=empty, slots=slots, jobs=ours.read(requests))
