"""Short texts of expressions. The work depends on the length of the excerpt, not on the size of the expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.syntax.printing import _NEW, _parts, unparse
from negotiator.classad.syntax.tree import Attr, Call, ListExpr, Literal, RecordExpr

if TYPE_CHECKING:
    from negotiator.classad.syntax.tree import Expr

CUT: Final = "..."


def excerpt(expr: Expr, most: int) -> str:
    """Return an expression in the new syntax on one line of at most ``most`` characters, ending in ``...`` if cut."""
    out: list[str] = []
    length = 0
    pending: list[str | Expr] = [expr]
    while pending and length <= most:
        item = pending.pop()
        if not isinstance(item, str):
            item = _shortened(item, most)
        if isinstance(item, Literal):
            item = unparse(item)
        if isinstance(item, str):
            out.append(item)
            length += len(item)
        else:
            pending += reversed(list(_parts(item, _NEW, 0)))
    return shorten("".join(out), most)


def shorten(text: str, most: int) -> str:
    """Return a text, cut to ``most`` characters including a final ``...`` if it is longer."""
    return text if len(text) <= most else text[: max(most - len(CUT), 0)] + CUT


def _shortened(node: Expr, most: int) -> Expr:
    """Return a node without the parts that cannot appear in the first ``most`` characters."""
    match node:
        case Literal(str(text)) if len(text) > most:
            return Literal(text[: most + 1])
        case Attr(name) if len(name) > most:
            return attrs.evolve(node, name=name[: most + 1])
        case Call(name, args) if len(args) > most:
            return Call(name, args[: most + 1])
        case ListExpr(items) if len(items) > most:
            return ListExpr(items[: most + 1])
        case RecordExpr(entries) if len(entries) > most:
            return RecordExpr(entries[: most + 1])
    return node
