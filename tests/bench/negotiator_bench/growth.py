"""How seconds grow with a size: the exponent of a power."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the exponent of the power of the size that the seconds grow with, by least squares of the logarithms.

    :raises ValueError: fewer than two sizes.
    """
    if len(set(sizes)) < 2:
        raise ValueError("an exponent needs two sizes")
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)
