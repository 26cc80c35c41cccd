"""Units of counters: amounts and limits as whole numbers, which add up exactly."""

from __future__ import annotations

import math
from fractions import Fraction

from negotiator_quotasets.complexes.model import Complex, ComplexType, Consumable

#: The largest value of a counter.
LARGEST = 2**63 - 1

_UNITS = {ComplexType.DOUBLE: 1_000_000}


def units_of(complex_: Complex) -> int:
    """Return the counter units per 1 of a complex: a millionth is counted for DOUBLE, else 1, a byte or a second."""
    return _UNITS.get(complex_.type, 1)


def charged_units(complex_: Complex, value: Fraction, slots: int = 1) -> int:
    """Return the charge of a job with so many slots, rounded up so that no request is free."""
    times = slots if complex_.consumable is Consumable.YES else 1
    return min(math.ceil(value * times * units_of(complex_)), LARGEST)


def limit_units(complex_: Complex, value: Fraction) -> int:
    """Return a limit in units of the counter, rounded down."""
    return max(-LARGEST, min(math.floor(value * units_of(complex_)), LARGEST))
