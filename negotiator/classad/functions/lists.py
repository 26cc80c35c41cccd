"""Functions of lists: sum, avg, min, max, member, identicalMember, anyCompare, allCompare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.context import BINARY, ListValue
from negotiator.classad.functions.conversions import is_compound, is_number
from negotiator.classad.functions.registry import element_values, register
from negotiator.classad.values import ERROR, UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.values import Exceptional

_COMPARISONS = {op: BINARY[op] for op in ("<", "<=", "==", "!=", ">", ">=")} | {
    "is": BINARY["=?="],
    "isnt": BINARY["=!="],
}


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
