"""What a plugin declares of an order: its name, what makes its allocators, what it keeps from cycle to cycle, and how it ranks slots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from negotiator.classad import Expr, bind, parse
from negotiator.records import Problem

if TYPE_CHECKING:
    from negotiator.hooks.accounts import OrderAccounts, SharedRows
    from negotiator.hooks.order import OrderMaker, OrderRows
    from negotiator.queues import PartitionConfig


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


@attrs.frozen
class RowsChange:
    """The rows of an order after a change by an administrator, and a sentence about the change for the answer."""

    rows: OrderRows
    text: str


#: Changes rows: called with the rows, the text of the change, the settings of the plugin, and the time in seconds.
RowsChanger: TypeAlias = "Callable[[OrderRows, str, Any, float], RowsChange]"


def _default_ranks(settings: Any) -> SlotRanks:
    del settings
    return DEFAULT_RANKS


def _no_problems(partition: PartitionConfig) -> Iterable[Problem]:
    del partition
    return ()


def _no_check(key: str, row: Mapping[str, Any]) -> None:
    del key, row


def _no_change(rows: OrderRows, change: str, settings: Any, now: float) -> RowsChange:
    del rows, change, settings, now
    raise ValueError("this order has nothing that can be changed")


@attrs.frozen(kw_only=True)
class RequestOrderType:
    """A way to order requests, for the key ``order:`` of ``pool.yaml``.

    ``in_queue_order`` keeps alike jobs of one submitter in separate requests where other jobs are between them in the
    schedd's order, so that the order of the queue is followed exactly. ``ranks`` is called with the settings of the plugin, and
    returns the pool's own order of slots. ``check_row`` is called with the key and the value of each row that an earlier
    process left, and raises ValueError for one that is damaged: it is reported and set aside. ``change`` carries out the
    change that a command of the plugin requested (``CommandContext.change_order``), between two cycles; it raises
    ValueError to refuse it.

    ``accounts`` are those of submitters that the order keeps in its rows, for HTCondor's tools; None for an order without.

    ``sharing`` tells how several negotiators of one pool share the rows; None if each has rows of its own.

    ``queue_keys`` are the keys of queues.yaml that this order follows, of ``OrderKey``; under another order ``negotiator
    check`` names them as without effect. ``check_queues`` returns the problems of their values.

    A bundle without ``order:`` has the order with ``is_default``; two such orders are an error.
    """

    name: str
    make: OrderMaker
    in_queue_order: bool = False
    ranks: Callable[[Any], SlotRanks] = _default_ranks
    check_row: Callable[[str, Mapping[str, Any]], None] = _no_check
    change: RowsChanger = _no_change
    accounts: OrderAccounts | None = None
    sharing: SharedRows | None = None
    queue_keys: frozenset[str] = frozenset()
    check_queues: Callable[[PartitionConfig], Iterable[Problem]] = _no_problems
    is_default: bool = False
