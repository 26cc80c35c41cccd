"""The order of candidates: whom a request would rather have.

Source: HTCondor manual, ``NEGOTIATOR_PRE_JOB_RANK`` and the job's ``Rank``; EvalNegotiatorMatchRank for what is no
number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Expr, Side, Table, bind, evaluate_table, parse

#: HTCondor's default: slots that prefer the job, then unclaimed ones, then small ones. MY is the slot.
PRE_JOB_RANK: Expr = bind(
    parse(
        "(10000000 * MY.Rank) + (1000000 * (MY.RemoteOwner =?= undefined)) - (100000 * MY.Cpus) - MY.Memory"
    )
)

_LOWEST = float(-np.finfo(np.float64).max)


def ranks(slots: Table, job: ClassAd, env: Environment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give each slot's rank for a job: the pool's own order first, then the job's Rank; both float64 of shape (N,).

    What is no number counts as the lowest in the first, and as 0.0 in the second. The first is rounded to float32, as
    the real negotiator does, so that ties fall alike.
    """
    with np.errstate(over="ignore"):
        pool = evaluate_table(PRE_JOB_RANK, slots, job, side=Side.MY, env=env).numbers(_LOWEST)
        pool = pool.astype(np.float32).astype(np.float64)
    written = job.get("Rank")
    if written is None:
        return pool, np.zeros(len(slots))
    return pool, evaluate_table(written, slots, job, side=Side.TARGET, env=env).numbers(0.0)


def best(count: int, *keys: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give the rows of the ``count`` best candidates, best first; ties keep the order of the rows.

    ``keys`` are arrays of shape (N,), the weightiest first; NaN ranks below every number. Costs O(N) to choose and
    O(k log k) to sort what was chosen, not the sort of all.
    """
    rows = np.arange(len(keys[0]), dtype=np.intp)
    ordered = [np.where(np.isnan(key), -np.inf, key) for key in keys]
    sure: list[NDArray[np.intp]] = []
    for key in ordered:
        left = count - sum(map(len, sure))
        if left >= len(rows):
            break
        values = key[rows]
        threshold = np.partition(values, len(values) - left)[len(values) - left] if left else np.inf
        sure.append(rows[values > threshold])
        rows = rows[values == threshold] if left else rows[:0]
    chosen = np.concatenate([*sure, rows[: count - sum(map(len, sure))]])
    return chosen[np.lexsort((chosen, *(-key[chosen] for key in reversed(ordered))))]
