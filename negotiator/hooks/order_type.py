"""What a plugin declares of an order: its name, what makes its allocators, and what it keeps from cycle to cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from negotiator.hooks.slot_ranks import DEFAULT_RANKS, SlotRanks
from negotiator.records import Problem

if TYPE_CHECKING:
    from negotiator.hooks.accounts import OrderAccounts
    from negotiator.hooks.order import OrderMaker, OrderRows
    from negotiator.hooks.shared_rows import SharedRows
    from negotiator.queues import PartitionConfig


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
