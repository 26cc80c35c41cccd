"""Station *settle*: matches go out to the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from negotiator.hooks.records import Match


@attrs.frozen
class Delivery:
    """What became of one match: delivered, or not and why."""

    match: Match
    delivered: bool
    text: str = ""


class Settler(Protocol):
    """Whoever hands matches out. It tells of each match what became of it, and raises nothing."""

    def settle(self, matches: Sequence[Match]) -> Sequence[Delivery]:
        """Hand out the matches, in their order."""
        ...


class Offline:
    """Hands matches to nobody but the caller: the pool was read from files, and there is no schedd to tell."""

    def settle(self, matches: Sequence[Match]) -> Sequence[Delivery]:
        """Count every match as delivered: who reads the result is the one it goes to."""
        return [Delivery(match, delivered=True) for match in matches]
