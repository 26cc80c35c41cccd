"""How much of its share a queue or an application uses.

Source: YuniKorn's documentation, "Sorting Policies", fair; its ``getFairShare`` and ``CompUsageRatio``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Resources

#: (N, R) numbers by application and resource.
Matrix = NDArray[np.float64]


def fair_share(used: Resources, guaranteed: Resources, fair_max: Resources) -> float:
    """Return the largest part of its guaranteed resources that a queue uses.

    The use of a resource without a guarantee is divided by ``fair_max``, the most that the queue could use; a resource
    without either does not count. If 0 is guaranteed, any use is the part 1.
    """
    share = 0.0
    for resource, amount in used.items():
        whole = guaranteed.get(resource, fair_max.get(resource))
        if whole is None or amount <= 0:
            continue
        share = max(share, amount / whole if whole > 0 else 1.0)
    return share


def usage_shares(usage: Matrix, guaranteed: Resources, resources: tuple[str, ...]) -> Matrix:
    """Return the parts of their queue's guarantee that applications use, (N, R), the largest of each first.

    The amount itself counts for a resource without a guarantee.
    """
    wholes = np.array([guaranteed.get(resource, 0) or 1 for resource in resources], np.float64)
    shares: Matrix = -np.sort(-(usage / wholes), axis=1)
    return shares


def add_amounts(amounts: dict[str, int], other: Mapping[str, int], times: int = 1) -> None:
    """Add ``times`` times other amounts to ``amounts``."""
    for resource, amount in other.items():
        amounts[resource] = amounts.get(resource, 0) + times * amount
