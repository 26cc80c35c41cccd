"""How much of an amount is used."""

from __future__ import annotations

from typing import Final

_MOST_PERCENT: Final = 2**31 - 1  # YuniKorn's web UI draws no more


def share(capacity: int, used: int) -> int:
    """Return how much of a capacity is used, in whole percent; 100 if there is none of it."""
    if used <= 0:
        return 0
    return min(used * 100 // capacity, _MOST_PERCENT) if capacity > 0 else 100
