"""What can be done with values alone: the operators as functions (SEMANTICS section 3), and the text of values."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Final

from negotiator.classad.context.scope import AdValue, ClassAdValue, ListValue
from negotiator.classad.syntax import ListExpr, RecordExpr, excerpt, shorten, unparse, unparse_constant
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, RelTime, fold_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

INT_MIN: Final = -(1 << 63)
INT_MAX: Final = (1 << 63) - 1
_NUMBERS: Final = frozenset({bool, int, float})
_SHIFT_MASK: Final = 63
COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MAX_ATTRIBUTES: Final = 8


def wrap(number: int) -> int:
    """Return an integer wrapped to 64 bits, two's complement."""
    if INT_MIN <= number <= INT_MAX:
        return number
    return ((number + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def truth(value: ClassAdValue) -> ClassAdValue:
    """Return a value as a condition: a boolean for booleans and numbers, undefined for undefined, otherwise error."""
    kind = type(value)
    if kind is bool:
        return value
    if kind is int or kind is float:
        return value != 0
    return UNDEFINED if value is UNDEFINED else ERROR


# -- arithmetic ------------------------------------------------------------------------------------------------------


def _real(number: float) -> ClassAdValue:
    return ERROR if number == math.inf else number


def _divide_reals(left: float, right: float) -> float:
    if right != 0.0:
        return left / right
    if left == 0.0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _multiply_reals(left: float, right: float) -> float:
    return left * right


def _divide_integers(left: int, right: int) -> ClassAdValue:
    if right == 0:
        return ERROR
    if left == INT_MIN and right == -1:
        return INT_MAX
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> ClassAdValue:
    if right == 0:
        return ERROR
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def _strict(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """Return the result of a strict operator for kinds of operands without a rule: error, unless one is undefined."""
    if left is ERROR or right is ERROR:
        return ERROR
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    return ERROR


def add(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``+``: numbers, spans of time, and a moment with a span."""
    a, b = type(left), type(right)
    if a is int and b is int:
        return wrap(left + right)  # type: ignore[operator, arg-type]
    if a in _NUMBERS and b in _NUMBERS:
        if a is float or b is float:
            return _real(float(left) + float(right))  # type: ignore[arg-type]
        return wrap(int(left) + int(right))  # type: ignore[arg-type]
    if isinstance(left, RelTime) and isinstance(right, RelTime):
        return RelTime(left.seconds + right.seconds)
    if isinstance(left, AbsTime) and isinstance(right, RelTime):
        return AbsTime(wrap(left.seconds + _whole_seconds(right)), left.offset)
    if isinstance(left, RelTime) and isinstance(right, AbsTime):
        return AbsTime(wrap(right.seconds + _whole_seconds(left)), right.offset)
    return _strict(left, right)


def subtract(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``-``: numbers, spans of time, a moment minus a span, and the span between two moments."""
    a, b = type(left), type(right)
    if a is int and b is int:
        return wrap(left - right)  # type: ignore[operator, arg-type]
    if a in _NUMBERS and b in _NUMBERS:
        if a is float or b is float:
            return _real(float(left) - float(right))  # type: ignore[arg-type]
        return wrap(int(left) - int(right))  # type: ignore[arg-type]
    if isinstance(left, RelTime) and isinstance(right, RelTime):
        return RelTime(left.seconds - right.seconds)
    if isinstance(left, AbsTime) and isinstance(right, AbsTime):
        return RelTime(float(wrap(left.seconds - right.seconds)))
    if isinstance(left, AbsTime) and isinstance(right, RelTime):
        return AbsTime(wrap(left.seconds - _whole_seconds(right)), left.offset)
    return _strict(left, right)


def multiply(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``*``: numbers, and a span with an integer or a real."""
    a, b = type(left), type(right)
    if a is int and b is int:
        return wrap(left * right)  # type: ignore[operator, arg-type]
    if a in _NUMBERS and b in _NUMBERS:
        if a is float or b is float:
            return _real(_multiply_reals(float(left), float(right)))  # type: ignore[arg-type]
        return wrap(int(left) * int(right))  # type: ignore[arg-type]
    if isinstance(left, RelTime) and (b is int or b is float):
        return RelTime(left.seconds * float(right))  # type: ignore[arg-type]
    if isinstance(right, RelTime) and (a is int or a is float):
        return RelTime(right.seconds * float(left))  # type: ignore[arg-type]
    return _strict(left, right)


def divide(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``/``: numbers, and a span by an integer or a real."""
    a, b = type(left), type(right)
    if a in _NUMBERS and b in _NUMBERS:
        if a is float or b is float:
            return _real(_divide_reals(float(left), float(right)))  # type: ignore[arg-type]
        return _divide_integers(int(left), int(right))  # type: ignore[arg-type]
    if isinstance(left, RelTime) and (b is int or b is float):
        return RelTime(_divide_reals(left.seconds, float(right)))  # type: ignore[arg-type]
    return _strict(left, right)


def modulo(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``%``: integers and booleans only. The result has the sign of the dividend."""
    if isinstance(left, int) and isinstance(right, int):
        return _remainder(int(left), int(right))
    return _strict(left, right)


def _whole_seconds(span: RelTime) -> int:
    """Return the seconds as x86 converts a double to a 32-bit integer: the least integer if it does not fit."""
    if not -2147483649.0 < span.seconds < 2147483648.0:
        return -(1 << 31)
    return int(span.seconds)


# -- bits ------------------------------------------------------------------------------------------------------------


def _left_shift(left: int, count: int) -> int:
    return wrap(left << (count & _SHIFT_MASK))


def _right_shift(left: int, count: int) -> int:
    if left >= 0:
        return left >> (count & _SHIFT_MASK)
    return left >> min(count, 64) if count > 0 else left


def _unsigned_right_shift(left: int, count: int) -> int:
    if left >= 0:
        return left >> (count & _SHIFT_MASK)
    return ((left >> 1) & INT_MAX) >> ((count - 1) & _SHIFT_MASK)


def _bitwise(compute: Callable[[int, int], int]) -> Callable[[ClassAdValue, ClassAdValue], ClassAdValue]:
    def apply(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
        if type(left) is int and type(right) is int:
            return compute(left, right)
        return _strict(left, right)

    return apply


# -- comparison ------------------------------------------------------------------------------------------------------


def compare_folded(left: str, right: str) -> int:
    """Return less than, equal to or greater than 0 like ``strcasecmp``."""
    if left == right:
        return 0
    if len(left) != len(right):  # of the longer one, a letter more than the other has decides
        shorter = min(len(left), len(right))
        left, right = left[: shorter + 1], right[: shorter + 1]
    if left.isascii() and right.isascii():
        a, b = left.lower(), right.lower()
        return (a > b) - (a < b)
    one, other = fold_bytes(to_bytes(left)), fold_bytes(to_bytes(right))
    return (one > other) - (one < other)


def _comparison(compare: Callable[[Any, Any], bool]) -> Callable[[ClassAdValue, ClassAdValue], ClassAdValue]:
    def apply(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
        a, b = type(left), type(right)
        if a is str and b is str:
            return compare(compare_folded(left, right), 0)  # type: ignore[arg-type]
        if a in _NUMBERS and b in _NUMBERS:
            if a is float or b is float:
                return compare(float(left), float(right))  # type: ignore[arg-type]
            return compare(left, right)
        if isinstance(left, RelTime) and isinstance(right, RelTime):
            return compare(left.seconds, right.seconds)
        if isinstance(left, AbsTime) and isinstance(right, AbsTime):
            return compare(left.seconds, right.seconds)
        return _strict(left, right)

    return apply


def identical(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``=?=``: same kind and same value, with case for strings. Never undefined.

    Error for two lists or two ads, except that self-contained ones are another kind than others.
    """
    a = type(left)
    if a is not type(right):
        return False
    if isinstance(left, ListValue | AdValue) and isinstance(right, ListValue | AdValue):
        return ERROR if left.self_contained is right.self_contained else False
    return left == right


def different(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``=!=``: the negation of ``=?=``."""
    same = identical(left, right)
    return same if same is ERROR else not same


# -- logic and one operand -------------------------------------------------------------------------------------------


def both(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``&&`` of two values."""
    a = truth(left)
    if a is False or a is ERROR:
        return a
    b = truth(right)
    if a is True or b is not True:
        return b
    return UNDEFINED


def either(left: ClassAdValue, right: ClassAdValue) -> ClassAdValue:
    """``||`` of two values."""
    a = truth(left)
    if a is True or a is ERROR:
        return a
    b = truth(right)
    if a is False or b is not False:
        return b
    return UNDEFINED


def negative(value: ClassAdValue) -> ClassAdValue:
    """Unary ``-``: integers, reals and spans of time."""
    kind = type(value)
    if kind is int:
        return wrap(-value)  # type: ignore[operator, arg-type]
    if kind is float:
        return -value  # type: ignore[operator]
    if isinstance(value, RelTime):
        return RelTime(-value.seconds)
    return UNDEFINED if value is UNDEFINED else ERROR


def positive(value: ClassAdValue) -> ClassAdValue:
    """Unary ``+``: integers, reals and spans of time, unchanged."""
    kind = type(value)
    if kind is int or kind is float or kind is RelTime or value is UNDEFINED:
        return value
    return ERROR


def negation(value: ClassAdValue) -> ClassAdValue:
    """``!``: the negation of a condition."""
    condition = truth(value)
    return (not condition) if type(condition) is bool else condition


def complement(value: ClassAdValue) -> ClassAdValue:
    """``~``: integers only."""
    if type(value) is int:
        return ~value
    return UNDEFINED if value is UNDEFINED else ERROR


UNARY: Final[dict[str, Callable[[ClassAdValue], ClassAdValue]]] = {
    "-": negative,
    "+": positive,
    "!": negation,
    "~": complement,
}


BINARY: Final[dict[str, Callable[[ClassAdValue, ClassAdValue], ClassAdValue]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "&": _bitwise(operator.and_),
    "|": _bitwise(operator.or_),
    "^": _bitwise(operator.xor),
    "<<": _bitwise(_left_shift),
    ">>": _bitwise(_right_shift),
    ">>>": _bitwise(_unsigned_right_shift),
    "=?=": identical,
    "=!=": different,
    "&&": both,
    "||": either,
    **{op: _comparison(compare) for op, compare in COMPARE.items()},
}


def unparse_value(value: ClassAdValue) -> str:
    """Return the text of a value in the new syntax."""
    if isinstance(value, ListValue):
        return unparse(ListExpr(value.items))
    if isinstance(value, AdValue):
        return unparse(RecordExpr(tuple(value.ad.items())))
    return unparse_constant(value)


def excerpt_value(value: ClassAdValue, most: int) -> str:
    """Return the text of a value in at most ``most`` characters, like ``excerpt``; of a large ad only its size."""
    if isinstance(value, AdValue):
        if len(value.ad) > MAX_ATTRIBUTES:
            return f"an ad of {len(value.ad)} attributes"
        return excerpt(RecordExpr(tuple(value.ad.items())), most)
    if isinstance(value, ListValue):
        return excerpt(ListExpr(value.items), most)
    return shorten(unparse_value(value[: most + 1] if isinstance(value, str) else value), most)
