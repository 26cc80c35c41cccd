"""Expressions as lists of short texts, without loss.

Unlike the printed form, it keeps the 17th digit of a real, a sign apart from its literal, and the order and duplicates
of a record's attributes. A node comes before its operands; the first character of a token is the type of its node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from negotiator.classad.syntax import (
    PRECEDENCE,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    ListExpr,
    Literal,
    LiteralValue,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
    children,
)
from negotiator.classad.tables.byte_stream import DamagedDataError
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, RelTime

MAX_NESTING: Final = 10_000
"""Maximum nesting that is read; expressions that the parser accepts (``MAX_DEPTH`` of brackets, a dozen levels of operators in each) fits."""

_UNARY: Final = frozenset("-+!~")
_CONSTANTS: Final[dict[str, LiteralValue]] = {"u": UNDEFINED, "e": ERROR, "t": True, "f": False}

_Operand: TypeAlias = tuple[Expr, int]
"""An expression that was read, and how deep it is nested."""


def expression_tokens(expr: Expr) -> list[str]:
    """Return the tokens of an expression.

    :raises ValueError: the expression has an ``AdRef``, which no ad can have.
    """
    tokens: list[str] = []
    pending: list[Expr | str] = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            tokens.append(node)
        elif type(node) is Literal:
            tokens.append(_literal(node))
        elif type(node) is RecordExpr:
            tokens.append(f"n{len(node.items)}")
            pending += [part for name, value in reversed(node.items) for part in (value, f"k{name}")]
        else:
            token = _TOKENS.get(type(node))
            if token is None:
                raise ValueError("an ad cannot hold a reference to an ad of the match itself")
            tokens.append(token(node))
            pending += children(node)[::-1]
    return tokens


_TOKENS: Final[dict[type, Callable[[Any], str]]] = {
    Attr: lambda node: f"{'aAmM'[node.absolute + 2 * (node.scope is not None)]}{node.name}",
    Paren: lambda _: "(",
    Unary: lambda node: f"1{node.op}",
    Binary: lambda node: f"2{node.op}",
    Conditional: lambda _: "?",
    Elvis: lambda _: ":",
    Subscript: lambda _: "[",
    Call: lambda node: f"c{len(node.args)},{node.name}",
    ListExpr: lambda node: f"l{len(node.items)}",
}


def _literal(node: Literal) -> str:
    value = node.value
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return f"{'d' if node.relative_time else 'r'}{value.hex()}"
    if isinstance(value, AbsTime):
        return f"T{value.seconds},{value.offset}"
    if isinstance(value, RelTime):
        return f"D{float(value.seconds).hex()}"
    return "e" if value is ERROR else "u"


def expression_of(tokens: list[str]) -> Expr:
    """Return the expression of these tokens.

    :raises DamagedDataError: they are not the tokens of one expression, or it is nested too deep.
    """
    operands: list[_Operand] = []
    names: list[str] = []
    try:
        for token in reversed(tokens):  # so that the operands of a node are read before it
            if token[0] == "k":
                names.append(token[1:])
            else:
                operands.append(_read(token, operands, names))
                if operands[-1][1] > MAX_NESTING:
                    raise DamagedDataError("an expression is nested too deep")
    except (IndexError, ValueError, OverflowError):
        raise DamagedDataError("invalid expression") from None
    if len(operands) != 1 or names:
        raise DamagedDataError("invalid expression")
    return operands[0][0]


def _read(token: str, operands: list[_Operand], names: list[str]) -> _Operand:
    kind, text = token[0], token[1:]
    if kind in _CONSTANTS and not text:
        return Literal(_CONSTANTS[kind]), 0
    if kind == "s":
        return Literal(text), 0
    if kind in "irdTD":
        return Literal(_number(kind, text), relative_time=kind == "d"), 0
    if kind in "aAmM" and not text:
        raise DamagedDataError("an attribute has no name")
    if kind in "aA":
        return Attr(text, None, kind == "A"), 0
    if kind in "mM":
        scope, depth = operands.pop()
        return Attr(text, scope, kind == "M"), depth
    if kind == "2" and text in PRECEDENCE:
        (left, depth), (right, right_depth) = operands.pop(), operands.pop()
        # Chains such as a + b + c lean to the left: they may be thousands of operators long.
        return Binary(text, left, right), max(depth, right_depth + 1)
    return _read_other(kind, text, operands, names)


def _read_other(kind: str, text: str, operands: list[_Operand], names: list[str]) -> _Operand:
    if kind == "c":
        size, _, name = text.partition(",")
        args, depth = _pop(operands, int(size))
        return Call(name, args), depth
    if kind == "l":
        items, depth = _pop(operands, int(text))
        return ListExpr(items), depth
    if kind == "n":
        values, depth = _pop(operands, int(text))
        return RecordExpr(tuple((names.pop(), value) for value in values)), depth
    if kind == "1" and text in _UNARY:
        (operand,), depth = _pop(operands, 1)
        return Unary(text, operand), depth
    if text:
        raise DamagedDataError("invalid expression")
    if kind == "(":
        (inner,), depth = _pop(operands, 1)
        return Paren(inner), depth
    if kind == "?":
        (test, yes, no), depth = _pop(operands, 3)
        return Conditional(test, yes, no), depth
    if kind in ":[":
        (left, depth), (right, right_depth) = operands.pop(), operands.pop()
        node = Elvis(left, right) if kind == ":" else Subscript(left, right)
        return node, max(depth, right_depth + 1)
    raise DamagedDataError("invalid expression")


def _pop(operands: list[_Operand], count: int) -> tuple[tuple[Expr, ...], int]:
    if not 0 <= count <= len(operands):
        raise DamagedDataError("invalid expression")
    taken = [operands.pop() for _ in range(count)]
    return tuple(expr for expr, _ in taken), max((depth for _, depth in taken), default=0) + 1


def _number(kind: str, text: str) -> LiteralValue:
    if kind in "rd":
        return float.fromhex(text)
    if kind == "D":
        return RelTime(float.fromhex(text))
    if kind == "T":
        seconds, _, offset = text.partition(",")
        return AbsTime(_int64(seconds), _int64(offset))
    return _int64(text)


def _int64(text: str) -> int:
    value = int(text) if len(text) <= 20 else 1 << 63
    if not -(1 << 63) <= value < 1 << 63:
        raise DamagedDataError("an integer has more than 64 bits")
    return value
