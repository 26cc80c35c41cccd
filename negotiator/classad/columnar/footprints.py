"""What evaluating an expression over rows reads and costs: upper bounds before it, and counts while it goes on.

The attributes of both ads that a value can depend on are followed through their expressions. Rows that are equal in these
attributes have the same value, so the scalar evaluator runs once for all of them. The bounds are too many attributes, too
deep, too many steps; never too few.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import attrs

from negotiator.classad.context import Allowance
from negotiator.classad.syntax import Expr, ReferenceScan, Side, scan
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from negotiator.classad.scalar import Ad
    from negotiator.classad.tables import AttributeTable, Column

MAX_DEPTH: Final = 300
MAX_STEPS: Final = 1_000_000
MAX_NESTING: Final = 60
"""Levels, steps and nested calls beyond which the scalar evaluator takes over; its limits are wider."""

MAX_SCALAR_STEPS: Final = 10_000_000
"""Steps of the scalar evaluator for all rows together; HTCondor allows as many for each pair of ads.

The values of rows beyond it are errors: with Requirements, they do not match.
"""

Name: TypeAlias = tuple[bool, str]
"""An attribute: True if it is looked up in the ads of the rows, False if in the other ad; its name in lower case."""


class CostBounds(NamedTuple):
    """Upper bounds of the levels and steps of evaluation in one row."""

    depth: int
    steps: int


@attrs.frozen
class Footprint:
    """The attributes that an expression can read, all trees followed; ``bounds`` is None for circular references."""

    names: frozenset[Name]
    opaque: bool
    moves_scope: bool
    bounds: CostBounds | None

    def row_names(self) -> list[str]:
        """Return the attributes of the rows, sorted."""
        return sorted(name for on_rows, name in self.names if on_rows)


def footprint(
    expr: Expr, table: AttributeTable, other: Ad | None, *, on_rows: bool, shadowed: bool
) -> Footprint:
    """Return the attributes that an expression can read; with ``on_rows`` the ads of the table own it, else ``other``.

    ``shadowed``: one of the ads has an attribute called MY or TARGET, so that these scopes may mean anything.
    """
    return _footprint(scan(expr), table, other, on_rows=on_rows, shadowed=shadowed)


def footprint_before_rows(
    expr: Expr, table: AttributeTable, other: Ad | None, *, on_rows: bool, shadowed: bool
) -> Footprint:
    """Return the attributes that an expression can read if the rows have constants only."""
    return _footprint(scan(expr), table, other, on_rows=on_rows, shadowed=shadowed, into_rows=False)


def attributes_footprint(names: Iterable[str], table: AttributeTable) -> Footprint:
    """Return the attributes that these attributes of the rows, in lower case, lead to, themselves included."""
    counts = {Side.MY: Counter(names), Side.TARGET: Counter[str](), None: Counter[str]()}
    top = ReferenceScan(counts, opaque=False, moves_scope=False, depth=1, size=1)
    shadowed = any(table.column(name).kind is not Kind.ABSENT for name in ("my", "target"))
    return _footprint(top, table, None, on_rows=True, shadowed=shadowed)


def _footprint(
    top: ReferenceScan,
    table: AttributeTable,
    other: Ad | None,
    *,
    on_rows: bool,
    shadowed: bool,
    into_rows: bool = True,
) -> Footprint:
    nodes = _follow(top, table, other, on_rows=on_rows, exact=not shadowed, into_rows=into_rows)
    moves_scope = any(node.moves_scope for node in nodes.values())
    # After a move of the scope, MY and TARGET may mean either ad: count each name for both.
    if moves_scope and not shadowed:
        nodes = _follow(top, table, other, on_rows=on_rows, exact=False, into_rows=into_rows)
    opaque = any(node.opaque for node in nodes.values())
    names = frozenset(key for key in nodes if key is not None)
    return Footprint(names, opaque, moves_scope, _bounds(nodes))


@attrs.frozen
class _Node:
    """The trees of one attribute, and the attributes they refer to, with the highest number of references in one tree."""

    scans: tuple[ReferenceScan, ...]
    edges: Mapping[Name, int]

    @property
    def opaque(self) -> bool:
        return any(part.opaque for part in self.scans)

    @property
    def moves_scope(self) -> bool:
        return any(part.moves_scope for part in self.scans)


def _follow(
    top: ReferenceScan,
    table: AttributeTable,
    other: Ad | None,
    *,
    on_rows: bool,
    exact: bool,
    into_rows: bool,
) -> dict[Name | None, _Node]:
    """Return the attributes that can be read from a tree, whose own key is None; with ``into_rows`` through the rows' own."""
    first = _Node((top,), _edges(top, table, on_rows=on_rows, exact=exact))
    nodes: dict[Name | None, _Node] = {None: first}
    pending = list(first.edges)
    while pending:
        key = pending.pop()
        if key in nodes:
            continue
        in_rows, name = key
        scans = _scans(other, name) if not in_rows else table.scans(name) if into_rows else ()
        edges: Counter[Name] = Counter()
        # ``|=`` takes the maximum of each count: a row evaluates one of the trees, not all.
        for part in scans:
            edges |= _edges(part, table, on_rows=in_rows, exact=exact)
        nodes[key] = _Node(scans, edges)
        pending.extend(edges)
    return nodes


def _scans(ad: Ad | None, name: str) -> tuple[ReferenceScan, ...]:
    expr = ad.get(name) if ad is not None else None
    return () if expr is None else (scan(expr),)


def is_in_all_rows(table: AttributeTable, name: str) -> bool:
    """True if all rows have an attribute: their expressions then never look it up in the other ad without its scope."""
    return not table.column(name).has(Kind.ABSENT)


def _edges(part: ReferenceScan, table: AttributeTable, *, on_rows: bool, exact: bool) -> Counter[Name]:
    edges: Counter[Name] = Counter()
    for side, names in part.names.items():
        own_alone = side is None and on_rows and exact
        for in_rows in (True, False):
            if side is None or not exact or (side is Side.MY) == (in_rows == on_rows):
                for name, count in names.items():
                    if in_rows or not (own_alone and is_in_all_rows(table, name)):
                        edges[in_rows, name] += count
            # If an ad has an attribute called MY, ``MY.x`` reads that attribute.
            if side is not None and not exact and names:
                edges[in_rows, side.value.lower()] += sum(names.values())
    return edges


def _bounds(nodes: Mapping[Name | None, _Node]) -> CostBounds | None:
    """Return the bounds of the tree with key None; None if references are circular."""
    # Topological sort: an attribute is done when all that it refers to are. In a circle none ever becomes ready.
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
        # Lists: chains of references have any length, and a generator costs a call for each link.
        depth = max([part.depth for part in node.scans], default=1)
        steps = max([part.size for part in node.scans], default=1)
        depth += max([done[used].depth for used in node.edges], default=0)
        steps += sum([done[used].steps * count for used, count in node.edges.items()])
        done[key] = CostBounds(depth, steps)
        for user in users.get(key, ()) if key is not None else ():
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return done.get(None)


class NotVectorizableError(Exception):
    """The expression must be evaluated as a whole by the scalar evaluator. For internal use only."""


class OutOfStepsError(Exception):
    """The side whose expression is evaluated has no steps left. For internal use only."""


@attrs.define(eq=False)
class WorkCounter:
    """The steps and depth of one evaluation, over all its batches.

    ``rows_own`` is true if the expression is of the ads of the rows, wherever it is evaluated.
    ``steps`` are counted as scalar evaluation counts them. ``payer`` is charged for what is evaluated now, for one share of
    ``shares``. ``nodes`` are those evaluated by columns since the payer changed, ``most_nodes`` those that it can pay for.
    """

    rows_own: bool = True
    allowance: Allowance = attrs.field(factory=lambda: Allowance(MAX_SCALAR_STEPS))
    steps: int = 0
    nesting: int = 0
    deepest: int = 0
    payer: Allowance | None = None
    shares: int = 1
    nodes: int = 0
    most_nodes: float = math.inf

    def check(self) -> None:
        """Raise ``NotVectorizableError`` if the limits of evaluation may be near."""
        if self.deepest > MAX_DEPTH or self.steps > MAX_STEPS or self.nesting > MAX_NESTING:
            raise NotVectorizableError
        if self.nodes > self.most_nodes:
            raise OutOfStepsError


@attrs.frozen
class EvaluatedAttribute:
    """The values of an attribute, and their cost, which counts at each further use, as in scalar evaluation."""

    column: Column
    steps: int
    height: int
