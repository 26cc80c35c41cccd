"""A text for each tree, to be the key of a dictionary.

Trees can be compared and hashed themselves, but that recurses: a chain of a thousand operators, which a user may
write, would end it.
"""

from __future__ import annotations

from typing import Final

from negotiator.classad.ad import fold
from negotiator.classad.analysis import children
from negotiator.classad.tree import AdRef, Attr, Binary, Call, Expr, Literal, RecordExpr, Unary


def tree_key(expr: Expr) -> str:
    """Give a text that two trees share exactly if they are equal."""
    out: list[str] = []
    pending: list[Expr] = [expr]
    while pending:
        node = pending.pop()
        operands = children(node)
        out.append(f"{_TAGS[type(node)]}{len(operands)}{_own(node)}")
        pending.extend(reversed(operands))
    return "\n".join(out)


_TAGS: Final = {kind: kind.__name__ for kind in Expr.__args__}


def _own(node: Expr) -> str:
    """Give what a node says itself, on one line."""
    match node:
        case Literal(value):
            return f" {value!r}"
        case Attr(name, _, absolute):
            return f" {absolute} {fold(name)!r}"
        case Call(name, _):
            return f" {fold(name)!r}"
        case Binary(op, _, _) | Unary(op, _):
            return f" {op}"
        case RecordExpr(items):
            return f" {[name for name, _ in items]!r}"
        case AdRef(side):
            return f" {side}"
        case _:
            return ""
