"""The calls of an expression that are always errors: of unknown functions, or with a wrong number of arguments."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.classad.functions.registry import FUNCTIONS
from negotiator.classad.syntax import Call, Expr, children


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
            yield node.name, f"{node.name} does not take {_number(len(node.args))}"


def function_names() -> tuple[str, ...]:
    """Return the names of all functions in their usual spelling."""
    return tuple(function.name for function in FUNCTIONS.values())


def _number(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"
