"""Values as the text of an expression, for ads on the wire."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from negotiator_live.wire.ads import quoted

AdValue: TypeAlias = str | bool | int | float


def literal(value: AdValue) -> str:
    """Return a value as a literal; a number that is not finite is ``undefined``."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "undefined"
    return repr(value)


def literals(values: Mapping[str, AdValue]) -> dict[str, str]:
    """Return an ad of literals."""
    return {name: literal(value) for name, value in values.items()}
