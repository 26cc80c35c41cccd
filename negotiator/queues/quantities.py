"""Exact resource quantities: ``10G``, ``1Ki``, ``100m``.

Source: YuniKorn's queue configuration, "Resources". ``vcore`` is counted in thousandths, every other resource in whole
units. Amounts are 64-bit integers; larger ones are refused.
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
# Forms of other systems: fractions, lower-case units, and B for bytes.
_OTHER_FORM = re.compile(r"([0-9]{0,20})(?:\.([0-9]{1,20}))?([kmgtpeKMGTPE]?i?)[bB]?", re.ASCII)
_SPACE = re.compile(r"[\t\n\f\r ]+")
_DECIMAL = {suffix: 1000**power for power, suffix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
_BINARY = {f"{suffix}i": 1024**power for power, suffix in enumerate("KMGTPE", 1)}
_SUFFIXES: Mapping[str, int] = MappingProxyType({**_DECIMAL, **_BINARY})
_MAX_DIGITS = 40


class QuantityError(NegotiatorError, ValueError):
    """An invalid quantity, with a ``code`` for programs and a ``hint`` for people."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def parse_quantity(resource: str, text: str) -> int:
    """Return the amount of a resource from a text; white space is ignored.

    :raises QuantityError: ``resource_syntax``, ``resource_suffix`` or ``resource_overflow``.
    """
    form = _FORM.fullmatch(_SPACE.sub("", text))
    if form is None:
        hint = (
            _in_whole_units(resource, text)
            or "write a non-negative whole number with an optional unit: 10, 500M, 2Gi"
        )
        raise QuantityError(
            "resource_syntax", f"{text[:_MAX_DIGITS]!r} is not a valid amount of {resource}", hint
        )
    digits, suffix = form.group(1).lstrip("0"), form.group(2)
    number = int(digits or 0) if len(digits) <= _MAX_DIGITS else LARGEST + 1
    factor = _factor(resource, suffix)
    if number > LARGEST or (factor or 0) * number > LARGEST:
        message = f"{text[:_MAX_DIGITS]!r} is too large for {resource}"
        raise QuantityError("resource_overflow", message, "the maximum is 2^63 - 1, for vcore in thousandths")
    if factor is None:
        milli = "m, " if resource == VCORE else ""
        units = f"units are {milli}k, M, G, T, P, E (thousands) and Ki, Mi, Gi, Ti, Pi, Ei (of 1024)"
        hint = _in_whole_units(resource, text) or units
        raise QuantityError("resource_suffix", f"invalid unit {suffix!r} for {resource}", hint)
    return number * factor


def _in_whole_units(resource: str, text: str) -> str:
    """Return a hint at the same amount in a form that is accepted, for ``0.5G``, ``512MB`` and ``2g``; empty if unknown."""
    plain = _SPACE.sub("", text)
    form = _OTHER_FORM.fullmatch(plain)
    if form is None or plain.endswith("m"):  # thousandths, or millions: unknown
        return ""
    from fractions import Fraction  # noqa: PLC0415 - takes long, and is for hints only

    unit = form[3][:1].upper().replace("K", "k") + form[3][1:].lower()
    factor = _factor(resource, unit)
    amount = Fraction(f"{form[1] or 0}.{form[2] or 0}") * (factor or 0)
    if not amount or amount > LARGEST or amount.denominator != 1:
        return ""
    return f"write {format_quantity(resource, int(amount))}"


def _factor(resource: str, suffix: str) -> int | None:
    if resource != VCORE:
        return _SUFFIXES.get(suffix)
    return 1 if suffix == "m" else _SUFFIXES[suffix] * MILLI if suffix in _SUFFIXES else None


def format_quantity(resource: str, amount: int) -> str:
    """Format an amount without rounding: ``1500m``, ``2Gi``, ``250G``."""
    if resource == VCORE:
        whole, rest = divmod(amount, MILLI)
        return f"{amount}m" if rest else str(whole)
    for suffix, factor in sorted(_SUFFIXES.items(), key=lambda item: -item[1]):
        if suffix and amount and amount % factor == 0:
            return f"{amount // factor}{suffix}"
    return str(amount)


def format_amounts(amounts: Resources) -> str:
    """Return ``vcore 8, memory 2Gi``."""
    return ", ".join(f"{name} {format_quantity(name, amount)}" for name, amount in amounts.items())


def fits(amounts: Resources, limit: Resources) -> bool:
    """True if amounts stay within a limit; resources that the limit does not list are unlimited."""
    return all(amount <= limit[name] for name, amount in amounts.items() if name in limit)


def exceeding(amounts: Resources, limit: Resources) -> tuple[str, ...]:
    """Return the resources whose amount exceeds a limit."""
    return tuple(name for name, amount in amounts.items() if name in limit and amount > limit[name])


def compared(names: Iterable[str], amounts: Resources, limit: Resources) -> str:
    """Return ``memory 2Gi > 1G, vcore 5 > 4`` for messages."""
    return ", ".join(
        f"{name} {format_quantity(name, amounts[name])} > {format_quantity(name, limit[name])}"
        for name in names
    )


def smaller(one: Resources, other: Resources) -> dict[str, int]:
    """Return the smaller of two limits for each resource; one of them may be missing."""
    return {
        name: min(one.get(name, other.get(name, 0)), other.get(name, one.get(name, 0)))
        for name in {**one, **other}
    }


def added(one: Resources, other: Resources) -> dict[str, int]:
    """Return the sum of two amounts by resource."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def is_zero(amounts: Resources) -> bool:
    """True if all amounts are zero."""
    return not any(amounts.values())
