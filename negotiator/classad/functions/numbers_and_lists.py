"""Functions of kinds, numbers and lists: isUndefined .. isRelTime, int .. bool, floor .. interval, sum .. allCompare."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from negotiator.classad.context import BINARY, AdValue, EvaluationFailed, ListValue
from negotiator.classad.functions.registry import (
    as_integer,
    as_real,
    as_string,
    element_values,
    is_compound,
    is_number,
    register,
)
from negotiator.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Exceptional,
    RelTime,
    fold_bytes,
    to_bytes,
    truncate32,
    truncate64,
    wrap32,
    wrap64,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.functions.registry import ValueFunction

_RANDOM_MAX = 2_147_483_647
_COMPARISONS = {op: BINARY[op] for op in ("<", "<=", "==", "!=", ">", ">=")} | {
    "is": BINARY["=?="],
    "isnt": BINARY["=!="],
}


def _test(of: Callable[[ClassAdValue], bool]) -> ValueFunction:
    def test(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
        return of(args[0])

    return test


register("isUndefined", 1, 1)(_test(lambda value: value is UNDEFINED))
register("isError", 1, 1)(_test(lambda value: value is ERROR))
register("isBoolean", 1, 1)(_test(lambda value: type(value) is bool))
register("isInteger", 1, 1)(_test(lambda value: type(value) is int))
register("isReal", 1, 1)(_test(lambda value: type(value) is float))
register("isString", 1, 1)(_test(lambda value: isinstance(value, str)))
register("isList", 1, 1)(_test(lambda value: isinstance(value, ListValue)))
register("isClassAd", 1, 1)(_test(lambda value: isinstance(value, AdValue)))
register("isAbsTime", 1, 1)(_test(lambda value: isinstance(value, AbsTime)))
register("isRelTime", 1, 1)(_test(lambda value: isinstance(value, RelTime)))


@register("int", 1, 1)
def to_integer(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``int(x)``: ``x`` as an integer: a real truncated, of text the number at its start."""
    return as_integer(args[0])


@register("real", 1, 1)
def to_real(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``real(x)``: ``x`` as a real: of text the number at its start."""
    return as_real(args[0])


@register("string", 1, 1)
def to_string(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``string(x)``: the text of ``x``."""
    return as_string(args[0])


@register("bool", 1, 1)
def to_boolean(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``bool(x)``: the truth of a number or a span of time, or the word true or false in any case."""
    value = args[0]
    if isinstance(value, int | float):
        return value != 0
    if isinstance(value, str):
        return {b"true": True, b"false": False}.get(fold_bytes(to_bytes(value)), UNDEFINED)
    if isinstance(value, RelTime):
        return truncate32(value.seconds) != 0
    return UNDEFINED if value is UNDEFINED else ERROR


def _rounded(value: ClassAdValue, by: Callable[[float], float]) -> ClassAdValue:
    if type(value) is int:
        return value
    real = as_real(value)
    if isinstance(real, Exceptional):
        return ERROR
    return truncate64(float(by(real)) if math.isfinite(real) else real)


@register("floor", 1, 1)
def floor(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``floor(x)``: the greatest integer not above ``x``."""
    return _rounded(args[0], math.floor)


@register("ceil", 1, 1)
@register("ceiling", 1, 1)
def ceil(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``ceil(x)``: the least integer not below ``x``."""
    return _rounded(args[0], math.ceil)


@register("round", 1, 1)
def round_half_even(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``round(x)``: the integer nearest to ``x``; of two, the even one."""
    return _rounded(args[0], round)


@register("pow", 2, 2)
def power(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``pow(x, y)``: an integer for integers unless ``y`` is negative, computed as a real plus 0.5, as in HTCondor."""
    base, exponent = args
    if type(base) is int and type(exponent) is int and exponent >= 0:
        return truncate64(_c_pow(float(base), float(exponent)) + 0.5)
    left, right = as_real(base), as_real(exponent)
    if isinstance(left, Exceptional) or isinstance(right, Exceptional):
        return ERROR
    return _c_pow(left, right)


def _c_pow(base: float, exponent: float) -> float:
    """Return C's ``pow`` for arguments for which Python raises."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = base < 0 and exponent % 2 == 1
        return -math.inf if odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan
        return -math.inf if exponent % 2 == 1 and math.copysign(1, base) < 0 else math.inf


@register("quantize", 2, 2)
def quantize(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``quantize(x, step)``: ``x`` rounded up to a multiple of ``step``; for a list, its first element not below ``x``.

    If ``x`` is above all elements, the last one is the step. Step 0 or an empty list leaves ``x`` unchanged.
    """
    value, step = args
    real = as_real(value)
    if isinstance(real, Exceptional):
        return ERROR
    if isinstance(step, ListValue):
        last: ClassAdValue = 0.0
        for element in element_values(step, env):
            bound = as_real(element)
            if isinstance(bound, Exceptional):
                return ERROR
            if bound >= real:
                return element
            last = element
        step = last
    return _next_multiple(value, real, step)


def _next_multiple(value: ClassAdValue, real: float, step: ClassAdValue) -> ClassAdValue:
    by = as_real(step)
    if isinstance(by, Exceptional):
        return ERROR
    if type(step) is int:
        if step == 0:
            return value
        if type(value) is int:
            raised = wrap64(value + wrap64(step - 1))
            if step == -1 and raised == -(2**63):
                return ERROR  # this division crashes HTCondor (SEMANTICS section 8)
            return wrap64(_c_divide(raised, step) * step)
    elif -1e-8 <= by <= 1e-8:
        return value
    ratio = real / by
    return _c_ceil(ratio) * by


def _c_ceil(real: float) -> float:
    return math.copysign(float(math.ceil(real)), real) if math.isfinite(real) else real


def _c_divide(number: int, by: int) -> int:
    quotient = abs(number) // abs(by)
    return quotient if (number < 0) == (by < 0) else -quotient


@register("random", 0, 1, deterministic=False, draws=True)
def random(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``random([n])``: an integer from 0 to ``n - 1``, or a real from 0 to ``n`` (default 1.0).

    Draws from the environment's generator, so that equal seeds give equal numbers. As in HTCondor the evaluation fails
    if ``n`` is not positive.
    """
    bound = args[0] if args else 1.0
    if type(bound) is int:
        most = wrap32(bound)
        if most <= 0:
            raise EvaluationFailed
        return env.generator.randint(0, _RANDOM_MAX) % most
    if isinstance(bound, float):
        if bound <= 0:
            raise EvaluationFailed
        return bound * (env.generator.randint(0, _RANDOM_MAX) / _RANDOM_MAX)
    return ERROR


@register("interval", 1, 1)
def interval(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``interval(seconds)``: ``d+hh:mm:ss`` without leading parts that are 0. Only the first part has a sign."""
    number = as_integer(args[0])
    if isinstance(number, Exceptional):
        return ERROR
    total = wrap32(number)
    sign, total = ("-", -total) if total < 0 else ("", total)
    minutes, seconds = divmod(total, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{sign}{days}+{hours:02}:{minutes:02}:{seconds:02}"
    if hours:
        return f"{sign}{hours}:{minutes:02}:{seconds:02}"
    return f"{sign}{minutes}:{seconds:02}" if minutes else f"{sign}{seconds}"


def _numbers(value: ClassAdValue, env: Environment) -> list[ClassAdValue] | Exceptional:
    """Return the defined elements of a list of numbers."""
    if not isinstance(value, ListValue):
        return UNDEFINED if value is UNDEFINED else ERROR
    numbers: list[ClassAdValue] = []
    for element in element_values(value, env):
        if is_number(element):
            numbers.append(element)
        elif element is not UNDEFINED:
            return ERROR
    return numbers


def _sum(numbers: list[ClassAdValue]) -> ClassAdValue:
    total: ClassAdValue = numbers[0] if numbers else 0
    for number in numbers[1:]:
        total = BINARY["+"](total, number)
    return total


@register("sum", 1, 1)
def total_of(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``sum(list)``: the sum of the elements; a single element unchanged, 0 for an empty list."""
    numbers = _numbers(args[0], env)
    return _sum(numbers) if isinstance(numbers, list) else numbers


@register("avg", 1, 1)
def average(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``avg(list)``: the mean of the elements as a real; the integer 0 for an empty list."""
    numbers = _numbers(args[0], env)
    if not isinstance(numbers, list):
        return numbers
    return BINARY["/"](_sum(numbers), float(len(numbers))) if numbers else 0


def _bound(args: Sequence[ClassAdValue], env: Environment, op: str) -> ClassAdValue:
    numbers = _numbers(args[0], env)
    if not isinstance(numbers, list):
        return numbers
    best: ClassAdValue = UNDEFINED
    for at, number in enumerate(numbers):
        if at == 0:
            best = number
            continue
        # A comparison converts both numbers to the wider kind, and they stay converted: max({1, 2.0, 3}) is 3.0.
        candidate, best = _widened(number, best)
        if BINARY[op](candidate, best) is True:
            best = candidate
    return best


def _widened(left: ClassAdValue, right: ClassAdValue) -> tuple[ClassAdValue, ClassAdValue]:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return left, right
    if isinstance(left, float) or isinstance(right, float):
        return float(left), float(right)
    return int(left), int(right)


@register("min", 1, 1)
def least(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``min(list)``: the least element; undefined for an empty list."""
    return _bound(args, env, "<")


@register("max", 1, 1)
def greatest(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``max(list)``: the greatest element; undefined for an empty list."""
    return _bound(args, env, ">")


@register("member", 2, 2)
def member(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``member(x, list)``: whether ``x ==`` some element. Elements that cannot be compared are ignored."""
    value, inside = args
    if value is UNDEFINED:
        return UNDEFINED
    return ERROR if value is ERROR and inside is not UNDEFINED else _member(value, inside, "==", env)


@register("identicalMember", 2, 2)
def identical_member(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``identicalMember(x, list)``: whether ``x =?=`` some element."""
    return _member(args[0], args[1], "=?=", env)


def _member(value: ClassAdValue, inside: ClassAdValue, op: str, env: Environment) -> ClassAdValue:
    if inside is UNDEFINED:
        return UNDEFINED
    if not isinstance(inside, ListValue) or is_compound(value):
        return ERROR
    return any(BINARY[op](element, value) is True for element in element_values(inside, env))


def _compare(args: Sequence[ClassAdValue], env: Environment, *, everything: bool) -> ClassAdValue:
    op = args[0]
    if not isinstance(op, str):
        return UNDEFINED if op is UNDEFINED else ERROR
    comparison = _COMPARISONS.get(op)
    if comparison is None:
        return ERROR
    inside = args[1]
    if not isinstance(inside, ListValue):
        return UNDEFINED if inside is UNDEFINED else ERROR
    value = args[2]
    for element in element_values(inside, env):
        result = comparison(element, value)
        if result is UNDEFINED:
            return False
        if result is ERROR:
            return ERROR
        if result is not everything:
            return not everything
    return everything


@register("anyCompare", 3, 3, selective=True)
def any_compare(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``anyCompare(op, list, x)``: whether ``element op x`` is true of some element before an undefined one."""
    return _compare(args, env, everything=False)


@register("allCompare", 3, 3, selective=True)
def all_compare(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``allCompare(op, list, x)``: whether ``element op x`` is true of every element."""
    return _compare(args, env, everything=True)
