"""Whole negotiation cycles, from tables in memory to the result, as a negotiator runs them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Final

from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.hooks.records import Cycle
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.jobs import CLASSES
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan
from negotiator_bench.requests import request_snapshot

#: Jobs of each class.
JOBS = 100

#: Jobs of each class in pools of unlike slots: so few that finding the slots takes most of the time, not giving them.
FEW_JOBS: Final = 2
#: Pools of unlike slots, beside a plain one with the same jobs.
UNLIKE: Final = ("mixed", "kinds")
TARGET: Final = SpeedTarget("ours", at_most=2)


def measure(size: int, plan: Plan) -> Measured:
    """Measure seconds of a whole cycle over so many slots, with cold caches each time."""
    measured = [cold_cycle("plain", size, CLASSES, JOBS) for _ in range(plan.repetitions)]
    facts = {"slots": size, "classes": CLASSES, "jobs": CLASSES * JOBS, "matches": measured[-1][1]}
    seconds = tuple(seconds for seconds, _ in measured)
    return Measured((Figure(Area.CYCLE, f"{size:,} plain slots", "s", seconds, facts=facts),))


def measure_unlike(plan: Plan) -> Measured:
    """Measure how many times as long a cycle takes over unlike slots as over plain ones, in turn with it."""
    return Measured(tuple(_unlike(plan)))


def _unlike(plan: Plan) -> Iterator[Figure]:
    slots, classes = plan.unlike
    kinds = ("plain", *UNLIKE)
    turns = [
        {kind: cold_cycle(kind, slots, classes, FEW_JOBS) for kind in kinds} for _ in range(plan.repetitions)
    ]
    for kind in UNLIKE:
        facts = {"slots": slots, "classes": classes, "jobs": classes * FEW_JOBS}
        facts |= {f"matches, {each}": turns[-1][each][1] for each in (kind, "plain")}
        yield Figure(
            Area.CYCLE,
            f"{slots:,} {kind} slots, {classes} classes",
            "x",
            tuple(turn[kind][0] / turn["plain"][0] for turn in turns),
            target=TARGET if plan.judged else None,
            facts=facts | {f"seconds, {each}": turns[-1][each][0] for each in (kind, "plain")},
        )


def cold_cycle(kind: str, slots: int, classes: int, jobs: int) -> tuple[float, int]:
    """Run a cycle over slots of a kind and so many jobs of each class, with cold caches: its seconds and its matches."""
    snapshot, bundle = request_snapshot(kind, slots, classes, jobs), load_bundle(default_bundle())
    ours.forget()
    gc.collect()
    start = clock()
    result = run_cycle(snapshot, bundle, Cycle(1, ours.CYCLE.now, bundle.digest))
    return clock() - start, len(result.matches)
