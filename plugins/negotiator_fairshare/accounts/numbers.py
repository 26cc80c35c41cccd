"""Numbers as the accountant's log stores them: floats in six decimals."""

from __future__ import annotations

import math
from functools import lru_cache

MILLIONTHS = 1_000_000
LARGEST = 1e300
"""Larger floats are cut to this, so that no sum of stored numbers is infinite or undefined."""


def stored(value: float) -> float:
    """Return a number as the log would give it back: six decimals, and at most ``LARGEST`` in size.

    :raises ValueError: it is not a number (NaN).
    """
    if math.isnan(value):
        raise ValueError("not a number")
    return float(f"{max(-LARGEST, min(LARGEST, value)):.6f}")


@lru_cache(maxsize=4096)
def millionths(value: float) -> int:
    """Return a stored number in millionths, exact."""
    return int(f"{stored(value):.6f}".replace(".", ""))


@lru_cache(maxsize=4096)
def from_millionths(count: int) -> float:
    """Return the stored number of so many millionths."""
    return stored(min(count, int(LARGEST) * MILLIONTHS) / MILLIONTHS)
