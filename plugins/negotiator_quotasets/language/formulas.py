"""Formulas: limits that are sums of numbers and of weighted values of a host.

Source: "Resource Quota Sets", dynamical limits: ``{w1|$complex1[*w1]}[{+|-}...]``; its first step allows ``$num_proc``
only. The messages are the qmaster's. It accepts more formulas, which then limit nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from negotiator.plugin import NegotiatorError
from negotiator_quotasets.complexes import Complexes, ComplexType
from negotiator_quotasets.language.lexer import quotable
from negotiator_quotasets.language.model import Term

_WEIGHT = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
_MAX_DIGITS = 40
_MAX_TERMS = 100
_SIGN = re.compile(r"([+-])")
PROCESSORS = "num_proc"


class FormulaError(NegotiatorError, ValueError):
    """An invalid formula."""


def is_formula(text: str) -> bool:
    """True if a limit is a formula."""
    return "$" in text


def read_formula(text: str, complexes: Complexes, *, numeric: bool = False) -> tuple[Term, ...]:
    """Parse a formula; with ``numeric``, it may use any complex whose values are numbers, not only num_proc.

    :raises FormulaError: invalid formula, or a complex that may not be used.
    """
    pieces = _SIGN.split(text)
    if not pieces[0] or not pieces[-1]:
        raise FormulaError('"dynamical_limit" begins or ends with a sign')
    if len(pieces) > 2 * _MAX_TERMS:
        raise FormulaError(f'"dynamical_limit" may have {_MAX_TERMS} summands')
    signs = ["+", *pieces[1::2]]
    return tuple(
        _term(-1 if sign == "-" else 1, piece, complexes, numeric=numeric)
        for sign, piece in zip(signs, pieces[::2], strict=True)
    )


def _term(sign: int, text: str, complexes: Complexes, *, numeric: bool) -> Term:
    first, *factors = text.split("*")
    if not first.startswith("$"):
        return Term(sign * _weight(first, factors), "")
    name = first.removeprefix("$")
    complex_ = complexes.find(name)
    if complex_ is None or complex_.name != name:
        raise FormulaError(f'"dynamical_limit" references not existing complex attribute "{quotable(name)}"')
    weight = _weight("1", []) if not factors else _weight(factors[0], factors[1:])
    if name != PROCESSORS and not numeric:
        raise FormulaError(f'"dynamical_limit" may use "${PROCESSORS}" only, not "{quotable(first)}"')
    if not complex_.type.is_number or complex_.type is ComplexType.BOOL:
        raise FormulaError(
            f'"dynamical_limit" may use numbers only, "{quotable(name)}" is of type {complex_.type}'
        )
    return Term(sign * weight, name)


def _weight(text: str, more: list[str]) -> Fraction:
    for factor in (text, *more):
        if len(factor) > _MAX_DIGITS or _WEIGHT.fullmatch(factor) is None:
            words = f'uses "{quotable(factor)}" as weighting factor (only numbers are allowed)'
            raise FormulaError(f'"dynamical_limit" {words}')
    if more:
        raise FormulaError('"dynamical_limit" may not use multiple weighting factors')
    return Fraction(text)


def evaluate_formula(
    terms: Iterable[Term], type_: ComplexType, values: Mapping[str, Fraction | None]
) -> Fraction | None:
    """Return a formula's value on a host, rounded down for INT; None if the host lacks a value that it needs.

    The value may be negative: then no request fits. Without a value no limit can be computed; Grid Engine
    lets any job run there, whereas the callers here reject all jobs, with a reason.
    """
    total = Fraction(0)
    for term in terms:
        value = Fraction(1) if not term.complex else values.get(term.complex)
        if value is None:
            return None
        total += term.weight * value
    return Fraction(math.floor(total)) if type_ is ComplexType.INT else total
