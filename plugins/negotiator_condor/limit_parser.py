"""Parse a job's list of concurrency limits: ``sw1:3, sw2``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import attrs

#: Amounts are counted in millionths: a job may use half of a licence.
SCALE = 1_000_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?", re.ASCII)
_MAX_AMOUNT = 1_000_000_000.0
_NUMBER = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MAX_ITEMS = 100


@attrs.frozen
class ConcurrencyRequest:
    """One item of a list: its name, and its amount in millionths, None if the item is invalid."""

    text: str
    name: str
    amount: int | None


def parse_limits(text: str) -> Iterator[ConcurrencyRequest]:
    """Yield each item of a list, separated by commas or blanks, with its name in lower case.

    A list with too many items is invalid: those after the last that is parsed would be free.
    """
    items = [item for item in re.split(r"[\s,]+", text) if item]
    if len(items) > _MAX_ITEMS:
        yield ConcurrencyRequest(f"a list of {len(items)}", "", None)
    for item in items[:_MAX_ITEMS]:
        name, _, number = item.partition(":")
        is_name = _NAME.fullmatch(name) is not None
        yield ConcurrencyRequest(item[:80], name.lower(), _amount(number or "1") if is_name else None)


def _amount(number: str) -> int | None:
    """Return an amount in millionths, None if invalid; at least 1, since an amount of 0 would not be charged."""
    try:
        value = float(number) if _NUMBER.fullmatch(number) else math.nan
    except ValueError:
        return None
    return max(1, round(value * SCALE)) if 0 < value <= _MAX_AMOUNT else None
