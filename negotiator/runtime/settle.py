"""Station *settle*: matches go out to the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.pool import ClaimVault


class Settler(Protocol):
    """Hands out the matches of a cycle. A failed delivery is part of the answer, never an exception."""

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:
        """Hand out the matches of a cycle, in their order, and return what became of each.

        The result has the rejections too, for schedds that want them. Only a settler reads claim ids.
        """
        ...


@attrs.define
class Offline:
    """Prints the matches of a pool that was read from files, whose schedds and slots receive nothing.

    :param show: prints the decisions of a cycle and flushes the output. It returns False if the output does not contain
        the matches, and raises OSError if it cannot be written.

    ``error`` is the last exception of ``show``, for the caller of the cycle: the outcome is recorded before it ends.
    """

    show: Callable[[CycleResult], bool]
    error: OSError | None = None

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:  # noqa: ARG002 - no claim is sent
        """Print the matches; they are *printed* once the output was flushed, else *unknown*."""
        status, text = DeliveryStatus.UNKNOWN, ""
        try:
            if self.show(result):
                status = DeliveryStatus.PRINTED
        except OSError as error:
            self.error = error
            text = f"the output cannot be written: {error.strerror or error}"
        return [Delivery(match, status, text) for match in result.matches]


@attrs.define
class LiveSettler:
    """Hands out the matches of a live pool, after the decisions were shown.

    ``show`` and ``error`` are those of ``Offline``; a failure to show them changes nothing else.
    """

    settler: Settler
    show: Callable[[CycleResult], bool]
    error: OSError | None = None

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:
        """Show the decisions, and hand out the matches."""
        try:
            self.show(result)
        except OSError as error:
            self.error = error
        return self.settler.settle(result, vault)
