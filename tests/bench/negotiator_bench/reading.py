"""Reading: long form into a table, whole and projected, beside the library's ``parseNext`` on ready-cut strings.

Ours gets blocks of text as a file is read, cuts them itself, and begins with empty caches each time. The library has
no projection: both figures are beside its reading of the whole ad.
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
from negotiator_bench.wide import ATTRIBUTES, DIFFERING, PROJECTION, wide_slot

WHOLE_TARGET: Final = SpeedTarget("ratio", at_least=0.7)
PROJECTED_TARGET: Final = SpeedTarget("ratio", at_least=2)


def measure(plan: Plan, library: Peer | None) -> Measured:
    """Measure ads a second, of all attributes and of 30."""
    blocks = list(texts(wide_slot, range(plan.read)))
    step = max(1, min(plan.read, plan.library_read) // plan.compared)
    rows = range(0, step * plan.compared, step)
    whole: list[float] = []
    projected: list[float] = []
    theirs: list[float] = []
    wrong: list[str] = []
    for _ in range(plan.repetitions):
        seconds, table = _read(blocks, None)
        whole.append(plan.read / seconds)
        seconds, narrow = _read(blocks, PROJECTION)
        projected.append(plan.read / seconds)
        if library:
            answer = library.ask("read", count=plan.library_read, checked=list(rows))
            theirs.append(plan.library_read / answer["seconds"])
            wrong += read_otherwise(table, rows, answer["ads"])
            wrong += read_otherwise(narrow, rows, answer["ads"], PROJECTION)
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
        Figure(
            Area.READING,
            f"{len(PROJECTION)} of {ATTRIBUTES} attributes",
            "ads/s",
            tuple(projected),
            tuple(theirs),
            PROJECTED_TARGET if plan.judged else None,
            facts | {"attributes": len(PROJECTION)},
        ),
    )
    return Measured(figures, tuple(wrong))


def _read(blocks: Sequence[str], names: Sequence[str] | None) -> tuple[float, Table]:
    ours.forget()
    gc.collect()
    start = clock()
    table = ours.read(blocks, names)
    return clock() - start, table


def read_otherwise(
    table: Table, rows: Sequence[int], theirs: Sequence[Mapping[str, Any]], names: Sequence[str] | None = None
) -> Iterator[str]:
    """Tell of each constant in these rows that is not what the library read, and of names too many or too few."""
    wanted = None if names is None else {name.lower() for name in names}
    if wanted is not None and table.names() != wanted:
        yield f"a projection to {len(wanted)} attributes has {len(table.names())} attributes"
    for row, ad in zip(rows, theirs, strict=True):
        found = table.ad(row)
        for name, value in ad.items():
            if wanted is not None and name not in wanted:
                continue
            mine = found.evaluate(name)
            if type(mine) is not type(value) or mine != value:
                yield f"{name} of wide slot {row} is read as {mine!r}, by the library as {value!r}"
