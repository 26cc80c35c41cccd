"""Functions of numbers: floor, ceil, ceiling, round, pow, quantize, random, interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from negotiator.classad.context import EvaluationFailed, ListValue
from negotiator.classad.functions.conversions import as_integer, as_real
from negotiator.classad.functions.registry import element_values, register
from negotiator.classad.values import ERROR, Exceptional, truncate64, wrap32, wrap64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from negotiator.classad.context import ClassAdValue, Environment

_RANDOM_MAX = 2_147_483_647


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
