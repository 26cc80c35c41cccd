"""A process that measures and answers: HTCondor's library in one of its own, since importing it changes a process.

It takes handlers of signals, reads a configuration and speaks another dialect if ``CONDOR_CONFIG`` is wrong. Run as a
module this is that process: a line of JSON ``[method, arguments]`` in, a line with the answer out. It is timed inside,
so that the pipe costs nothing, and it stays on the core of the process that started it.
"""

from __future__ import annotations

import gc
import heapq
import importlib
import json
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, TextIO

from negotiator_bench import ours
from negotiator_bench.ads_to_read import ADS
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import CLASSES, job_class, six_clauses
from negotiator_bench.machine import clock, resident
from negotiator_bench.slots import texts
from negotiator_bench.wide import wide_slot

Pair = Sequence[int]
"""The number of a job class and of a slot."""


class Library:
    """HTCondor's ``classad2``; the public methods are the requests."""

    def __init__(self) -> None:
        importlib.import_module("htcondor2")  # first, or the library speaks another dialect
        self._classad2: Any = importlib.import_module("classad2")
        self._jobs: list[Any] = []
        self._slots: dict[int, Any] = {}

    def load(self, kind: str, rows: Sequence[int]) -> None:
        """Read these slots of a kind, and all job classes."""
        parse = self._classad2.parseNext
        self._jobs = [parse(job_class(k)) for k in range(CLASSES)]
        self._slots = {row: parse(SLOTS[kind](row)) for row in rows}

    def match(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Match pairs: seconds for all of them, and whether each matches.

        From the side of the slot the job's Requirements come first, which saves a tenth of the time.
        """
        ads = [(self._jobs[job], self._slots[slot]) for job, slot in pairs]
        gc.collect()
        start = clock()
        matched = [slot.symmetricMatch(job) for job, slot in ads]
        return {"seconds": clock() - start, "matched": matched}

    def rank(self, pairs: Sequence[Pair], best: int) -> dict[str, Any]:
        """Match pairs, those of a job in a row, rank the slots that match, and choose the best of each job.

        Gives the seconds for all of it, and the value of the job's Rank for each pair, None where it does not match.
        """
        by_job: dict[int, list[Any]] = {}
        for job, slot in pairs:
            by_job.setdefault(job, []).append(self._slots[slot])
        ranks: list[float | None] = []
        gc.collect()
        start = clock()
        for number, slots in by_job.items():
            job = self._jobs[number]
            rank = job.lookup("Rank")
            found = [
                self._number(rank.eval(job, slot)) if slot.symmetricMatch(job) else None for slot in slots
            ]
            heapq.nlargest(best, [(value, -row) for row, value in enumerate(found) if value is not None])
            ranks += found
        return {"seconds": clock() - start, "ranks": ranks}

    def scalar(self, rows: Sequence[int], loops: int) -> dict[str, Any]:
        """Evaluate Requirements of six clauses, parsed, against slots: seconds, and whether each of them is true."""
        job = self._classad2.parseNext(six_clauses())
        tree = job.lookup("Requirements")
        slots = [self._classad2.parseNext(SLOTS["plain"](row)) for row in rows]
        true = [tree.eval(job, slot) is True for slot in slots]
        gc.collect()
        start = clock()
        for _ in range(loops):
            for slot in slots:
                tree.eval(job, slot)
        return {"seconds": clock() - start, "true": true}

    def columns(self, text: str, rows: int, *, with_target: bool) -> dict[str, Any]:
        """Evaluate an expression, parsed, in so many slots, with the first job class as target if asked: seconds, and the values."""
        tree = self._classad2.ExprTree(text)
        job = self._classad2.parseNext(job_class(0)) if with_target else None
        slots = [self._classad2.parseNext(SLOTS["plain"](row)) for row in range(rows)]
        gc.collect()
        start = clock()
        values = [tree.eval(slot, job) for slot in slots]
        return {"seconds": clock() - start, "values": values}

    def read(self, what: str, count: int, checked: Sequence[int]) -> dict[str, Any]:
        """Read ready-cut strings of ads of this kind (a name in ``ADS``): seconds, and the constants of some ads by their folded names."""
        parse = self._classad2.parseNext
        cut = [ADS[what](row) for row in range(count)]
        gc.collect()
        start = clock()
        ads = [parse(text) for text in cut]
        seconds = clock() - start
        return {"seconds": seconds, "ads": [self._constants(ads[row]) for row in checked]}

    def memory(self, count: int) -> float | None:
        """Return the bytes by which this process grows for each ad of so many."""
        parse = self._classad2.parseNext
        parse(wide_slot(0))
        gc.collect()
        before = resident()
        ads = [parse(wide_slot(row)) for row in range(count)]
        after = resident()
        return None if before is None or after is None else (after - before) / len(ads)

    def _number(self, value: Any) -> float:
        if isinstance(value, self._classad2.Value) or not isinstance(value, bool | int | float):
            return 0.0
        return float(value)

    def _constants(self, ad: Any) -> dict[str, bool | int | float | str]:
        pairs = ((name.lower(), ad[name]) for name in ad)
        return {
            name: value
            for name, value in pairs
            if type(value) in {bool, int, str} or (type(value) is float and math.isfinite(value))
        }


def table_memory(count: int) -> dict[str, float | None]:
    """Return the bytes for each ad by which this process grows: for a table as read, and once it was matched."""
    jobs = ours.read_jobs()
    ours.match(ours.read(texts(wide_slot, range(10))), jobs)
    jobs = ours.read_jobs()
    gc.collect()
    before = resident()
    table = ours.read(texts(wide_slot, range(count)))
    gc.collect()
    read = resident()
    ours.match(table, jobs)
    gc.collect()
    matched = resident()
    if before is None or read is None or matched is None:
        return {"read": None, "matched": None}
    return {"read": (read - before) / count, "matched": (matched - before) / count}


_ALONE: Final[dict[str, Callable[..., Any]]] = {"table_memory": table_memory}


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer questions until there are no more; the library is not imported before one is for it."""
    library: Library | None = None
    for line in questions:
        method, arguments = json.loads(line)
        if method not in _ALONE and library is None:
            library = Library()
        answer = (_ALONE.get(method) or getattr(library, method))(**arguments)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
