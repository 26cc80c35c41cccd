"""What functions that answer with a list or an ad share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.ad import ClassAd
from negotiator.classad.bytestrings import from_bytes
from negotiator.classad.functions import LONG
from negotiator.classad.scope import Scope
from negotiator.classad.tree import Literal
from negotiator.classad.values import ERROR, AdValue, ListValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.tree import Expr, LiteralValue
    from negotiator.classad.values import Value

MAX_ITEMS = 1 << 17

_STEPS_TO_MAKE = 4  # an element


def values_of(args: tuple[Expr, ...], scope: Scope) -> list[Value]:
    """Return the values of the arguments of a call that stands in ``scope``, from left to right; charge for long ones."""
    state = scope.state
    values = [state.value(arg) for arg in args]
    size = sum(len(value) for value in values if isinstance(value, str))
    if size > LONG:
        state.charge(size)
    return values


def list_of(texts: Sequence[bytes], scope: Scope) -> Value:
    """Return a list of strings, as if it were written in ``scope``; error if there are more than ``MAX_ITEMS``."""
    if len(texts) > MAX_ITEMS:
        return ERROR
    scope.state.charge(len(texts) * _STEPS_TO_MAKE)
    return ListValue(tuple(Literal(from_bytes(text)) for text in texts), scope)


def ad_of(items: Iterable[tuple[str, LiteralValue]], scope: Scope) -> AdValue:
    """Return an ad of constants for a call that stands in ``scope``; it lies in no other ad."""
    return Scope(ClassAd(items), None, scope.state).value()
