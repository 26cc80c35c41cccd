"""Equality of expressions as in HTCondor: the same tree, with names spelled alike; ads by the names of their attributes."""

from __future__ import annotations

import sys

from negotiator.classad.syntax import (
    Attr,
    Binary,
    Call,
    Expr,
    Literal,
    RecordExpr,
    Unary,
    children,
    fold,
)


def same_tree(one: Expr, other: Expr) -> bool:
    """True if two expressions are equal.

    Unlike equality of nodes it ignores the case of the names of a record's attributes only. Reals are equal if they differ by
    at most the epsilon of a double, 2.2e-16, whatever their size; so an infinite one is not equal to itself.
    """
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if type(left) is not type(right) or not _alike(left, right):
            return False
        if isinstance(left, RecordExpr) and isinstance(right, RecordExpr):
            mine, theirs = _by_name(left), _by_name(right)
            if mine.keys() != theirs.keys():
                return False
            pending += [(expr, theirs[name]) for name, expr in mine.items()]
        else:
            below, others = children(left), children(right)
            if len(below) != len(others):
                return False
            pending += zip(below, others, strict=True)
    return True


def _alike(left: Expr, right: Expr) -> bool:
    """True if two nodes of one type are equal, apart from their operands."""
    match left, right:
        case Literal(), Literal():
            same_type = type(left.value) is type(right.value) and left.relative_time is right.relative_time
            if isinstance(left.value, float) and isinstance(right.value, float):
                return same_type and abs(left.value - right.value) <= sys.float_info.epsilon
            return same_type and left.value == right.value
        case Attr(), Attr():
            return left.name == right.name and left.absolute is right.absolute
        case Call(), Call():
            return left.name == right.name
        case Binary(), Binary():
            return left.op == right.op
        case Unary(), Unary():
            return left.op == right.op
        case _:
            return True


def _by_name(record: RecordExpr) -> dict[str, Expr]:
    return {fold(name): expr for name, expr in record.items}
