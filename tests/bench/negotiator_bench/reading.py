"""Reading: long form into a table, beside the library's ``parseNext`` on strings of one ad each.

Ours gets blocks of text as a file is read, splits them itself, and begins with empty caches each time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from negotiator.classad import Table
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.machine import clock
from negotiator_bench.peer import Peer
from negotiator_bench.plan import Plan
from negotiator_bench.slots import texts
from negotiator_bench.wide import ATTRIBUTES, DIFFERING, wide_slot

WHOLE_TARGET: Final = SpeedTarget("ratio", at_least=0.7)


def measure(plan: Plan, library: Peer | None) -> Measured:
    """Measure ads read a second."""
    blocks = list(texts(wide_slot, range(plan.read)))
    step = max(1, min(plan.read, plan.library_read) // plan.compared)
    rows = range(0, step * plan.compared, step)
    whole: list[float] = []
    theirs: list[float] = []
    wrong: list[str] = []
    for _ in range(plan.repetitions):
        seconds, table = _read(blocks)
        whole.append(plan.read / seconds)
        if library:
            answer = library.ask("read", count=plan.library_read, checked=list(rows))
            theirs.append(plan.library_read / answer["seconds"])
            wrong += read_differences(table, rows, answer["ads"])
    facts = {"ads": plan.read, "library_ads": plan.library_read, "differing": len(DIFFERING)}
    figures = (
        Figure(
            Area.READING,
            f"{ATTRIBUTES} attributes",
            "ads/s",
            tuple(whole),
            tuple(theirs),
            WHOLE_TARGET if plan.judged else None,
            facts | {"attributes": ATTRIBUTES},
        ),
    )
    return Measured(figures, tuple(wrong))


def _read(blocks: Sequence[str]) -> tuple[float, Table]:
    ours.forget()
    gc.collect()
    start = clock()
    table = ours.read(blocks)
    return clock() - start, table


def read_differences(table: Table, rows: Sequence[int], theirs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a message for each constant in these rows that differs from what the library read."""
    for row, ad in zip(rows, theirs, strict=True):
        found = table.ad(row)
        for name, value in ad.items():
            mine = found.evaluate(name)
            if type(mine) is not type(value) or mine != value:
                yield f"{name} of wide slot {row} is read as {mine!r}, by the library as {value!r}"
