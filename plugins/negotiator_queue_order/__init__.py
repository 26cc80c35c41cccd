"""The order ``queues``: guaranteed resources, priorities and sort policies of ``queues.yaml`` decide whose turn it is.

``queues`` has the queue tree of a cycle, ``leaf_jobs`` the jobs of a leaf in their order, ``machines`` the scores of slots
under ``nodesortpolicy``; ``order`` gives the turns. ``running_jobs``, ``guarantees`` and ``preemption`` find the running jobs that
a queue below its guarantee may end, ``preempting_turns`` gives it turns for that;
``state_rows`` remembers since when jobs wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from negotiator.plugin import QUEUE_SETTINGS, RequestOrderType, Section, SlotRanks, hookimpl, parse
from negotiator_queue_order.settings import QueueOrderSettings, check_queues

if TYPE_CHECKING:
    from negotiator.plugin import OrderContext, RequestOrder, StartingBundle


@hookimpl
def negotiator_section() -> Section:
    """Declare the keys ``queue_turns:`` and ``queue_preemption:``."""
    return Section(schema=QueueOrderSettings)


@hookimpl
def negotiator_orders() -> Iterable[RequestOrderType]:
    """Bring the order of the queue tree."""
    yield RequestOrderType(
        name="queues",
        make=_make,
        ranks=_ranks,
        queue_keys=frozenset({*QUEUE_SETTINGS, "guaranteed", "nodesortpolicy", "preemption"}),
        check_queues=check_queues,
        check_row=_check_row,
    )


@hookimpl
def negotiator_starting_bundles() -> Iterable[StartingBundle]:
    """Offer ``yunikorn``: queues whose guarantees and priorities decide."""
    from negotiator_queue_order.starting_bundle import starting_bundle

    yield starting_bundle()


def _make(context: OrderContext) -> RequestOrder:
    from negotiator_queue_order.order import QueueOrder

    return QueueOrder.of(context)


def _check_row(key: str, row: Mapping[str, Any]) -> None:
    from negotiator_queue_order.state_rows import check_row

    check_row(key, row)


def _ranks(settings: QueueOrderSettings | None) -> SlotRanks:
    """Return no ranks: each turn brings the scores of its slots."""
    del settings
    return SlotRanks(before=parse("0"))
