"""Functions of versions: versioncmp, versionLT, versionLE, versionGT, versionGE, versionEQ, version_in_range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.functions.conversions import as_bytes
from negotiator.classad.functions.registry import register
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional, natural_compare, until_nul

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.functions.registry import ValueFunction


def _compared(args: Sequence[ClassAdValue]) -> int | Exceptional:
    if any(value is UNDEFINED for value in args):
        return UNDEFINED
    left, right = (as_bytes(value) for value in args)
    if isinstance(left, Exceptional) or isinstance(right, Exceptional):
        return ERROR
    return natural_compare(until_nul(left), until_nul(right))


@register("versioncmp", 2, 2)
def version_compare(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``versioncmp(a, b)``: less than, equal to or greater than 0 if ``a`` sorts before, with or after ``b``."""
    return _compared(args)


def _test(of: Callable[[int], bool]) -> ValueFunction:
    def test(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
        order = _compared(args)
        return order if isinstance(order, Exceptional) else of(order)

    return test


register("versionLT", 2, 2)(_test(lambda order: order < 0))
register("versionLE", 2, 2)(_test(lambda order: order <= 0))
register("versionGT", 2, 2)(_test(lambda order: order > 0))
register("versionGE", 2, 2)(_test(lambda order: order >= 0))
register("versionEQ", 2, 2)(_test(lambda order: order == 0))


@register("version_in_range", 3, 3)
def version_in_range(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``version_in_range(v, least, most)``: whether ``least <= v <= most``."""
    version, least, most = args
    if least is UNDEFINED or most is UNDEFINED:
        return UNDEFINED
    above, below = _compared((least, version)), _compared((version, most))
    if isinstance(above, Exceptional) or isinstance(below, Exceptional):
        return ERROR
    return above <= 0 and below <= 0
