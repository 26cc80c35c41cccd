"""Helpers of functions that return a list or an ad."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.context import AdScope, AdValue, ListValue
from negotiator.classad.functions.registry import LONG_STRING
from negotiator.classad.syntax import AttributeMap, Literal
from negotiator.classad.values import ERROR, from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.context import ClassAdValue
    from negotiator.classad.syntax import Expr, LiteralValue

MAX_ITEMS = 1 << 17

_STEPS_TO_MAKE = 4  # for each element


def argument_values(args: tuple[Expr, ...], scope: AdScope) -> list[ClassAdValue]:
    """Return the values of the arguments of a call in ``scope``, from left to right. Charges for long strings."""
    state = scope.state
    values = [state.evaluate_argument(arg) for arg in args]
    size = sum(len(value) for value in values if isinstance(value, str))
    if size > LONG_STRING:
        state.charge(size)
    return values


def string_list(texts: Sequence[bytes], scope: AdScope) -> ClassAdValue:
    """Return a list of strings with this scope; error if there are more than ``MAX_ITEMS``."""
    if len(texts) > MAX_ITEMS:
        return ERROR
    scope.state.charge(len(texts) * _STEPS_TO_MAKE)
    return ListValue(tuple(Literal(from_bytes(text)) for text in texts), scope, self_contained=True)


def constant_ad(items: Iterable[tuple[str, LiteralValue]], scope: AdScope) -> AdValue:
    """Return an ad of constants for a call in ``scope``. No other ad encloses it."""
    return AdScope(AttributeMap(items), None, scope.state).value()
