"""The registry of functions (SEMANTICS section 6) and how they are called.

A family of functions is a module here; each of its functions says its name and arity with ``register``:

    @register("pow", 2, 2)
    def power(args: Sequence[Value], env: Environment) -> Value: ...

Functions differ in what they make of undefined and error, so each decides for itself; none raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

import attrs

from negotiator.classad.context import item_value
from negotiator.classad.functions.patterns import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from negotiator.classad.context import Environment, ListValue, Value


LONG_STRING: Final = 1000
"""Letters of a string: a call with a longer one costs more than its step."""


@runtime_checkable
class ValueFunction(Protocol):
    """A function of values: its arguments are evaluated from left to right before the call.

    A function that is ``metered`` has a third argument, a ``Meter``.
    """

    def __call__(self, args: Sequence[Value], env: Environment, /) -> Value:
        """Return the value of the call; ``args`` are as many as the registered arity allows."""


@attrs.frozen
class Function:
    """A function of the language, as the evaluator calls it.

    ``deterministic`` is False where two calls with equal arguments in one environment may differ (``draws``) or
    where the value hangs on the clock: neither may be folded into a constant that outlives the cycle. ``weight`` is in
    steps for every 8 letters of long strings, those of the arguments and of the value; ``metered`` says that the
    body itself charges for what they do not show.
    """

    name: str
    min_args: int
    max_args: int | None
    call: Callable[..., Value]
    lazy: bool = False
    deterministic: bool = True
    draws: bool = False
    weight: int = 1
    metered: bool = False

    def accepts(self, count: int) -> bool:
        """Return whether the function may be called with ``count`` arguments; otherwise the call is an error."""
        return self.min_args <= count and (self.max_args is None or count <= self.max_args)

    def apply(self, args: Sequence[Value], env: Environment, meter: Meter) -> Value:
        """Return the value of a call of a function of values, and charge for it. Raises ``Exhausted``."""
        meter.charge(0)  # nothing is begun where there are no steps left
        value: Value = self.call(args, env, meter) if self.metered else self.call(args, env)
        toll = self.toll((*args, value))
        if toll:
            meter.charge(toll)
        return value

    def toll(self, values: Iterable[Value]) -> int:
        """Return the steps that a call takes beyond its own, where these are its arguments and its value."""
        size = longest = 0
        for value in values:
            if type(value) is str:
                size += len(value)
                longest = max(longest, len(value))
        return size * self.weight >> 3 if longest > LONG_STRING else 0


FUNCTIONS: dict[str, Function] = {}
"""Every function by its name in lower case."""

_Body = TypeVar("_Body", bound="Callable[..., Any]")


def register(
    name: str,
    min_args: int,
    max_args: int | None,
    *,
    lazy: bool = False,
    deterministic: bool = True,
    draws: bool = False,
    weight: int = 1,
    metered: bool = False,
) -> Callable[[_Body], _Body]:
    """Return a decorator that makes a body known as ``name`` (any case); it leaves the body itself as it was.

    ``max_args`` None means any number. A body of several names is decorated once for each. Raises ``ValueError``
    where the name is taken: two families that define one function are a mistake of ours.
    """

    def keep(body: _Body) -> _Body:
        key = name.lower()
        if key in FUNCTIONS:
            raise ValueError(f"function {name} is registered twice")
        FUNCTIONS[key] = Function(name, min_args, max_args, body, lazy, deterministic, draws, weight, metered)
        return body

    return keep


def elements(list_value: ListValue, env: Environment) -> list[Value]:  # noqa: ARG001
    """Return the values of the elements of a list that a function was given.

    As in HTCondor they are evaluated where the *call* stands, not where the list was written: with ``A`` 1 here and
    100 there, ``sum(TARGET.L)`` of ``L = {A}`` is 1 though ``TARGET.L[0]`` is 100.
    """
    state = list_value.scope.state
    state.charge(len(list_value.items))
    values = [item_value(state, list_value, item) for item in list_value.items]
    size = 0
    for value in values:
        if type(value) is str:
            size += len(value)
    if size > LONG_STRING:
        state.charge(size >> 3)
    return values
