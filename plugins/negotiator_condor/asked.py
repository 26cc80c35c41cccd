"""Reads what a job asks for: ``sw1:3, sw2``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import attrs

#: Amounts are counted in millionths: a job may ask for half of a thing.
SCALE = 1_000_000

_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)?", re.ASCII)
_MOST = 1_000_000_000.0
_MAX_ITEMS = 100


@attrs.frozen
class Asked:
    """One thing and how much of it, in millionths; None where the text is neither."""

    text: str
    name: str
    amount: int | None


def read(text: str) -> Iterator[Asked]:
    """Each thing that a list names, separated by commas or blanks; names are equal whatever their case."""
    for item in re.split(r"[\s,]+", text.strip())[:_MAX_ITEMS]:
        if not item:
            continue
        name, _, number = item.partition(":")
        sound = _NAME.fullmatch(name) is not None
        yield Asked(item[:80], name.lower(), _amount(number or "1") if sound else None)


def _amount(number: str) -> int | None:
    try:
        value = float(number)
    except ValueError:
        return None
    return round(value * SCALE) if math.isfinite(value) and 0 < value <= _MOST else None
