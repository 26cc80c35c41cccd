"""Values of expressions, as numbers and texts; single precision."""

import struct
from functools import lru_cache

from negotiator.classad import Ad, evaluate, is_true, parse

LARGEST = 1.7976931348623157e308

_parsed = lru_cache(maxsize=10_000)(parse)


def value_of(text, my, target=None):
    """Return the value of an expression of the configuration."""
    return evaluate(_parsed(text), my, target)


def is_so(text, my, target=None):
    """Return whether an expression is true, or a number other than 0."""
    return is_true(value_of(text, my, target))


def number(value, default=None):
    """Return a value as a float, booleans as 1 and 0."""
    return float(value) if isinstance(value, int | float) else default


def single(value):
    """Round to single precision; beyond its range: infinity."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def ad_of(values):
    """Return an ad of values."""
    return Ad([]).replaced(values)
