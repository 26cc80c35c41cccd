"""What the value of an expression can depend on: attributes of both ads, followed through their expressions.

Rows that are alike in these attributes have one value, so that the scalar evaluator has to run once for all of them.
Everything here errs on the side of too many attributes, too deep, too long.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import attrs

from negotiator.classad.scalar.ad import fold
from negotiator.classad.syntax.analysis import children
from negotiator.classad.syntax.tree import AdRef, Attr, Call, Expr, ListExpr, Literal, RecordExpr, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from negotiator.classad.scalar.ad import ClassAd
    from negotiator.classad.tables.table import Table

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

Name: TypeAlias = tuple[bool, str]
"""An attribute: whether it is looked up in the ads of the rows (or in the other ad), and its name in lower case."""


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


class CostBounds(NamedTuple):
    """No less than the levels and the steps that evaluation takes in one row."""

    depth: int
    steps: int


@attrs.frozen
class Footprint:
    """What an expression reaches, all trees followed; ``bounds`` is None where references go in circles."""

    names: frozenset[Name]
    opaque: bool
    wandering: bool
    bounds: CostBounds | None

    def row_names(self) -> list[str]:
        """Return the attributes of the rows, sorted."""
        return sorted(name for on_rows, name in self.names if on_rows)


def footprint(expr: Expr, table: Table, other: ClassAd | None, *, on_rows: bool, shadowed: bool) -> Footprint:
    """Return what ``expr`` reaches: ``on_rows`` says that it stands in the ads of the table, else in ``other``.

    ``shadowed`` says that one of the ads has an attribute called MY or TARGET, so that these may mean anything.
    """
    nodes = _follow(scan(expr), table, other, on_rows=on_rows, exact=not shadowed)
    wandering = any(node.wandering for node in nodes.values())
    if wandering and not shadowed:
        nodes = _follow(scan(expr), table, other, on_rows=on_rows, exact=False)
    opaque = any(node.opaque for node in nodes.values())
    names = frozenset(key for key in nodes if key is not None)
    return Footprint(names, opaque, wandering, _bounds(nodes))


@attrs.frozen
class _Node:
    """The trees of one attribute taken together, and the attributes that they name, as often as one of them does."""

    scans: tuple[ReferenceScan, ...]
    edges: Mapping[Name, int]

    @property
    def opaque(self) -> bool:
        return any(part.opaque for part in self.scans)

    @property
    def wandering(self) -> bool:
        return any(part.wandering for part in self.scans)


def _follow(
    top: ReferenceScan, table: Table, other: ClassAd | None, *, on_rows: bool, exact: bool
) -> dict[Name | None, _Node]:
    """Return what is reached from a tree, which itself goes by the key None."""
    first = _Node((top,), _edges(top, on_rows=on_rows, exact=exact))
    nodes: dict[Name | None, _Node] = {None: first}
    pending = list(first.edges)
    while pending:
        key = pending.pop()
        if key in nodes:
            continue
        in_rows, name = key
        scans = table.scans(name) if in_rows else _scans(other, name)
        edges: Counter[Name] = Counter()
        for part in scans:
            edges |= _edges(part, on_rows=in_rows, exact=exact)
        nodes[key] = _Node(scans, edges)
        pending.extend(edges)
    return nodes


def _scans(ad: ClassAd | None, name: str) -> tuple[ReferenceScan, ...]:
    expr = ad.get(name) if ad is not None else None
    return () if expr is None else (scan(expr),)


def _edges(part: ReferenceScan, *, on_rows: bool, exact: bool) -> Counter[Name]:
    edges: Counter[Name] = Counter()
    for side, names in part.names.items():
        for in_rows in (True, False):
            if side is None or not exact or (side is Side.MY) == (in_rows == on_rows):
                for name, count in names.items():
                    edges[in_rows, name] += count
            if side is not None and not exact and names:
                edges[in_rows, side.value.lower()] += sum(names.values())
    return edges


def _bounds(nodes: Mapping[Name | None, _Node]) -> CostBounds | None:
    """Return the bounds of what is reached from None, None where it goes in circles."""
    users: dict[Name, list[Name | None]] = {}
    waiting = {key: len(node.edges) for key, node in nodes.items()}
    for key, node in nodes.items():
        for used in node.edges:
            users.setdefault(used, []).append(key)
    ready = [key for key, count in waiting.items() if count == 0]
    done: dict[Name | None, CostBounds] = {}
    while ready:
        key = ready.pop()
        node = nodes[key]
        depth = max((part.depth for part in node.scans), default=1)
        steps = max((part.size for part in node.scans), default=1)
        depth += max((done[used].depth for used in node.edges), default=0)
        steps += sum(done[used].steps * count for used, count in node.edges.items())
        done[key] = CostBounds(depth, steps)
        for user in users.get(key, ()) if key is not None else ():
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return done.get(None)
