"""Our side of the measurements: the steps of a cycle by the functions that a cycle calls."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Table
from negotiator.cycle.match import SlotMatcher
from negotiator.hooks.records import Mask
from negotiator.pool import read_table
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


def read(blocks: Iterable[str], names: Iterable[str] | None = None) -> Table:
    """Read ads in long form into a table, only these attributes if they are named (NotReadError)."""
    table, problems = read_table(blocks, names)
    if problems:
        raise NotReadError(str(problems[0]))
    return table


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
