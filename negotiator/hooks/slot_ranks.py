"""The order in which a pool offers its slots to a request."""

from __future__ import annotations

import attrs

from negotiator.classad import Expr, bind, parse

#: HTCondor's default: slots that prefer the job, then unclaimed ones, then small ones. MY is the slot.
PRE_JOB_RANK: Expr = bind(
    parse(
        "(10000000 * MY.Rank) + (1000000 * (MY.RemoteOwner =?= undefined)) - (100000 * MY.Cpus) - MY.Memory"
    )
)


@attrs.frozen
class SlotRanks:
    """The pool's own order of slots: expressions with MY = the slot and TARGET = the request.

    Slots are sorted by ``before``, then by the job's Rank, then by ``after`` (None for none), the largest first, then in
    the order of the pool. ``of_job`` False ignores all that jobs say: their Rank is 1, and the pool's expressions are
    evaluated without a request. ``reads`` are further expressions that the order evaluates with a slot as MY and a request
    as TARGET: requests have the attributes that they read of jobs.

    Source: HTCondor manual, NEGOTIATOR_PRE_JOB_RANK, NEGOTIATOR_POST_JOB_RANK and NEGOTIATOR_IGNORE_JOB_RANKS.
    """

    before: Expr = PRE_JOB_RANK
    after: Expr | None = None
    of_job: bool = True
    reads: tuple[Expr, ...] = ()


#: The ranks of a pool whose order brings none.
DEFAULT_RANKS = SlotRanks()
