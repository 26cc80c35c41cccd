"""Constants as ads write them, including those with a sign or in parentheses."""

from __future__ import annotations

from typing import Final

from negotiator.classad.syntax.tree import Expr, Literal, LiteralValue, Paren, Unary

MAX_FOLDED: Final = 8
"""The number of parentheses and signs around a literal that are looked through; users may write any number."""


def literal_value(expr: Expr) -> LiteralValue | None:
    """Return the value of a literal, possibly with a sign or in parentheses; None for any other expression."""
    if type(expr) is Literal:
        return expr.value
    sign = ""
    for _ in range(MAX_FOLDED):
        if isinstance(expr, Paren):
            expr = expr.inner
        elif isinstance(expr, Unary) and expr.op in {"-", "+"} and not sign:
            sign, expr = expr.op, expr.operand
        elif isinstance(expr, Literal):
            return _signed(sign, expr.value) if sign else expr.value
        else:
            return None
    return None


def _signed(sign: str, value: LiteralValue) -> LiteralValue | None:
    if (type(value) is int and value != -(1 << 63)) or (type(value) is float and value != float("-inf")):
        return value if sign == "+" else -value
    return None
