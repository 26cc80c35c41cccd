"""Matching: Requirements of both sides, all slots by all job classes; then the job's Rank and the choice of the best.

Ours begins cold each time: a table that was just read, job ads that were just read, empty caches. What is timed is all
that a cycle does from there, columns, analysis of the expressions and bitmaps included. The library gets a random
sample of the pairs, those of a job in a row; it matches in the direction that is quicker for it.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from negotiator.classad import Ad
from negotiator.hooks.records import Mask
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import CLASSES
from negotiator_bench.machine import clock
from negotiator_bench.ours import Matched, Rows
from negotiator_bench.plan import JUDGED, Plan
from negotiator_bench.slots import texts
from negotiator_bench.worker_client import Worker

MATCH_TARGET: Final = SpeedTarget("ratio", at_least=1000)
RANK_TARGET: Final = SpeedTarget("ratio", at_least=500)

Pairs = list[tuple[int, int]]


@attrs.frozen
class _MatchingRun:
    """What one cold run gave: seconds of matching, seconds of ranking and choosing on top, and what was found."""

    jobs: Sequence[Ad]
    matched: Matched
    chosen: Sequence[Rows]
    match_seconds: float
    rank_seconds: float


def measure(kind: str, size: int, plan: Plan, library: Worker | None) -> Measured:
    """Measure matching, and matching with ranking, over so many slots of a kind."""
    pairs = _sample(size, plan.pairs)
    if library:
        library.ask("load", kind=kind, rows=sorted({slot for _, slot in pairs}))
    match: list[float] = []
    ranked: list[float] = []
    their_match: list[float] = []
    their_ranked: list[float] = []
    wrong: list[str] = []
    share = 0.0
    for turn in range(plan.repetitions):
        run = _cold(kind, size, plan.best)
        match.append(size * CLASSES / run.match_seconds)
        ranked.append(size * CLASSES / (run.match_seconds + run.rank_seconds))
        share = float(np.mean([np.count_nonzero(mask) for mask in run.matched.masks])) / size
        if library:
            answer = library.ask("match", pairs=pairs)
            their_match.append(len(pairs) / answer["seconds"])
            with_rank = library.ask("rank", pairs=pairs, best=plan.best)
            their_ranked.append(len(pairs) / with_rank["seconds"])
            wrong += match_differences(kind, pairs, run.matched.masks, answer["matched"])
            if turn == plan.repetitions - 1:
                wrong += _rank_differences(kind, pairs, run, with_rank["ranks"])
        wrong += _choice_differences(kind, run, plan.best) if turn == plan.repetitions - 1 else []

    judged = plan.judged and (kind, size) == JUDGED
    what = f"{size:,} {kind}"
    facts = {
        "slots": size,
        "kind": kind,
        "classes": CLASSES,
        "share_matched": share,
        "pairs_compared": len(pairs) if library else 0,
    }
    same_work = Figure(Area.RANKING, what, "pairs/s", tuple(ranked), tuple(their_ranked)).ratio
    figures = (
        Figure(
            Area.MATCHING,
            what,
            "pairs/s",
            tuple(match),
            tuple(their_match),
            MATCH_TARGET if judged else None,
            facts,
        ),
        Figure(
            Area.RANKING,
            what,
            "pairs/s",
            tuple(ranked),
            tuple(their_match),
            RANK_TARGET if judged else None,
            facts | {"best": plan.best, "ratio_where_the_library_ranks_too": same_work},
        ),
    )
    return Measured(figures, tuple(wrong))


def _sample(size: int, count: int) -> Pairs:
    rng = random.Random(f"pairs {size}")  # noqa: S311 - repeatable, not secret
    return sorted((rng.randrange(CLASSES), rng.randrange(size)) for _ in range(count))


def _cold(kind: str, size: int, count: int) -> _MatchingRun:
    slots = ours.read(texts(SLOTS[kind], range(size)))
    jobs = ours.read_jobs()
    ours.bare_bundle()  # loaded before the clock starts
    ours.forget()
    gc.collect()
    start = clock()
    matched = ours.match(slots, jobs)
    between = clock()
    chosen = ours.choose(matched, jobs, count)
    return _MatchingRun(jobs, matched, chosen, between - start, clock() - between)


def match_differences(
    kind: str, pairs: Sequence[tuple[int, int]], masks: Sequence[Mask], theirs: Sequence[bool]
) -> Iterator[str]:
    """Yield each pair (job class, slot) that matches here and not in the library, or vice versa."""
    for (job, slot), matched in zip(pairs, theirs, strict=True):
        if bool(masks[job][slot]) != matched:
            verb = "matches" if matched else "does not match"
            yield f"{kind} slot {slot} {verb} job class {job} for the library, for us the other way"


def _rank_differences(
    kind: str, pairs: Pairs, run: _MatchingRun, theirs: Sequence[float | None]
) -> Iterator[str]:
    rows: dict[int, list[tuple[int, float]]] = {}
    for (job, slot), rank in zip(pairs, theirs, strict=True):
        if rank is not None:
            rows.setdefault(job, []).append((slot, rank))
    for job, found in rows.items():
        _, values = ours.rank(run.matched.matcher, run.jobs[job], np.array([slot for slot, _ in found]))
        for (slot, rank), value in zip(found, values.tolist(), strict=True):
            if value != rank and not (np.isnan(value) and np.isnan(rank)):
                yield f"Rank of job class {job} for {kind} slot {slot} is {value!r}, for the library {rank!r}"


def _choice_differences(kind: str, run: _MatchingRun, count: int) -> Iterator[str]:
    """Compare the choice with a sort of all candidates."""
    for job, (mask, chosen) in enumerate(zip(run.matched.masks, run.chosen, strict=True)):
        left = np.flatnonzero(mask)
        by_pool, by_job = (
            np.nan_to_num(-values, nan=np.inf, posinf=np.inf, neginf=-np.inf)
            for values in ours.rank(run.matched.matcher, run.jobs[job], left)
        )
        wanted = left[np.lexsort((left, by_job, by_pool))][:count]
        if not np.array_equal(chosen, wanted):
            yield f"the best {kind} slots of job class {job} are not the first of all that match, sorted"
