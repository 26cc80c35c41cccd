"""Reads what a job asks for: ``sw1:3, sw2``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import attrs

#: Amounts are counted in millionths: a job may ask for half of a thing.
SCALE = 1_000_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?", re.ASCII)
_MOST = 1_000_000_000.0
_NUMBER = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MAX_ITEMS = 100


@attrs.frozen
class ConcurrencyRequest:
    """One thing and how much of it, in millionths; None where the text is neither."""

    text: str
    name: str
    amount: int | None


def read(text: str) -> Iterator[ConcurrencyRequest]:
    """Each thing that a list names, separated by commas or blanks; names are equal whatever their case.

    A list of too many is refused: what stands behind the last that is read would be free.
    """
    items = [item for item in re.split(r"[\s,]+", text) if item]
    if len(items) > _MAX_ITEMS:
        yield ConcurrencyRequest(f"a list of {len(items)}", "", None)
    for item in items[:_MAX_ITEMS]:
        name, _, number = item.partition(":")
        sound = _NAME.fullmatch(name) is not None
        yield ConcurrencyRequest(item[:80], name.lower(), _amount(number or "1") if sound else None)


def _amount(number: str) -> int | None:
    """An amount in millionths: one at least, since an amount of 0 would be no charge at all."""
    try:
        value = float(number) if _NUMBER.fullmatch(number) else math.nan
    except ValueError:
        return None
    return max(1, round(value * SCALE)) if 0 < value <= _MOST else None
