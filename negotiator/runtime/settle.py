"""Station *settle*: matches go out to the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.hooks.records import Match
from negotiator.pool import ClaimVault


@attrs.frozen
class Delivery:
    """What became of one match: delivered, or not and why."""

    match: Match
    delivered: bool
    text: str = ""


class Settler(Protocol):
    """Hands out the matches of a cycle. A failed delivery is part of the answer, never an exception."""

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:
        """Hand out the matches of a cycle, in their order, and return what became of each.

        The result has the rejections too, for schedds that want them. Only a settler reads claim ids.
        """
        ...


class Offline:
    """Delivers nothing: the pool was read from files, and the reader of the result is the recipient."""

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:  # noqa: ARG002 - no claim is sent
        """Count every match as delivered."""
        return [Delivery(match, delivered=True) for match in result.matches]
