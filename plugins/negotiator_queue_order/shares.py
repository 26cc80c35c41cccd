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
    """Return the largest part that a queue uses of what it is guaranteed.

    A resource that it is not guaranteed is compared with ``fair_max``, what the queue could use at most; one without
    either does not count. With nothing guaranteed explicitly (0), any use is all of it.
    """
    share = 0.0
    for resource, amount in used.items():
        whole = guaranteed.get(resource, fair_max.get(resource))
        if whole is None or amount <= 0:
            continue
        share = max(share, amount / whole if whole > 0 else 1.0)
    return share


def usage_shares(usage: Matrix, guaranteed: Resources, resources: tuple[str, ...]) -> Matrix:
    """Return the parts that applications use of what their queue is guaranteed, the largest first, (N, R).

    The amount itself counts for a resource without a guarantee.
    """
    wholes = np.array([guaranteed.get(resource, 0) or 1 for resource in resources], np.float64)
    shares: Matrix = -np.sort(-(usage / wholes), axis=1)
    return shares


def plus(amounts: dict[str, int], other: Mapping[str, int], times: int = 1) -> None:
    """Add amounts, so many times."""
    for resource, amount in other.items():
        amounts[resource] = amounts.get(resource, 0) + times * amount
