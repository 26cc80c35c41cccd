"""Station *settle*: matches go out to the pool."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.hooks.records import Match
from negotiator.pool import ClaimVault


class DeliveryStatus(enum.StrEnum):
    """What became of a match, as far as the settler knows.

    ``DELIVERED``: its receiver in the pool confirmed it. ``PRINTED``: it was written to the output of the program, and
    the output was flushed; nobody confirmed it. ``FAILED``: nobody has it, so it is released. ``UNKNOWN``: somebody may
    have it, so it stays charged until ``claim_timeout``.
    """

    DELIVERED = "delivered"
    PRINTED = "printed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@attrs.frozen
class Delivery:
    """One match and its status; ``text`` is the reason of a failure."""

    match: Match
    status: DeliveryStatus = attrs.field(validator=attrs.validators.instance_of(DeliveryStatus))
    text: str = ""

    @property
    def is_handed_out(self) -> bool:
        """True if the match is known to have left the program."""
        return self.status in {DeliveryStatus.DELIVERED, DeliveryStatus.PRINTED}


def with_status(deliveries: Iterable[Delivery], *statuses: DeliveryStatus) -> tuple[Match, ...]:
    """Return the matches with one of these statuses, in their order."""
    return tuple(each.match for each in deliveries if each.status in statuses)


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
