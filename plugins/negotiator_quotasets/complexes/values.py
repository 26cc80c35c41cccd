"""Values of complexes: limits, requests and defaults, read and compared as Grid Engine does.

Source: complex(5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from negotiator.plugin import NegotiatorError
from negotiator_quotasets.complexes.model import Complex, ComplexType, Relation
from negotiator_quotasets.complexes.numbers import (
    MAX_DIGITS,
    MAX_EXPONENT,
    TYPE_NAMES,
    InvalidNumberError,
    is_infinite,
    parse_number,
)
from negotiator_quotasets.complexes.patterns import Folding, expression_matches, same_host

_INFINITY = Fraction(
    10 ** (2 * (MAX_DIGITS + MAX_EXPONENT))
)  # no text of that length denotes a larger number


class InvalidValueError(NegotiatorError, ValueError):
    """An invalid value of a complex; the message is Grid Engine's, ``hint`` names the valid values."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def parse_value(complex_: Complex, text: str) -> Fraction | None:
    """Return the number of a limit, a request or a default; None if the complex's values are words.

    ``INFINITY`` is larger than any number, and is a value of every numeric complex that is not consumed.

    :raises InvalidValueError: missing or invalid value, or a negative or infinite one of a consumable.
    """
    name, type_ = complex_.name, complex_.type
    if not text:
        raise InvalidValueError(f'denied: missing value for request "{name}"', f"write {name}=VALUE")
    if not type_.is_number:
        return None
    if is_infinite(text):
        if not complex_.is_consumable:
            return _INFINITY
        hint = "leave the limit out where there is to be none"
        raise InvalidValueError(f'attribute "{name}" is not a value that can be set to infinity', hint)
    try:
        value = parse_number(type_, text)
    except InvalidNumberError:
        raise InvalidValueError(f'attribute "{name}" is not a {TYPE_NAMES[type_]}', _HINTS[type_]) from None
    if value < 0 and complex_.is_consumable:
        message = f'attribute "{name}" is consumable but has a negative value'
        raise InvalidValueError(message, "the least is 0")
    return value


def satisfies(complex_: Complex, requested: str, limit: str) -> bool:
    """True if a request for a complex that is not consumed is within a limit, by the complex's relation.

    Words are only ever equal or different. A request may be an expression of patterns (``n*``, ``a|b``); the limit is
    one word.

    :raises InvalidValueError: invalid value, or invalid expression of patterns.
    """
    request_number, limit_number = parse_value(complex_, requested), parse_value(complex_, limit)
    if request_number is not None and limit_number is not None:
        return _COMPARED[complex_.relation](request_number, limit_number)
    try:
        same = _same_words(complex_.type, requested, limit)
    except ValueError as error:
        raise InvalidValueError(f'attribute "{complex_.name}": {error}') from None
    return same is not (complex_.relation is Relation.NE)


def _same_words(type_: ComplexType, requested: str, limit: str) -> bool:
    if type_ is ComplexType.HOST:
        return same_host(requested, limit) or expression_matches(requested, limit, Folding.CASE)
    return expression_matches(
        requested, limit, Folding.CASE if type_ is ComplexType.CSTRING else Folding.NONE
    )


_COMPARED: Mapping[Relation, Callable[[Fraction, Fraction], bool]] = MappingProxyType(
    {
        Relation.LE: lambda requested, limit: requested <= limit,
        Relation.GE: lambda requested, limit: requested >= limit,
        Relation.EQ: lambda requested, limit: requested == limit,
        Relation.NE: lambda requested, limit: requested != limit,
        Relation.LT: lambda requested, limit: requested < limit,
        Relation.GT: lambda requested, limit: requested > limit,
        Relation.EXCL: lambda requested, limit: requested == 0 or requested <= limit,
    }
)
_HINTS: Mapping[ComplexType, str] = MappingProxyType(
    {
        ComplexType.INT: "write decimal digits without a leading 0, and perhaps k, m, g, t (1000) or K, M, G, T (1024)",
        ComplexType.DOUBLE: "write a number such as 1.5 or 1e3",
        ComplexType.MEMORY: "write bytes, and perhaps k, m, g, t (1000) or K, M, G, T (1024): 512M",
        ComplexType.TIME: "write seconds or hours:minutes:seconds: 1:30:00",
        ComplexType.BOOL: "write true or false",
    }
)
