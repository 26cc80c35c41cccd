"""The registry of functions (SEMANTICS section 6), how they are called, and the conversions that most of them start with.

A family of functions is a module of this package. It declares each function's name and arity with ``register``:

    @register("pow", 2, 2)
    def power(args: Sequence[Value], env: Environment) -> Value: ...

Each function decides what it returns for undefined and error. Functions do not raise Python exceptions, except for
those that end an evaluation. A conversion returns UNDEFINED or ERROR for what cannot be converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

import attrs

from negotiator.classad.context import AdScope, AdValue, ListValue, item_value, unparse_value
from negotiator.classad.syntax import AttributeMap, Call, Expr, Literal, children
from negotiator.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Exceptional,
    RelTime,
    abs_time_text,
    from_bytes,
    real_prefix,
    rel_time_text,
    to_bytes,
    truncate32,
    truncate64,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.syntax import LiteralValue

_STEPS_TO_PRINT = 3  # for each letter of a list or an ad

LONG_STRING: Final = 1000
"""Length in letters above which strings cost extra steps."""

FUNCTIONS: dict[str, Function] = {}
"""All functions, by name in lower case."""

MAX_ITEMS = 1 << 17
_STEPS_TO_MAKE = 4  # for each element


def as_real(value: ClassAdValue) -> float | Exceptional:
    """Convert to a real: of text the number at its start, of a span of time the whole seconds."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):  # also a boolean
        return float(value)
    if isinstance(value, str):
        number = real_prefix(value)
        return ERROR if number is None else number
    if isinstance(value, AbsTime):
        return float(value.seconds)
    if isinstance(value, RelTime):
        return float(truncate32(value.seconds))
    return UNDEFINED if value is UNDEFINED else ERROR


def as_integer(value: ClassAdValue) -> int | Exceptional:
    """Convert to an integer. Reals, including those at the start of text, are truncated."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, AbsTime):
        return value.seconds
    real = as_real(value)
    return real if isinstance(real, Exceptional) else truncate64(real)


def as_string(value: ClassAdValue) -> str | Exceptional:
    """Convert to a string. Every value but undefined and error has a text."""
    if isinstance(value, str | Exceptional):
        return value
    if isinstance(value, AbsTime):
        return abs_time_text(value)
    if isinstance(value, RelTime):
        return rel_time_text(float(truncate32(value.seconds)))
    text = unparse_value(value)
    if isinstance(value, ListValue | AdValue):
        value.scope.state.charge(len(text) * _STEPS_TO_PRINT)
    return text


def as_bytes(value: ClassAdValue) -> bytes | Exceptional:
    """Convert to a string and return its bytes."""
    text = as_string(value)
    return to_bytes(text) if isinstance(text, str) else text


def is_number(value: ClassAdValue) -> bool:
    """Return whether the value is a boolean, an integer or a real."""
    return isinstance(value, int | float)


def is_compound(value: ClassAdValue) -> bool:
    """Return whether the value is a list or an ad."""
    return isinstance(value, ListValue | AdValue)


def strings(values: tuple[ClassAdValue, ...]) -> tuple[str, ...] | Exceptional:
    """Return the values if all are strings. Otherwise return ERROR, or UNDEFINED if one is undefined and none an error."""
    if all(isinstance(value, str) for value in values):
        return tuple(value for value in values if isinstance(value, str))
    if any(value is ERROR for value in values):
        return ERROR
    return UNDEFINED if any(value is UNDEFINED for value in values) else ERROR


class Meter(Protocol):
    """A budget of steps."""

    def charge(self, steps: int) -> None:
        """Subtract steps. Raises an exception of its owner if fewer are left."""


@runtime_checkable
class ValueFunction(Protocol):
    """A function of values. Its arguments are evaluated from left to right before the call.

    If it is ``selective``, an argument is evaluated when the function reads it. If it is ``metered`` it has a third
    argument, a ``Meter``.
    """

    def __call__(self, args: Sequence[ClassAdValue], env: Environment, /) -> ClassAdValue:
        """Return the value of the call. The number of ``args`` is within the registered arity."""


@attrs.frozen
class Function:
    """A function of the language, as the evaluator calls it.

    ``lazy`` functions get expressions and a scope instead of values. ``deterministic`` is False if the value depends on
    random numbers (``draws``) or on the clock; such calls must not be folded into a constant that outlives the cycle.
    ``selective`` functions do not read all their arguments, whose evaluation might fail; ``levels`` is how many levels
    deeper they evaluate them.
    ``weight`` is the number of steps for every 8 letters of long strings, in the arguments and the value. ``metered``
    functions charge further steps themselves.
    """

    name: str
    min_args: int
    max_args: int | None
    call: Callable[..., ClassAdValue]
    lazy: bool = False
    deterministic: bool = True
    draws: bool = False
    selective: bool = False
    levels: int = 0
    weight: int = 1
    metered: bool = False

    def accepts(self, count: int) -> bool:
        """True if the function may be called with ``count`` arguments. Otherwise the call is an error."""
        return self.min_args <= count and (self.max_args is None or count <= self.max_args)

    def apply(self, args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:
        """Return the value of a call of a function of values, and charge for it.

        :raises Exhausted: no steps are left.
        """
        meter.charge(0)  # do not start without steps
        value: ClassAdValue = self.call(args, env, meter) if self.metered else self.call(args, env)
        extra_steps = self.extra_steps((*args, value))
        if extra_steps:
            meter.charge(extra_steps)
        return value

    def extra_steps(self, values: Iterable[ClassAdValue]) -> int:
        """Return the extra steps of a call with these arguments and this value."""
        size = longest = 0
        for value in values:
            if type(value) is str:
                size += len(value)
                longest = max(longest, len(value))
        return size * self.weight >> 3 if longest > LONG_STRING else 0


_Body = TypeVar("_Body", bound="Callable[..., Any]")


def register(
    name: str,
    min_args: int,
    max_args: int | None,
    *,
    lazy: bool = False,
    deterministic: bool = True,
    draws: bool = False,
    selective: bool = False,
    levels: int = 0,
    weight: int = 1,
    metered: bool = False,
) -> Callable[[_Body], _Body]:
    """Return a decorator that registers a body as ``name`` (any case) and returns the body unchanged.

    ``max_args`` None means any number. A body with several names is decorated once for each.

    :raises ValueError: the name is registered already.
    """

    def keep(body: _Body) -> _Body:
        key = name.lower()
        if key in FUNCTIONS:
            raise ValueError(f"function {name} is registered twice")
        FUNCTIONS[key] = Function(
            name,
            min_args,
            max_args,
            body,
            lazy=lazy,
            deterministic=deterministic,
            draws=draws,
            selective=selective,
            levels=levels,
            weight=weight,
            metered=metered,
        )
        return body

    return keep


def element_values(list_value: ListValue, env: Environment) -> Iterator[ClassAdValue]:  # noqa: ARG001
    """Yield the values of the elements of a list passed to a function. An element that is not reached is not evaluated.

    As in HTCondor they are evaluated in the scope of the *call*, not of the list: with ``A`` 1 in this ad and 100 in
    the other, ``sum(TARGET.L)`` of ``L = {A}`` is 1, although ``TARGET.L[0]`` is 100.
    """
    state = list_value.scope.state
    size = 0
    for item in list_value.items:
        state.charge(1)
        value = item_value(state, list_value, item)
        if type(value) is str:
            size += len(value)
            if size > LONG_STRING:
                state.charge(size >> 3)
                size = 0
        yield value


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


def wrong_calls(expr: Expr) -> Iterator[tuple[str, str]]:
    """Yield the name of each such function as written, and the problem of the call."""
    pending = [expr]
    while pending:
        node = pending.pop()
        pending.extend(reversed(children(node)))
        if not isinstance(node, Call):
            continue
        function = FUNCTIONS.get(node.name.lower())
        if function is None:
            yield node.name, f"unknown function {node.name}"
        elif not function.accepts(len(node.args)):
            count = len(node.args)
            yield node.name, f"{node.name} does not take {count} argument{'' if count == 1 else 's'}"


def function_names() -> tuple[str, ...]:
    """Return the names of all functions in their usual spelling."""
    return tuple(function.name for function in FUNCTIONS.values())
