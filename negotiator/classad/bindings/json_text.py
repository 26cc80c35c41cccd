"""Prints an ad in JSON, as HTCondor's ``printJson`` does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from negotiator.classad.syntax import Expr, ListExpr, Literal, RecordExpr, stored_order, unparse, unparse_old
from negotiator.classad.values import UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\u00{code:02X}" for code in range(1, 32)}
    | {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
)


def json_text(expr: Expr) -> str:
    """Return the text of an expression in JSON, on several lines.

    What JSON has no value for is a string ``/Expr(...)/``: expressions, times, error, infinite numbers.
    """
    out: list[str] = []
    pending: list[tuple[str | Expr, int]] = [(expr, 0)]
    while pending:
        item, indent = pending.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, ListExpr | RecordExpr):
            parts = [(part, indent + 2) for part in _parts(item, indent)]
            pending += reversed(parts)
        else:
            out.append(_value(item))
    return "".join(out)


def _parts(container: ListExpr | RecordExpr, indent: int) -> Iterator[str | Expr]:
    """Yield the texts and the values that a list or an ad consists of."""
    if isinstance(container, ListExpr):
        opening, closing = "[]"
        items = [("", item) for item in container.items]
    else:
        opening, closing = "{}"
        items = [(f"{_string(name)}: ", expr) for name, expr in stored_order(container.items)]
    yield opening
    for position, (label, expr) in enumerate(items):
        yield f"{',' if position else ''}\n{' ' * (indent + 2)}{label}"
        yield expr
    yield f"\n{' ' * indent}{closing}"


def _value(expr: Expr) -> str:
    value = expr.value if isinstance(expr, Literal) else None
    if isinstance(value, str):
        return _string(value)
    if value is UNDEFINED:
        return "null"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return unparse_old(Literal(value))  # a constant relTime("5") has a real as its value
    return f'"\\/Expr({unparse(expr).translate(_ESCAPES)})\\/"'


def _string(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
