"""What functions that answer with a list or an ad share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.functions import LONG
from negotiator.classad.scalar.ad import ClassAd
from negotiator.classad.scalar.scope import AdScope
from negotiator.classad.syntax.tree import Literal
from negotiator.classad.values.bytestrings import from_bytes
from negotiator.classad.values.kinds import ERROR, AdValue, ListValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.syntax.tree import Expr, LiteralValue
    from negotiator.classad.values.kinds import Value

MAX_ITEMS = 1 << 17

_STEPS_TO_MAKE = 4  # an element


def values_of(args: tuple[Expr, ...], scope: AdScope) -> list[Value]:
    """Return the values of the arguments of a call that stands in ``scope``, from left to right; charge for long ones."""
    state = scope.state
    values = [state.value(arg) for arg in args]
    size = sum(len(value) for value in values if isinstance(value, str))
    if size > LONG:
        state.charge(size)
    return values


def list_of(texts: Sequence[bytes], scope: AdScope) -> Value:
    """Return a list of strings, as if it were written in ``scope``; error if there are more than ``MAX_ITEMS``."""
    if len(texts) > MAX_ITEMS:
        return ERROR
    scope.state.charge(len(texts) * _STEPS_TO_MAKE)
    return ListValue(tuple(Literal(from_bytes(text)) for text in texts), scope)


def ad_of(items: Iterable[tuple[str, LiteralValue]], scope: AdScope) -> AdValue:
    """Return an ad of constants for a call that stands in ``scope``; it lies in no other ad."""
    return AdScope(ClassAd(items), None, scope.state).value()
