"""Values of attributes as plain data: what the journal stores of a job's ad, so that no ad has to be parsed again."""

from __future__ import annotations

import math
from typing import TypeAlias

from negotiator.classad import ClassAdValue

#: None if the attribute is missing, undefined, an error, or of a type that no charge reads.
PlainValue: TypeAlias = bool | int | float | str | None

_LONGEST = 1 << 16  # characters of a text


def plain_value(value: ClassAdValue) -> PlainValue:
    """Return a value as plain data; None if it is not a finite number, a boolean or a text of reasonable length."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else None


def checked_value(value: object) -> PlainValue:
    """Return a value read from a file.

    :raises ValueError: it is not plain data, or an integer of more than 64 bits.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"expected a number, a boolean, a text or null, got {str(value)[:60]!r}")
