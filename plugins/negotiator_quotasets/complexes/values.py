"""Values of complexes: limits, requests and defaults, read, compared, counted and printed as Grid Engine does.

Numbers are exact fractions; counters are whole numbers, which add up exactly. Patterns are ``*``, ``?`` and ``[...]``, joined by ``&`` and
``|``, negated by ``!``, grouped by parentheses; without parentheses the operators are applied from left to right.

Source: complex(5); sge_types(1), "memory_specifier", "time_specifier", "pattern" and "expression"; and the behaviour of a qmaster 8.1.9.
Stricter than the qmaster in integers: it takes ``+5``, ``1.5`` and ``0x10`` for numbers of slots.
"""

from __future__ import annotations

import enum
import fnmatch
import math
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from negotiator.plugin import NegotiatorError
from negotiator_quotasets.complexes.model import Complex, ComplexType, Consumable, Relation

_MULTIPLIERS: Mapping[str, int] = MappingProxyType(
    {"": 1}
    | {letter: 1000**power for power, letter in enumerate("kmgt", 1)}
    | {letter: 1024**power for power, letter in enumerate("KMGT", 1)}
)
#: Characters of a number: no quantity needs more, and powers of ten stay small.
MAX_DIGITS = 400
#: Of a power of ten, as in Grid Engine's own doubles.
MAX_EXPONENT = 308

_WHOLE = re.compile(r"(-?)([0-9]+)([kKmMgGtT]?)", re.ASCII)
_CONSTANT = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]+)([kKmMgGtT]?)", re.ASCII)
_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,6}))?)([kKmMgGtT]?)", re.ASCII)
_CLOCK = re.compile(r"([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*)", re.ASCII)
_TRUTH: Mapping[str, int] = MappingProxyType({"true": 1, "1": 1, "false": 0, "0": 0})

#: The names of the types in Grid Engine's messages.
TYPE_NAMES: Mapping[ComplexType, str] = MappingProxyType(
    {
        ComplexType.INT: "integer value",
        ComplexType.DOUBLE: "double value",
        ComplexType.MEMORY: "memory value",
        ComplexType.TIME: "time value",
        ComplexType.BOOL: "boolean value",
    }
)
_MAX_LENGTH = 1000  # of an expression: requests come from users
_MAX_DEPTH = 50
_WILD = re.compile(r"[*?\[]")
_TOKEN = re.compile(r"[()!&|]|(?:\[[!^]?\]?[^\]]*\]|[^()!&|])+")
_INFINITY = Fraction(
    10 ** (2 * (MAX_DIGITS + MAX_EXPONENT))
)  # no text of that length denotes a larger number
_HINTS: Mapping[ComplexType, str] = MappingProxyType(
    {
        ComplexType.INT: "write decimal digits without a leading 0, and perhaps k, m, g, t (1000) or K, M, G, T (1024)",
        ComplexType.DOUBLE: "write a number such as 1.5 or 1e3",
        ComplexType.MEMORY: "write bytes, and perhaps k, m, g, t (1000) or K, M, G, T (1024): 512M",
        ComplexType.TIME: "write seconds or hours:minutes:seconds: 1:30:00",
        ComplexType.BOOL: "write true or false",
    }
)
#: The largest value of a counter.
LARGEST = 2**63 - 1
_UNITS = {ComplexType.DOUBLE: 1_000_000}


class InvalidNumberError(NegotiatorError, ValueError):
    """A text that is not a number of the requested type."""


def parse_number(type_: ComplexType, text: str) -> Fraction:
    """Return the number that a text denotes: bytes of memory, seconds of time, 1 or 0 for a boolean.

    INT has decimal digits and an optional multiplier (``k`` 1000, ``K`` 1024, and so on to ``t`` and ``T``); a leading 0
    that would make it octal elsewhere is refused. MEMORY and TIME may be hexadecimal or octal too, TIME also ``h:m:s``.

    :raises InvalidNumberError: invalid number, or the type has no numbers. The message does not quote the text.
    """
    read = _READERS.get(type_)
    value = None if read is None or len(text) > MAX_DIGITS else read(text)
    if value is None:
        raise InvalidNumberError(f"not a {TYPE_NAMES.get(type_, 'number')}")
    return value


def is_infinite(text: str) -> bool:
    """True if a text is ``INFINITY``, in any case."""
    return text.lower() == "infinity"


def _whole(text: str) -> Fraction | None:
    form = _WHOLE.fullmatch(text)
    if form is None or _is_ambiguous(form[2]):
        return None
    return Fraction(int(form[1] + form[2]) * _MULTIPLIERS[form[3]])


def _is_ambiguous(digits: str) -> bool:
    """True if Grid Engine reads other digits than a person does: 010 is 8 there, while 005 is 5 to both."""
    return digits.startswith("0") and digits.isdigit() and len(digits.lstrip("0")) > 1


def _decimal(text: str) -> Fraction | None:
    form = _DECIMAL.fullmatch(text)
    if form is None or abs(int(form[2] or 0)) > MAX_EXPONENT or _is_ambiguous(form[1]):
        return None
    return Fraction(form[1]) * _MULTIPLIERS[form[3]]


def _specifier(text: str) -> Fraction | None:
    """Read a hexadecimal, octal or decimal constant with a multiplier."""
    form = _CONSTANT.fullmatch(text)
    if form is None:
        return _decimal(text)
    constant = int(form[1], 16) if form[1][1] in "xX" else int(form[1], 8)
    return Fraction(constant * _MULTIPLIERS[form[2]])


def _seconds(text: str) -> Fraction | None:
    form = _CLOCK.fullmatch(text)
    if form is None:
        return _specifier(text)
    parts = [Fraction(0) if part in ("", ".") else Fraction(part) for part in form.groups()]
    return 3600 * parts[0] + 60 * parts[1] + parts[2]


def _truth(text: str) -> Fraction | None:
    value = _TRUTH.get(text.lower())
    return None if value is None else Fraction(value)


_READERS: Mapping[ComplexType, Callable[[str], Fraction | None]] = MappingProxyType(
    {
        ComplexType.INT: _whole,
        ComplexType.DOUBLE: _decimal,
        ComplexType.MEMORY: _specifier,
        ComplexType.TIME: _seconds,
        ComplexType.BOOL: _truth,
    }
)


class Folding(enum.Enum):
    """Whether case is ignored (CASE) or not (NONE)."""

    NONE = "none"
    CASE = "case"


def has_wildcards(text: str) -> bool:
    """True if a text is a pattern, not a plain name."""
    return _WILD.search(text) is not None


@lru_cache(1 << 13)  # names in requests by HTTP are patterns too
def matcher(pattern: str) -> Callable[[str], object]:
    """Return a predicate: true if all of a name matches the pattern, case-sensitively, as in fnmatch(3)."""
    return _compiled(pattern)


def queue_matches(name: str, queue: str) -> bool:
    """True if an entry of a filter matches a queue: by its leaf's name, or, with a dot, by its path.

    A path may leave out the root. Names of queues ignore case.
    """
    matches, queue = matcher(name.lower()), queue.lower()
    if "." not in name:
        return bool(matches(queue.rpartition(".")[2]))
    return bool(matches(queue) or matches(queue.removeprefix("root.")))


def _compiled(pattern: str) -> Callable[[str], object]:
    if not has_wildcards(pattern):
        return pattern.__eq__
    return re.compile(fnmatch.translate(pattern.replace("[^", "[!"))).match


# A cache apart for patterns of jobs: there are many and long ones, which must not fill the memory.
_compiled_request = lru_cache(1 << 9)(_compiled)


def wildcard_matches(pattern: str, word: str, folding: Folding = Folding.NONE) -> bool:
    """True if all of a word matches a pattern."""
    if folding is Folding.CASE:
        pattern, word = pattern.lower(), word.lower()
    return bool(_compiled_request(pattern)(word))


def same_host(one: str, other: str) -> bool:
    """True if two names denote one host: case is ignored, and so is the domain if one name has none."""
    one, other = one.lower(), other.lower()
    if "." in one and "." in other:
        return one == other
    return one.partition(".")[0] == other.partition(".")[0]


def expression_matches(expression: str, word: str, folding: Folding = Folding.NONE) -> bool:
    """True if a word matches an expression of patterns.

    :raises ValueError: invalid expression, or one that is too long or too deep.
    """
    if len(expression) > _MAX_LENGTH:
        raise ValueError(f"an expression of patterns has at most {_MAX_LENGTH} characters")
    tokens = _TOKEN.findall(expression)
    result, end = _operands(tokens, 0, word, folding, 0)
    if end != len(tokens):
        raise ValueError(f"unexpected {tokens[end]!r} in an expression of patterns")
    return result


def _operands(tokens: list[str], at: int, word: str, folding: Folding, depth: int) -> tuple[bool, int]:
    """Evaluate operands joined by operators; return the result and the index of the token after them."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"parentheses in an expression of patterns may be {_MAX_DEPTH} deep")
    result, at = _operand(tokens, at, word, folding, depth)
    while at < len(tokens) and tokens[at] in ("&", "|"):
        other, end = _operand(tokens, at + 1, word, folding, depth)
        result = (result and other) if tokens[at] == "&" else (result or other)
        at = end
    return result, at


def _operand(tokens: list[str], at: int, word: str, folding: Folding, depth: int) -> tuple[bool, int]:
    negated = False
    while at < len(tokens) and tokens[at] == "!":
        negated, at = not negated, at + 1
    if at == len(tokens) or tokens[at] in (")", "&", "|"):
        raise ValueError("missing pattern in an expression of patterns")
    if tokens[at] == "(":
        result, at = _operands(tokens, at + 1, word, folding, depth + 1)
        if at == len(tokens) or tokens[at] != ")":
            raise ValueError("missing closing parenthesis in an expression of patterns")
    else:
        result = wildcard_matches(tokens[at], word, folding)
    return result != negated, at + 1


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


def units_of(complex_: Complex) -> int:
    """Return the counter units per 1 of a complex: a millionth is counted for DOUBLE, else 1, a byte or a second."""
    return _UNITS.get(complex_.type, 1)


def charged_units(complex_: Complex, value: Fraction, slots: int = 1) -> int:
    """Return the charge of a job with so many slots, rounded up so that no request is free."""
    times = slots if complex_.consumable is Consumable.YES else 1
    return min(math.ceil(value * times * units_of(complex_)), LARGEST)


def limit_units(complex_: Complex, value: Fraction) -> int:
    """Return a limit in units of the counter, rounded down."""
    return max(-LARGEST, min(math.floor(value * units_of(complex_)), LARGEST))


def normalized(type_: ComplexType, text: str) -> str:
    """Return a limit's text as Grid Engine stores it: times in whole seconds, all else (``INFINITY`` too) unchanged.

    :raises InvalidNumberError: invalid time.
    """
    if type_ is not ComplexType.TIME or is_infinite(text):
        return text
    return _rounded(parse_number(type_, text), "1")


def format_amount(type_: ComplexType, amount: Fraction) -> str:
    """Return an amount as qquota prints it: ``4``, ``0.300000``, ``1.863G``, ``00:30:00``, ``true``."""
    return _PRINTERS[type_](amount) if type_ in _PRINTERS else str(amount)


def _rounded(amount: Fraction, step: str) -> str:
    """Return a decimal number with as many digits as ``step`` has, rounded half to even as printf does."""
    with localcontext() as context:
        context.prec = 2 * MAX_DIGITS + MAX_EXPONENT
        return str((Decimal(amount.numerator) / amount.denominator).quantize(Decimal(step), ROUND_HALF_EVEN))


def _memory(amount: Fraction) -> str:
    for power, letter in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
        if abs(amount) >= 1024**power:
            return _rounded(amount / 1024**power, "0.001") + letter
    return _rounded(amount, "0.001")


def _time(amount: Fraction) -> str:
    minutes, seconds = divmod(abs(int(amount)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if amount <= -1 else ''}{hours:02}:{minutes:02}:{seconds:02}"


_PRINTERS: Mapping[ComplexType, Callable[[Fraction], str]] = MappingProxyType(
    {
        ComplexType.INT: lambda amount: str(int(amount)),
        ComplexType.DOUBLE: lambda amount: _rounded(amount, "0.000001"),
        ComplexType.MEMORY: _memory,
        ComplexType.TIME: _time,
        ComplexType.BOOL: lambda amount: "true" if amount else "false",
    }
)
