"""Our side of the measurements: the steps of a cycle by the functions that a cycle calls."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Table
from negotiator.cycle.match import SlotMatcher
from negotiator.hooks.records import Mask
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.limits import BLOCK
from negotiator.pool.longform import read_long
from negotiator.records import Problem
from negotiator_bench.errors import NotReadError
from negotiator_bench.jobs import CLASSES, job_class

#: The clock of a cycle; no expression of the inputs asks for it.
ENVIRONMENT: Final = Environment(now=1_795_200_000.0)

_ENGINE: Final = ("negotiator.classad", "negotiator.pool", "negotiator.cycle")


Rows: TypeAlias = NDArray[np.intp]


@attrs.frozen(eq=False)
class Matched:
    """The slots of a cycle, and those that match each job: an array of shape (N,) a job."""

    board: SlotMatcher
    masks: list[Mask]


def read(blocks: Iterable[str]) -> Table:
    """Read ads in long form into a table.

    :raises NotReadError: an ad has a fault.
    """
    dictionary = pool_dictionary()

    def ads() -> Iterator[ClassAd]:
        for result in read_long(_joined(blocks), "input", dictionary):
            if isinstance(result, Problem):
                raise NotReadError(str(result))
            yield result.ad

    return Table.from_ads(ads(), dictionary)


def _joined(blocks: Iterable[str]) -> Iterator[str]:
    """Join small blocks into ones of the size in which files are read."""
    waiting: list[str] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size >= BLOCK:
            yield "".join(waiting)
            waiting, size = [], 0
    if size:
        yield "".join(waiting)


def read_jobs() -> tuple[ClassAd, ...]:
    """Read all job classes, one ad each."""
    return read(f"{job_class(k)}\n" for k in range(CLASSES)).ads


def match(slots: Table, jobs: Sequence[ClassAd]) -> Matched:
    """Find the slots that match each job: Requirements of both sides."""
    board = SlotMatcher.of(slots, ENVIRONMENT)
    return Matched(board, [board.candidates(job) for job in jobs])


def choose(matched: Matched, jobs: Sequence[ClassAd], count: int) -> list[Rows]:
    """Rank the slots that match each job, in the pool's order and by the job's Rank, and choose the best of them."""
    pairs = zip(jobs, matched.masks, strict=True)
    return [matched.board.choose(job, mask, count)[0] for job, mask in pairs]


def rank(board: SlotMatcher, job: ClassAd, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rank these slots for a job: in the pool's order, and by the job's Rank; both of the shape of ``rows``."""
    return board.ranks.of(rows, job, ENVIRONMENT)


def forget() -> None:
    """Empty the caches that the engine keeps from one table to the next, so that a measurement begins cold."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_ENGINE):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
