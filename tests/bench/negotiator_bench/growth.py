"""How seconds grow with sizes: exponents of powers, by least squares of the logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the exponent of the power of the size that the seconds grow with, by least squares of the logarithms.

    :raises ValueError: fewer than two sizes.
    """
    if len(set(sizes)) < 2:
        raise ValueError("an exponent needs two sizes")
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


@attrs.frozen
class Growth:
    """Seconds as a product of powers of several sizes: ``factor`` times each size to its exponent.

    ``assumed``: the sizes that all measurements share. Their exponents are taken to be 1, linear growth.
    """

    factor: float
    exponents: tuple[float, ...]
    assumed: tuple[bool, ...]

    @classmethod
    def of(cls, sizes: Sequence[tuple[float, ...]], seconds: Sequence[float]) -> Growth:
        """Fit the seconds of measurements with these sizes.

        :raises ValueError: no measurements, or only such whose sizes grow together.
        """
        if not sizes:
            raise ValueError("a fit needs a measurement")
        logs = np.log(np.array(sizes, np.float64))
        varied = np.ptp(logs, axis=0) > 0
        terms = np.column_stack([np.ones(len(logs)), logs[:, varied]])
        left = np.log(seconds) - logs[:, ~varied].sum(axis=1)
        found, _, rank, _ = np.linalg.lstsq(terms, left, rcond=None)
        if rank < terms.shape[1]:
            raise ValueError("too few measurements: their sizes grow together")
        exponents = np.ones(logs.shape[1])
        exponents[varied] = found[1:]
        return cls(math.exp(found[0]), tuple(exponents.tolist()), tuple((~varied).tolist()))

    def seconds(self, sizes: Sequence[float]) -> float:
        """Return the seconds for these sizes."""
        powers = [math.pow(size, power) for size, power in zip(sizes, self.exponents, strict=True)]
        return self.factor * math.prod(powers)
