"""A text for each tree, for use as a dictionary key.

Trees can be hashed and compared, but that recurses: a chain of a thousand operators, which users may write, would
exhaust Python's stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from negotiator.classad.syntax.analysis import children
from negotiator.classad.syntax.attribute_map import fold
from negotiator.classad.syntax.tree import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def tree_key(expr: Expr) -> str:
    """Return a text that is equal for two trees exactly if the trees are equal."""
    out: list[str] = []
    pending: list[Expr] = [expr]
    while pending:
        node = pending.pop()
        # The three most frequent types first: keys are made for each conjunct of each new kind of job.
        if type(node) is Literal:
            out.append(f"{'relTime' if node.relative_time else 'Literal'} {node.value!r}")
        elif type(node) is Attr:
            out.append(f"Attr{node.scope is not None} {node.absolute} {fold(node.name)!r}")
            if node.scope is not None:
                pending.append(node.scope)
        elif type(node) is Binary:
            out.append(node.op)
            pending += (node.right, node.left)
        else:
            out.append(_HEADERS[type(node)](node))
            pending += children(node)[::-1]
    return "\n".join(out)


# The line of each other type of node: its type, the number of operands, and the fields that are not operands.
_HEADERS: Final[dict[type, Callable[[Any], str]]] = {
    AdRef: lambda node: f"AdRef {node.side}",
    Unary: lambda node: f"Unary {node.op}",
    Paren: lambda _: "Paren",
    Call: lambda node: f"Call{len(node.args)} {fold(node.name)!r}",
    ListExpr: lambda node: f"List{len(node.items)}",
    RecordExpr: lambda node: f"Record {[name for name, _ in node.items]!r}",
    Conditional: lambda _: "Conditional",
    Elvis: lambda _: "Elvis",
    Subscript: lambda _: "Subscript",
}
