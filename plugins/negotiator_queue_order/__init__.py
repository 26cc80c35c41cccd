"""The order ``queues``: guaranteed resources, priorities and sort policies of ``queues.yaml`` decide whose turn it is.

``queues`` has the queue tree of a cycle, ``leaf_jobs`` the jobs of a leaf in their order, ``machines`` the scores of slots
under ``nodesortpolicy``; ``order`` gives the turns.
"""

from __future__ import annotations

from collections.abc import Iterable

from negotiator.plugin import RequestOrderType, Section, SlotRanks, hookimpl, parse
from negotiator_queue_order.checks import check_queues
from negotiator_queue_order.order import QueueOrder
from negotiator_queue_order.properties import KNOWN, PREEMPTION_DELAY, PREEMPTION_POLICY
from negotiator_queue_order.settings import QueueOrderSettings


@hookimpl
def negotiator_section() -> Section:
    """Declare the key ``queue_turns:``."""
    return Section(schema=QueueOrderSettings)


@hookimpl
def negotiator_orders() -> Iterable[RequestOrderType]:
    """Bring the order of the queue tree."""
    yield RequestOrderType(
        name="queues",
        make=QueueOrder.of,
        ranks=_ranks,
        queue_keys=(KNOWN - {PREEMPTION_POLICY, PREEMPTION_DELAY}) | {"guaranteed", "nodesortpolicy"},
        check_queues=check_queues,
    )


def _ranks(settings: QueueOrderSettings | None) -> SlotRanks:
    """Return no ranks: each turn brings the scores of its slots."""
    del settings
    return SlotRanks(before=parse("0"))
