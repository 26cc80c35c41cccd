"""Reading: files in long form through ``read_pool``, beside the library's ``parseNext`` on strings of one ad each.

Ours gets the bytes of a file, decodes and splits them itself, finds kind and identity of each ad, and begins with empty
caches each time.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from negotiator.classad import Table
from negotiator.pool import read_pool
from negotiator_bench import ours
from negotiator_bench.ads_to_read import ADS
from negotiator_bench.errors import NotReadError
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan
from negotiator_bench.worker_client import Worker

TARGETS: Final = MappingProxyType(
    {
        "slots": SpeedTarget("ratio", at_least=0.7),
        "job ads": SpeedTarget("ratio", at_least=1.5),
        "requests": SpeedTarget("ratio", at_least=1.0),
    }
)


def measure(plan: Plan, library: Worker | None) -> Measured:
    """Measure ads read a second, for each kind of ads."""
    parts = [_measured(what, plan, library) for what in ADS]
    return Measured(
        tuple([figure for figure, _ in parts]), tuple([each for _, wrong in parts for each in wrong])
    )


def _measured(what: str, plan: Plan, library: Worker | None) -> tuple[Figure, Sequence[str]]:
    text = "".join([f"{ADS[what](number)}\n" for number in range(plan.read)]).encode()
    step = max(1, min(plan.read, plan.library_read) // plan.compared)
    rows = range(0, step * plan.compared, step)
    rates: list[float] = []
    theirs: list[float] = []
    wrong: list[str] = []
    for _ in range(plan.repetitions):
        seconds, table = _read(text)
        rates.append(plan.read / seconds)
        if library:
            answer = library.ask("read", what=what, count=plan.library_read, checked=list(rows))
            theirs.append(plan.library_read / answer["seconds"])
            wrong += [f"{what}: {each}" for each in read_differences(table, rows, answer["ads"])]
    facts = {"ads": plan.read, "library_ads": plan.library_read}
    target = TARGETS[what] if plan.judged else None
    figure = Figure(Area.READING, what, "ads/s", tuple(rates), tuple(theirs), target, facts)
    return figure, wrong


def _read(text: bytes) -> tuple[float, Table]:
    """Read ads of one kind; return the seconds, and their table.

    :raises NotReadError: an ad has a fault.
    """
    ours.forget()
    gc.collect()
    start = clock()
    pool = read_pool(["-"], io.BytesIO(text))
    seconds = clock() - start
    if pool.problems:
        raise NotReadError(str(pool.problems[0]))
    return seconds, pool.slots if len(pool.slots) else pool.jobs


def read_differences(table: Table, rows: Sequence[int], theirs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a message for each constant in these rows that differs from what the library read."""
    for row, ad in zip(rows, theirs, strict=True):
        found = table.ad(row)
        for name, value in ad.items():
            mine = found.evaluate(name)
            if type(mine) is not type(value) or mine != value:
                yield f"{name} of ad {row} is read as {mine!r}, by the library as {value!r}"
