"""Amounts of resources, exactly: ``10G``, ``1Ki``, ``100m``.

Source: YuniKorn's queue configuration, "Resources". ``vcore`` is kept in thousandths, all else in whole units; amounts
are integers of 64 bits, and what does not fit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from negotiator.errors import NegotiatorError

VCORE = "vcore"
MILLI = 1000
LARGEST = 2**63 - 1

#: Amounts by resource, in the resource's own unit.
Resources: TypeAlias = Mapping[str, int]

_FORM = re.compile(r"([0-9]+)([EkKMGTPmi]*)", re.ASCII)
_SPACE = re.compile(r"[\t\n\f\r ]+")
_DECIMAL = {suffix: 1000**power for power, suffix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
_BINARY = {f"{suffix}i": 1024**power for power, suffix in enumerate("KMGTPE", 1)}
_SUFFIXES: Mapping[str, int] = MappingProxyType({**_DECIMAL, **_BINARY})
_MAX_DIGITS = 40


class QuantityError(NegotiatorError, ValueError):
    """A text that is no amount; ``code`` says in a word what is wrong, ``hint`` what would be right."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def parse_quantity(resource: str, text: str) -> int:
    """The amount of a resource that a text says. White space counts for nothing.

    :raises QuantityError: ``resource_syntax``, ``resource_suffix`` or ``resource_overflow``.
    """
    form = _FORM.fullmatch(_SPACE.sub("", text))
    if form is None:
        hint = "write a whole number that is not negative, and perhaps a unit: 10, 500M, 2Gi"
        raise QuantityError("resource_syntax", f"{text[:_MAX_DIGITS]!r} is no amount of {resource}", hint)
    digits, suffix = form.group(1).lstrip("0"), form.group(2)
    number = int(digits or 0) if len(digits) <= _MAX_DIGITS else LARGEST + 1
    factor = _factor(resource, suffix)
    if number > LARGEST or (factor or 0) * number > LARGEST:
        message = f"{text[:_MAX_DIGITS]!r} is more {resource} than can be counted"
        raise QuantityError("resource_overflow", message, "at most 2^63 - 1, of vcore in thousandths")
    if factor is None:
        milli = "m, " if resource == VCORE else ""
        hint = f"units are {milli}k, M, G, T, P, E (thousands) and Ki, Mi, Gi, Ti, Pi, Ei (of 1024)"
        raise QuantityError("resource_suffix", f"{resource} can't be counted in {suffix!r}", hint)
    return number * factor


def _factor(resource: str, suffix: str) -> int | None:
    if resource != VCORE:
        return _SUFFIXES.get(suffix)
    return 1 if suffix == "m" else _SUFFIXES[suffix] * MILLI if suffix in _SUFFIXES else None


def format_quantity(resource: str, amount: int) -> str:
    """An amount as people write it, never rounded: ``1500m``, ``2Gi``, ``250G``."""
    if resource == VCORE:
        whole, rest = divmod(amount, MILLI)
        return f"{amount}m" if rest else str(whole)
    for suffix, factor in sorted(_SUFFIXES.items(), key=lambda item: -item[1]):
        if suffix and amount and amount % factor == 0:
            return f"{amount // factor}{suffix}"
    return str(amount)


def fits(amounts: Resources, limit: Resources) -> bool:
    """Whether amounts stay within a limit; what the limit does not name is not limited."""
    return all(amount <= limit[name] for name, amount in amounts.items() if name in limit)


def exceeding(amounts: Resources, limit: Resources) -> tuple[str, ...]:
    """The resources of which there is more than a limit allows."""
    return tuple(name for name, amount in amounts.items() if name in limit and amount > limit[name])


def compared(names: Iterable[str], amounts: Resources, limit: Resources) -> str:
    """``memory 2Gi > 1G, vcore 5 > 4``, for messages."""
    return ", ".join(
        f"{name} {format_quantity(name, amounts[name])} > {format_quantity(name, limit[name])}"
        for name in names
    )


def smaller(one: Resources, other: Resources) -> dict[str, int]:
    """Of two limits the tighter one for each resource; what only one names counts as it says."""
    return {
        name: min(one.get(name, other.get(name, 0)), other.get(name, one.get(name, 0)))
        for name in {**one, **other}
    }


def added(one: Resources, other: Resources) -> dict[str, int]:
    """The sum of two."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def is_zero(amounts: Resources) -> bool:
    """Whether there is nothing of anything."""
    return not any(amounts.values())
