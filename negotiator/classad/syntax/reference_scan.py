"""Finds the names a tree refers to, the ad each is looked up in, and whether the value may depend on more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.classad.syntax.analysis import children
from negotiator.classad.syntax.attribute_map import fold
from negotiator.classad.syntax.tree import AdRef, Attr, Call, Expr, ListExpr, Literal, RecordExpr, Side

PREDEFINED_NAMES: Final = frozenset(
    {"my", "self", "target", "other", "ad", "parent", "root", "toplevel", "left", "right", "lctx", "rctx"}
    | {"symmetricmatch", "leftmatchesright", "rightmatchesleft", "leftrankvalue", "rightrankvalue"}
)
"""Names that are defined without an attribute (SEMANTICS section 4). ``CurrentTime``, the clock, is not among them."""

OPAQUE_FUNCTIONS: Final = frozenset({"eval", "random", "unparse", "unresolved"})
"""Functions whose value depends on more than the values of the attributes named in the call."""

SCOPE_MOVING_FUNCTIONS: Final = frozenset({"evalineachcontext", "countmatches"})
"""Functions that evaluate in another scope, after which the evaluator may stay there (SEMANTICS section 4)."""

_PLACES: Final = frozenset({"left", "right", "lctx", "rctx"})
"""Names of the two ads relative to the ad in which evaluation began, which a part of an expression would change."""


@attrs.frozen
class ReferenceScan:
    """The references of one tree.

    ``names`` counts the references to each name, by the ad in which it is looked up: the ad of the tree (MY), the
    other one (TARGET), or either (None). ``opaque``: the value may depend on anything. ``moves_scope``: the tree must
    be evaluated as a whole, since part of it may change the scope of the rest. ``depth`` and ``size`` count nodes.
    """

    names: Mapping[Side | None, Mapping[str, int]]
    opaque: bool
    moves_scope: bool
    depth: int
    size: int


def scope_side(scope: Expr | None) -> Side | None:
    """Return the ad that a scope refers to (``MY``, ``TARGET`` or an ``AdRef``), None for other expressions."""
    if isinstance(scope, AdRef):
        return scope.side
    if isinstance(scope, Attr) and scope.scope is None and not scope.absolute:
        return _SIDES.get(fold(scope.name))
    return None


_CONTAINERS: Final = (ListExpr, RecordExpr)
_SIDES = {"my": Side.MY, "target": Side.TARGET}


def scan(expr: Expr) -> ReferenceScan:
    """Return the references of one tree, without recursion."""
    names: dict[Side | None, Counter[str]] = {Side.MY: Counter(), Side.TARGET: Counter(), None: Counter()}
    opaque = moves_scope = False
    depth = size = 0
    # Inside a list or a record MY and TARGET may be other ads. A predefined name before a dot only selects an ad.
    pending: list[tuple[Expr, int, bool, bool]] = [(expr, 1, True, False)]
    while pending:
        node, level, outside, before_dot = pending.pop()
        size += 1
        if level > depth:  # noqa: PLR1730 - a call for each node
            depth = level
        if type(node) is Attr:
            name = fold(node.name)
            side = scope_side(node.scope) if outside and node.scope is not None else None
            names[side][name] += 1
            moves_scope |= name in _PLACES
            opaque |= node.absolute or (not before_dot and name in PREDEFINED_NAMES)
            # ``MY.TARGET.A`` reads the other ad, unless the own one has an attribute TARGET.
            opaque |= before_dot and node.scope is not None and name in _SIDES
            if node.scope is not None and side is None:
                pending.append((node.scope, level + 1, outside, True))
        elif type(node) is not Literal:
            if type(node) is Call:
                opaque |= fold(node.name) in OPAQUE_FUNCTIONS
                moves_scope |= fold(node.name) in SCOPE_MOVING_FUNCTIONS
            opaque |= type(node) is AdRef and not before_dot
            outside &= type(node) not in _CONTAINERS
            pending += [(child, level + 1, outside, False) for child in children(node)]
    return ReferenceScan(names, opaque, moves_scope, depth + 1, size)
