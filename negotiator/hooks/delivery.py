"""What became of the matches of a cycle."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import attrs

from negotiator.hooks.records import Match


class DeliveryStatus(enum.StrEnum):
    """What became of a match, as far as its sender knows.

    ``DELIVERED``: its receiver in the pool confirmed it. ``PRINTED``: it was written to the output of the program, and
    the output was flushed; nobody confirmed it. ``FAILED``: nobody has it, so it is released. ``UNKNOWN``: somebody may
    have it, so it stays charged until ``claim_timeout``. ``WITHHELD``: nobody has it, since another negotiator serves the pool.
    """

    DELIVERED = "delivered"
    PRINTED = "printed"
    FAILED = "failed"
    UNKNOWN = "unknown"
    WITHHELD = "withheld"


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
