"""The names that a tree refers to, by the ad in which each is looked up, and whether it may depend on more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.classad.syntax.analysis import children
from negotiator.classad.syntax.attribute_map import fold
from negotiator.classad.syntax.tree import AdRef, Attr, Call, Expr, ListExpr, Literal, RecordExpr, Side

SPECIAL: Final = frozenset(
    {"my", "self", "target", "other", "ad", "parent", "root", "toplevel", "left", "right", "lctx", "rctx"}
    | {"symmetricmatch", "leftmatchesright", "rightmatchesleft", "leftrankvalue", "rightrankvalue"}
)
"""Names that mean something where no ad defines them (SEMANTICS section 4); ``CurrentTime`` is the clock's."""

OPAQUE: Final = frozenset({"eval", "random", "unparse", "unresolved"})
"""Functions whose value depends on more than the values of the attributes that are named."""

WANDERING: Final = frozenset({"evalineachcontext", "countmatches"})
"""Functions that evaluate attributes in another scope, and may leave later names there (SEMANTICS section 4)."""

_PLACES: Final = frozenset({"left", "right", "lctx", "rctx"})
"""Names of the two ads by where evaluation began: in a piece of an expression they would be the wrong ones."""


@attrs.frozen
class ReferenceScan:
    """What one tree says of itself.

    ``names`` has every name by the ad in which it is looked up, as often as it is: the ad that the tree stands in
    (MY), the other one (TARGET), or either (None). ``opaque``: the value may depend on anything. ``wandering``: it
    must not be evaluated in pieces. ``depth`` and ``size`` count nodes.
    """

    names: Mapping[Side | None, Mapping[str, int]]
    opaque: bool
    wandering: bool
    depth: int
    size: int


def scope_side(scope: Expr | None) -> Side | None:
    """Return the ad that a scope means, None where it is any other expression."""
    if isinstance(scope, AdRef):
        return scope.side
    if isinstance(scope, Attr) and scope.scope is None and not scope.absolute:
        return _SIDES.get(fold(scope.name))
    return None


_CONTAINERS: Final = (ListExpr, RecordExpr)
_SIDES = {"my": Side.MY, "target": Side.TARGET}


def scan(expr: Expr) -> ReferenceScan:
    """Look through one tree, whatever its depth."""
    names: dict[Side | None, Counter[str]] = {Side.MY: Counter(), Side.TARGET: Counter(), None: Counter()}
    opaque = wandering = False
    depth = size = 0
    # Inside a list or a record MY and TARGET may be other ads; a special name means no harm before a dot.
    pending: list[tuple[Expr, int, bool, bool]] = [(expr, 1, True, False)]
    while pending:
        node, level, outside, before_dot = pending.pop()
        size += 1
        depth = max(depth, level)
        if type(node) is Attr:
            name = fold(node.name)
            side = scope_side(node.scope) if outside else None
            names[side][name] += 1
            wandering |= name in _PLACES
            opaque |= node.absolute or (not before_dot and name in SPECIAL)
            if node.scope is not None and side is None:
                pending.append((node.scope, level + 1, outside, True))
        elif type(node) is not Literal:
            if type(node) is Call:
                opaque |= fold(node.name) in OPAQUE
                wandering |= fold(node.name) in WANDERING
            opaque |= type(node) is AdRef and not before_dot
            outside &= type(node) not in _CONTAINERS
            pending += [(child, level + 1, outside, False) for child in children(node)]
    return ReferenceScan(names, opaque, wandering, depth + 1, size)
