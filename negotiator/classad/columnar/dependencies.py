"""What the values of an expression over a table depend on in the other ad, as the key of a dictionary.

Two ads with the same key give the same column, so that it can be kept. A key holds every attribute of the other ad
that the expression can reach, with its kind and value, an attribute that is an expression by its tree; which attributes
these are is found by ``footprint``, once for each expression and for the expressions of the other ad that it leads to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from negotiator.classad.columnar.footprints import CostBounds, Footprint, Name, footprint
from negotiator.classad.columnar.partial import stays
from negotiator.classad.scalar import ClassAd
from negotiator.classad.syntax import Expr, Literal, Side, literal_value, scan, tree_key
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from negotiator.classad.tables import AttributeTable

MAX_BYTES: Final = 64 << 20
"""What is known of expressions takes no more memory than about this; then all is forgotten and found out again."""

MAX_NAMES: Final = 200
"""An expression that reaches more attributes of the other ad has no key."""

Key: TypeAlias = tuple[object, ...]
"""Two entries an attribute: its kind and its value (None, None: there is none)."""

_OF_EXPRESSION: Final = 4000
_OF_NAME: Final = 500
"""Bytes that the reach of an expression takes, about, and one more way to find it."""

_SMALL: Final = CostBounds(depth=150, steps=400_000)
_PLAIN: Final = frozenset({int, str, bool})
_SHADOWS: Final = ("my", "target")


@attrs.frozen(eq=False)
class Dependencies:
    """What one expression reaches, as far as the other ad's expressions that are known by now lead.

    ``on_rows`` says that it stands in the ads of the table, and ``shadowed`` that one of the ads has an attribute called
    MY or TARGET, so that the scopes may be anything. ``names`` are the attributes of the other ad, in lower case;
    ``found`` has those of the rows too. ``leads_back``: rows have expressions, which may reach the other ad in turn.
    ``has_key``: the values depend on nothing but attributes, and these are not too many. ``small``: evaluation is nowhere
    near its limits, so that it may be given less to do. ``stays``: no call in it may leave the evaluator in another ad.
    ``expressions`` are those of the other ad that were followed.
    """

    expr: Expr
    on_rows: bool
    shadowed: bool
    found: Footprint
    names: tuple[str, ...]
    leads_back: bool
    has_key: bool
    small: bool
    stays: bool
    expressions: Key = ()
    further: dict[Key, Dependencies] = attrs.field(factory=dict, init=False, repr=False)


class DependencyIndex:
    """The reaches of expressions over one table.

    Expressions are known by identity first, which costs next to nothing, and then by their tree. ``generation`` counts
    how often all was forgotten: a hostile user may send any number of expressions.
    """

    __slots__ = (
        "_by_id",
        "_by_tree",
        "_cells",
        "_last",
        "_numbers",
        "_numbers_by_id",
        "_other",
        "_parts",
        "_shadowed",
        "_shadows",
        "_size",
        "generation",
        "table",
    )

    def __init__(self, table: AttributeTable) -> None:
        self.table = table
        self._shadowed = any(table.column(name).kind is not Kind.ABSENT for name in _SHADOWS)
        self.generation = 0
        self._last = 0
        self._other: ClassAd | None = None
        self._shadows = False
        self._cells: dict[str, tuple[object, object]] = {}
        self._parts: dict[int, DependencyIndex] = {}
        self._forget()

    def _forget(self) -> None:
        self._size = 0
        self._by_id: dict[tuple[int, bool, bool], tuple[Expr, Dependencies]] = {}
        self._by_tree: dict[tuple[str, bool, bool], Dependencies] = {}
        self._numbers_by_id: dict[int, tuple[Expr, int]] = {}
        self._numbers: dict[str, int] = {}

    def grow(self, size: int) -> None:
        """Count what is remembered, here or elsewhere for as long as this generation lasts: ``size`` bytes more."""
        if self._size >= MAX_BYTES:
            self._forget()
            self.generation += 1
        self._size += size

    def _meet(self, other: ClassAd) -> None:
        """Turn to an ad: many expressions in a row ask about the same."""
        self._other, self._cells = other, {}
        self._shadows = any(other.folded(name) is not None for name in _SHADOWS)

    def shadowed(self, other: ClassAd) -> bool:
        """Tell whether an ad has an attribute that takes the place of a scope."""
        if other is not self._other:
            self._meet(other)
        return self._shadowed or self._shadows

    def of(self, expr: Expr, *, on_rows: bool, shadowed: bool) -> Dependencies:
        """Return what an expression reaches where the other ad has no expressions."""
        key = id(expr), on_rows, shadowed
        known = self._by_id.get(key)
        if known is None:
            tree = tree_key(expr), on_rows, shadowed
            self.grow(_OF_NAME)
            reach = self._by_tree.get(tree)
            if reach is None:
                self.grow(_OF_EXPRESSION + len(tree[0]))
                reach = self._by_tree[tree] = self._find(expr, None, on_rows=on_rows, shadowed=shadowed)
            known = self._by_id[key] = expr, reach
        return known[1]

    def follow(self, reach: Dependencies, other: ClassAd) -> tuple[Dependencies, Key]:
        """Return what an expression reaches where this is the other ad, and the key of its values."""
        while True:
            key, expressions = self._key(reach.names, other)
            if expressions == reach.expressions:
                return reach, key
            further = reach.further.get(expressions)
            if further is None:
                self.grow(_OF_EXPRESSION)
                exprs = [(name, other.folded(name)) for name in reach.names]
                known = ClassAd([(name, expr) for name, expr in exprs if expr is not None])
                found = self._find(reach.expr, known, on_rows=reach.on_rows, shadowed=reach.shadowed)
                further = reach.further[expressions] = attrs.evolve(found, expressions=expressions)
            reach = further

    def footprint(self, expr: Expr, other: ClassAd | None, *, on_rows: bool, shadowed: bool) -> Footprint:
        """Return what ``footprint`` does for this table, found out at most once."""
        reach = self.of(expr, on_rows=on_rows, shadowed=shadowed)
        return reach.found if other is None else self.follow(reach, other)[0].found

    def over(self, table: AttributeTable) -> DependencyIndex:
        """Return the reaches over a part of the table, such as ``Table.parts`` gives."""
        if table is self.table:
            return self
        known = self._parts.get(id(table))
        if known is None:
            known = self._parts[id(table)] = DependencyIndex(table)  # which holds the table
        return known

    def _find(self, expr: Expr, other: ClassAd | None, *, on_rows: bool, shadowed: bool) -> Dependencies:
        found = None if shadowed or other is not None else self._plain(expr, on_rows=on_rows)
        if found is None:
            found = footprint(expr, self.table, other, on_rows=on_rows, shadowed=shadowed)
        names = tuple(sorted([name for in_rows, name in found.names if not in_rows]))
        bounds = found.bounds
        return Dependencies(
            expr,
            on_rows,
            shadowed,
            found,
            names,
            leads_back=any(in_rows and self.table.has_expressions(name) for in_rows, name in found.names),
            has_key=not found.opaque and len(names) <= MAX_NAMES,
            small=bounds is not None and bounds.depth <= _SMALL.depth and bounds.steps <= _SMALL.steps,
            stays=not (found.moves_scope or found.opaque) or stays(expr),
        )

    def _plain(self, expr: Expr, *, on_rows: bool) -> Footprint | None:
        """Give the footprint of an expression that reaches no others: most are of this kind."""
        found = scan(expr)
        if found.opaque or found.moves_scope:
            return None
        names: set[Name] = set()
        uses = 0
        for side, mentioned in found.names.items():
            for in_rows in (True, False) if side is None else ((side is Side.MY) == on_rows,):
                if in_rows and any(map(self.table.has_expressions, mentioned)):
                    return None
                names.update([(in_rows, name) for name in mentioned])
                uses += sum(mentioned.values())
        bounds = CostBounds(found.depth + bool(names), found.size + uses)
        return Footprint(frozenset(names), opaque=False, moves_scope=False, bounds=bounds)

    def _key(self, names: tuple[str, ...], other: ClassAd) -> tuple[Key, Key]:
        """Return the key of these attributes, and what in it are expressions: their names and numbers."""
        if other is not self._other:
            self._meet(other)
        cells = self._cells
        key: list[object] = []
        expressions: list[object] = []
        for name in names:
            cell = cells.get(name)
            if cell is None:
                cell = cells[name] = self._cell(other.folded(name))
            key += cell
            if cell[0] is Expr:
                expressions += (name, cell[1])
        return tuple(key), tuple(expressions)

    def _cell(self, expr: Expr | None) -> tuple[object, object]:
        if expr is None:
            return None, None
        value = expr.value if type(expr) is Literal else literal_value(expr)
        if value is None:
            return Expr, self._number(expr)
        kind = type(value)
        return kind, value if kind in _PLAIN else repr(value)  # which tells -0.0 from 0.0

    def _number(self, expr: Expr) -> int:
        """Return a number that expressions share if their trees are equal; none is ever given again."""
        known = self._numbers_by_id.get(id(expr))
        if known is None:
            tree = tree_key(expr)
            self.grow(_OF_NAME)
            number = self._numbers.get(tree)
            if number is None:
                self.grow(len(tree))
                self._last += 1
                number = self._numbers[tree] = self._last
            known = self._numbers_by_id[id(expr)] = expr, number
        return known[1]
