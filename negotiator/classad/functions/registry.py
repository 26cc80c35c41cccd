"""The registry of functions (SEMANTICS section 6), and how they are called.

A family of functions is a module of this package. It declares each function's name and arity with ``register``:

    @register("pow", 2, 2)
    def power(args: Sequence[Value], env: Environment) -> Value: ...

Each function decides what it returns for undefined and error. Functions do not raise Python exceptions, except for
those that end an evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

import attrs

from negotiator.classad.context import item_value
from negotiator.classad.functions.patterns import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from negotiator.classad.context import ClassAdValue, Environment, ListValue


LONG_STRING: Final = 1000
"""Length in letters above which strings cost extra steps."""


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


FUNCTIONS: dict[str, Function] = {}
"""All functions, by name in lower case."""

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
