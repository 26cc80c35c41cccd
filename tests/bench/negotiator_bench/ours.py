"""Our side of the measurements: the stations of a cycle, as ``run_cycle`` calls them, without any plugin."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle import Bundle, load_bundle
from negotiator.classad import Ad, Table
from negotiator.cycle.charge import charge
from negotiator.cycle.charges import ClaimReceipts
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.match import MatchCandidates, SlotMatcher
from negotiator.cycle.match import match as station_match
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.recount import Recount
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.ledger import Ledger
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import larger_blocks, read_long
from negotiator.queues import QueueTree
from negotiator.records import Problem
from negotiator_bench.errors import NotReadError
from negotiator_bench.jobs import CLASSES, job_class

#: The cycle of all measurements; no expression of the inputs reads its clock.
CYCLE: Final = Cycle(1, 1_795_200_000.0, "0" * 64)
ENVIRONMENT: Final = CYCLE.environment

_ENGINE: Final = ("negotiator.classad", "negotiator.pool", "negotiator.cycle")


Rows: TypeAlias = NDArray[np.intp]


@attrs.frozen(eq=False)
class Matched:
    """The matcher of a cycle, and the candidates of each job class."""

    matcher: SlotMatcher
    candidates: list[MatchCandidates]

    @property
    def masks(self) -> list[Mask]:
        """The slots that match each job class: an array of shape (N,) for each."""
        return [each.among for each in self.candidates]


@cache
def bare_bundle() -> Bundle:
    """Load a bundle without plugins: no policy but the Requirements of jobs and slots."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pool.yaml").write_text("audit:\n  matches: none\n", "utf-8")
        return load_bundle(Path(folder), entry_points=False)


def read(blocks: Iterable[str]) -> Table:
    """Read ads in long form into a table.

    :raises NotReadError: an ad has a fault.
    """
    dictionary = pool_dictionary()

    def ads() -> Iterator[Ad]:
        for result in read_long(larger_blocks(blocks), "input", dictionary):
            if isinstance(result, Problem):
                raise NotReadError(str(result))
            yield result.ad

    return Table.from_ads(ads(), dictionary)


def read_jobs() -> tuple[Ad, ...]:
    """Read all job classes, one ad each."""
    return read(f"{job_class(k)}\n" for k in range(CLASSES)).ads


def match(slots: Table, jobs: Sequence[Ad]) -> Matched:
    """Run the station *match* for each job class."""
    matcher, bundle = SlotMatcher.of(OfferedSlots(slots), CYCLE.environment), bare_bundle()
    return Matched(matcher, [station_match(_request(job, 1), matcher, bundle, CYCLE) for job in jobs])


def choose(matched: Matched, jobs: Sequence[Ad], count: int) -> list[Rows]:
    """Run the station *charge* for so many jobs of each class: it ranks the candidates and grants the best."""
    in_use, bundle = Recount(Ledger(), ClaimReceipts(), {}, np.zeros(0, np.intp)), bare_bundle()
    queues = QueueTree.of(bundle.partition.root, CYCLE.now)
    declared = DeclaredCharges(matched.matcher.slots, queues, bundle)
    granted = []
    for job, found in zip(jobs, matched.candidates, strict=True):
        request = _request(job, count)
        charges = partial(declared.of, request, CYCLE)
        granted.append(charge(request, found, matched.matcher, in_use, charges, CYCLE).rows)
    return granted


def rank(matcher: SlotMatcher, job: Ad, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rank these slots for a job: in the pool's order, and by the job's Rank; both of the shape of ``rows``."""
    before, own, *_ = matcher.ranks.of(rows, job, CYCLE.environment)
    return before, own


def _request(job: Ad, count: int) -> Request:
    return Request(
        submitter="user@example.org",
        schedd="submit.example.org",
        ad=job,
        count=count,
        first_job="1.0",
        applications=("submit.example.org#1",) * count,
    )


def forget() -> None:
    """Empty the caches that the engine keeps from one table to the next, so that a measurement begins cold."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_ENGINE):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
