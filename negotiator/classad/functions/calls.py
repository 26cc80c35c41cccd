"""The calls of an expression that can only give an error: of functions that there are not, or with too many arguments."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.classad.functions.registry import FUNCTIONS
from negotiator.classad.syntax import Call, Expr, children


def wrong_calls(expr: Expr) -> Iterator[tuple[str, str]]:
    """Give the name of each such function as it is written, and what is wrong with the call."""
    pending = [expr]
    while pending:
        node = pending.pop()
        pending.extend(reversed(children(node)))
        if not isinstance(node, Call):
            continue
        function = FUNCTIONS.get(node.name.lower())
        if function is None:
            yield node.name, f"there is no function {node.name}"
        elif not function.accepts(len(node.args)):
            yield node.name, f"{node.name} does not take {_number(len(node.args))}"


def function_names() -> tuple[str, ...]:
    """Give the names of all functions, as they are usually written."""
    return tuple(function.name for function in FUNCTIONS.values())


def _number(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"
