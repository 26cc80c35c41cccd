"""Parse a job's list of concurrency limits: ``sw1:3, sw2``."""

from __future__ import annotations

import enum
import math
import re

import attrs

#: The job's attribute with its list.
ATTRIBUTE = "ConcurrencyLimits"
#: Amounts are counted in millionths: a job may use half of a licence.
SCALE = 1_000_000
#: The most that one item requests: the sums of lists fit 64 bits.
MAX_AMOUNT = 1e10
#: The most items of a list: each is a charge of every match.
MAX_ITEMS = 100

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?", re.ASCII)
_NUMBER = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?", re.ASCII)
#: The number that a text begins with, as the function ``atof`` of C reads it.
_BEGINNING = re.compile(
    r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|\+?inf", re.ASCII | re.IGNORECASE
)
_SEPARATORS = re.compile(r"[ \t\r\n,]+")


class LimitCompatibility(enum.StrEnum):
    """How lists of limits are read.

    ``exact`` is what condor_negotiator does: invalid names are ignored, an invalid weight counts as 1, the empty string is
    refused, a name that is listed twice is tested once for each item and counted for both, and a job that a match ends holds
    its limits until the next cycle. ``fixed``: an invalid item is refused, the empty string requests nothing, items of one
    name are tested as their sum, and what a job holds is free for the match that ends it.
    """

    EXACT = "exact"
    FIXED = "fixed"


@attrs.frozen
class ConcurrencyRequest:
    """What a list requests of one name: in all (``total``), and what must fit into the limit (``tested``), in millionths."""

    name: str
    total: int
    tested: int


@attrs.frozen
class LimitList:
    """A list of limits: each name once, in lower case, in the order of the list. ``fault`` is why it is refused."""

    requests: tuple[ConcurrencyRequest, ...] = ()
    fault: str = ""


EMPTY_LIST = LimitList(fault="an empty list of concurrency limits: write undefined for none")


def parse_limits(text: str, compatible: LimitCompatibility = LimitCompatibility.EXACT) -> LimitList:
    """Return what a list requests: items are separated by commas or blanks.

    A list with too many items is refused: those after the last that is parsed would be free.
    """
    exact = compatible is LimitCompatibility.EXACT
    if exact and not text:
        return EMPTY_LIST
    items = [item for item in _SEPARATORS.split(text) if item]
    if len(items) > MAX_ITEMS:
        return LimitList(fault=f"a list of {len(items)} concurrency limits: at most {MAX_ITEMS} are allowed")
    amounts: dict[str, list[int]] = {}
    for item in items:
        name, _, number = item.partition(":")
        valid = _NAME.fullmatch(name) is not None
        amount = _lenient_amount(number) if exact else _amount(number or "1")
        if not exact and (not valid or amount is None):
            hint = "write a name, or a name, a colon and a number above 0"
            return LimitList(fault=f"invalid concurrency limit {item[:80]!r}: {hint}")
        if valid and amount is not None:
            amounts.setdefault(name.lower(), []).append(amount)
    measure = max if exact else sum
    return LimitList(
        tuple(ConcurrencyRequest(name, sum(each), measure(each)) for name, each in amounts.items())
    )


def is_name(text: str) -> bool:
    """True if a job can request a limit of this name."""
    return _NAME.fullmatch(text) is not None


def _amount(number: str) -> int | None:
    """Return an amount in millionths, None if invalid."""
    try:
        value = float(number) if _NUMBER.fullmatch(number) else math.nan
    except ValueError:
        return None
    return _scaled(value) if 0 < value <= MAX_AMOUNT else None


def _lenient_amount(number: str) -> int:
    """Return an amount in millionths, 1.0 if the text does not begin with a positive number."""
    found = _BEGINNING.match(number)
    value = float(found.group()) if found else 0.0
    return _scaled(min(value, MAX_AMOUNT)) if value > 0 else SCALE


def _scaled(value: float) -> int:
    return max(1, round(value * SCALE))  # an amount of 0 would not be charged
