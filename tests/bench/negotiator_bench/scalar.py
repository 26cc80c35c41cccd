"""Scalar evaluation: Requirements of six clauses, parsed, one pair of ads after the other.

The slots are such that the value is true, so that all six clauses are evaluated. The library evaluates by
``ExprTree.eval(my, target)``, the quickest way its public interface has.
"""

from __future__ import annotations

import gc
from typing import Final

from negotiator.classad import Ad, Expr, evaluate
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import six_clauses
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan
from negotiator_bench.slots import texts
from negotiator_bench.worker_client import Worker

TARGET: Final = SpeedTarget("ratio", at_most=4)

_EACH: Final = 3  # about every second slot has the requested architecture and cores


def measure(plan: Plan, library: Worker | None) -> Measured:
    """Measure the time of one evaluation, in microseconds."""
    job = ours.read([six_clauses()]).ad(0)
    tree = job.get("Requirements")
    if tree is None:
        raise AssertionError("the job has Requirements")
    slots = ours.read(texts(SLOTS["plain"], range(plan.scalar_slots * _EACH))).ads
    true = [row for row, slot in enumerate(slots) if evaluate(tree, job, slot, ours.ENVIRONMENT) is True]
    rows = true[: plan.scalar_slots]
    wrong: list[str] = []
    mine: list[float] = []
    theirs: list[float] = []
    evaluations = len(rows) * plan.scalar_loops
    for _ in range(plan.repetitions):
        mine.append(_seconds(tree, job, [slots[row] for row in rows], plan.scalar_loops) / evaluations * 1e6)
        if library:
            answer = library.ask("scalar", rows=rows, loops=plan.scalar_loops)
            theirs.append(answer["seconds"] / evaluations * 1e6)
            wrong += [
                f"the six clauses are not true of plain slot {row} for the library"
                for row, found in zip(rows, answer["true"], strict=True)
                if not found
            ]
    figure = Figure(
        Area.SCALAR,
        "six clauses, all true",
        "us",
        tuple(mine),
        tuple(theirs),
        TARGET if plan.judged else None,
        {"slots": len(rows), "evaluations": evaluations, "library_call": "ExprTree.eval(my, target)"},
    )
    return Measured((figure,), tuple(wrong))


def _seconds(tree: Expr, job: Ad, slots: list[Ad], loops: int) -> float:
    gc.collect()
    start = clock()
    for _ in range(loops):
        for slot in slots:
            evaluate(tree, job, slot, ours.ENVIRONMENT)
    return clock() - start
