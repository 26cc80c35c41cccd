"""One expression over all ads of a table, beside a loop of the library's ``ExprTree.eval`` over them.

The table has read its columns before: an expression is measured as in a notebook, where one follows the other. The
library's ads and expressions are parsed before too.
"""

from __future__ import annotations

import gc
from typing import Final

import numpy as np

from negotiator.classad import Ad, Table, parse
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import job_class
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan
from negotiator_bench.slots import texts
from negotiator_bench.worker_client import Worker

EXPRESSIONS: Final = {
    "a match of three clauses": (
        'Arch == "X86_64" && Memory >= TARGET.RequestMemory && Cpus >= TARGET.RequestCpus',
        True,
    ),
    "a rank": ("KFlops + 1000 * Memory", True),
    "two comparisons, no target": ("Cpus >= 4 && Memory > 2048", False),
}
"""By name: the expression, and whether a job is its target."""

TARGET: Final = SpeedTarget("ratio", at_most=1 / 500)

_LOOPS: Final = 20


def measure(plan: Plan, library: Worker | None) -> Measured:
    """Measure the time of each expression for one ad, in nanoseconds."""
    table = ours.read(texts(SLOTS["plain"], range(plan.columns)))
    job = ours.read([job_class(0)]).ad(0)
    figures, wrong = [], []
    for what, (text, with_target) in EXPRESSIONS.items():
        target = job if with_target else None
        values = table.evaluate(text, target, ours.ENVIRONMENT)
        mine: list[float] = []
        theirs: list[float] = []
        for _ in range(plan.repetitions):
            mine.append(_seconds(table, text, target) / len(table) * 1e9)
            if library:
                answer = library.ask("columns", text=text, rows=plan.library_columns, with_target=with_target)
                theirs.append(answer["seconds"] / plan.library_columns * 1e9)
                if answer["values"] != np.asarray(values[: plan.library_columns]).tolist():
                    wrong.append(f"the library has other values of {text}")
        judged = TARGET if plan.judged and with_target else None
        facts = {"ads": len(table), "library_ads": plan.library_columns, "expression": text}
        figures.append(Figure(Area.COLUMNS, what, "ns", tuple(mine), tuple(theirs), judged, facts))
    return Measured(tuple(figures), tuple(wrong))


def _seconds(table: Table, text: str, target: Ad | None) -> float:
    """Return the seconds of one evaluation over the table, the mean of some."""
    parse(text)
    gc.collect()
    start = clock()
    for _ in range(_LOOPS):
        table.evaluate(text, target, ours.ENVIRONMENT)
    return (clock() - start) / _LOOPS
