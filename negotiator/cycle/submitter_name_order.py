"""The order by submitter names, until fair share decides which request is served next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs

from negotiator.bundle.model import NAMES
from negotiator.hooks.order import Feedback, OrderContext, QueuedRequest, RequestOrder
from negotiator.hooks.order_type import RequestOrderType


@attrs.define(eq=False)
class SubmitterNameOrder(RequestOrder):
    """Owners by name, then submitters by name, then the schedd's order of their jobs: each request has one turn for all of its jobs."""

    requests: Sequence[QueuedRequest]
    _served: int = attrs.field(default=0, init=False)

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        """Return the order of a cycle."""
        return cls(context.requests)

    def next(self) -> QueuedRequest | None:
        """Return the next request in the order in which they were queued."""
        if self._served == len(self.requests):
            return None
        self._served += 1
        return self.requests[self._served - 1]

    def feedback(self, feedback: Feedback) -> None:
        """Ignore the outcome: no request has a second turn."""


#: The order of a bundle that chooses no other.
BY_NAME = RequestOrderType(name=NAMES, make=SubmitterNameOrder.of)
