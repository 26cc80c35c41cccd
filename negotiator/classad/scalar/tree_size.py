"""The depth and the size of a tree, computed without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.syntax import Attr, Binary, Call, Conditional, Elvis, Paren, Subscript, Unary, fold

if TYPE_CHECKING:
    from negotiator.classad.context import Node


class TreeSize(NamedTuple):
    """The ``levels`` of evaluation a tree can need, the ``nesting`` of its closures, and its ``size`` in nodes."""

    levels: int
    nesting: int
    size: int


def measure(expr: Node, largest: int) -> TreeSize | None:
    """Return the size of a tree, None if it has more than about ``largest`` nodes.

    The elements of lists and records do not count: they are evaluated separately.
    """
    done: dict[int, TreeSize] = {}
    waiting: list[tuple[Node, bool]] = [(expr, False)]
    while waiting:
        if len(done) + len(waiting) > largest:
            return None
        node, seen = waiting.pop()
        if id(node) in done:
            continue
        below = children(node)
        if seen or not below:
            done[id(node)] = _measure(node, [done[id(child)] for child in below])
        else:
            waiting.append((node, True))
            waiting.extend((child, False) for child in below)
    return done[id(expr)]


def children(node: Node) -> tuple[Node, ...]:
    """Return the operands, arguments or scope of a node. Lists and records have none here."""
    match node:
        case Binary(_, left, right):
            return left, right
        case Attr(_, scope):
            return () if scope is None else (scope,)
        case Paren(inner):
            return (inner,)
        case Call(_, args):
            return args
        case Unary(_, operand):
            return (operand,)
        case Conditional(test, yes, no):
            return test, yes, no
        case Elvis(value, fallback):
            return value, fallback
        case Subscript(container, index):
            return container, index
        case _:
            return ()


def _measure(node: Node, below: list[TreeSize]) -> TreeSize:
    size = 1 + sum(child.size for child in below)
    levels = max((child.levels for child in below), default=0)
    nesting = 1 + max((child.nesting for child in below), default=0)
    if type(node) is Binary and node.op in {"&&", "||"} and _continues(node):
        nesting = max(below[0].nesting, below[1].nesting + 1)  # a chain is one closure
    if type(node) is Subscript:
        return TreeSize(levels + 2, nesting, size)
    if type(node) is Call:
        function = FUNCTIONS.get(fold(node.name))
        return TreeSize(levels + (function.levels if below and function else 0), nesting, size)
    if type(node) is Attr or below:
        return TreeSize(levels + 1, nesting, size)
    return TreeSize(levels, nesting, size)


def _continues(node: Binary) -> bool:
    return type(node.left) is Binary and node.left.op == node.op
