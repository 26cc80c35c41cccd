"""The attributes of the other ad that the values of an expression over a table depend on.

Two ads that agree in these attributes, by type and value, give the same column. An attribute that is an expression counts
by its tree, and the attributes that tree can read are dependencies too. They are found by ``footprint``, once for each
expression, and once more for each set of expressions that the other ad has in these attributes.

The values of these attributes in one ad after the other are the keys by which results are looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import attrs

from negotiator.classad.columnar.footprints import (
    CostBounds,
    Footprint,
    Name,
    footprint,
    footprint_before_rows,
    is_in_all_rows,
)
from negotiator.classad.columnar.partial import keeps_scope
from negotiator.classad.columnar.row_sets import PayingRows, RowClasses, is_easy
from negotiator.classad.columnar.shapes import shaped_parts
from negotiator.classad.scalar import Ad
from negotiator.classad.syntax import Expr, Literal, Side, literal_value, scan, tree_key
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from negotiator.classad.columnar.footprints import EvaluatedAttribute
    from negotiator.classad.context import Allowance
    from negotiator.classad.tables import AttributeTable, Column, ExpressionRows

Values: TypeAlias = tuple[object, ...]
"""Type and value of each attribute, two items for each; (None, None) if the ad has no such attribute."""

_MAX_BYTES: Final = 32 << 20
"""Approximate memory for the numbers of trees; beyond it they are forgotten."""

_BYTES_OF_TREE: Final = 500
_PLAIN: Final = frozenset({int, str, bool})

MAX_BYTES: Final = 64 << 20
"""Approximate memory of an index; beyond it the index is emptied, and a new epoch begins."""

MAX_NAMES: Final = 200
"""An expression that depends on more attributes of the other ad is not cached."""

_BYTES_OF_DEPENDENCIES: Final = 4000
_BYTES_OF_ALIAS: Final = 500
"""Approximate bytes of the dependencies of an expression, and of one more key that leads to them."""

_MAX_TURNS: Final = 8
"""Turns of a search for dependencies that other ads left, before they are found for one ad alone."""

STEPS_TO_FOLLOW: Final = 75
"""Steps that are charged for each expression of the other ad that is followed to find what evaluation reads."""

_MAX_CLASSES: Final = 256
"""Sets of attributes by which the classes of rows are known."""

_SMALL: Final = CostBounds(depth=150, steps=400_000)
_SHADOWS: Final = ("my", "target")


class AdValues:
    """The values of the latest ad, each read once: many expressions over several tables are looked up for one ad in turn.

    Numbers of trees are never reused, so that a value of an ad before cannot be taken for another one.
    """

    __slots__ = (
        "_cells",
        "_last",
        "_numbers",
        "_numbers_by_id",
        "_other",
        "_shadows",
        "_size",
    )

    def __init__(self) -> None:
        self._other: Ad | None = None
        self._cells: dict[str, tuple[object, object]] = {}
        self._shadows = False
        self._last = 0
        self._forget()

    def _forget(self) -> None:
        self._size = 0
        self._numbers_by_id: dict[int, tuple[Expr, int]] = {}
        self._numbers: dict[str, int] = {}

    def _set_other(self, other: Ad) -> None:
        self._other, self._cells = other, {}
        self._shadows = any(other.folded(name) is not None for name in _SHADOWS)

    def shadowed(self, other: Ad) -> bool:
        """True if this ad has an attribute called MY or TARGET."""
        if other is not self._other:
            self._set_other(other)
        return self._shadows

    def of(self, names: tuple[str, ...], other: Ad) -> tuple[Values, Values]:
        """Return the values of these attributes, and those of them that are expressions: names and numbers."""
        if other is not self._other:
            self._set_other(other)
        cells = self._cells
        values: list[object] = []
        expressions: list[object] = []
        for name in names:
            cell = cells.get(name)
            if cell is None:
                cell = cells[name] = self._cell(other.folded(name))
            values += cell
            if cell[0] is Expr:
                expressions += (name, cell[1])
        return tuple(values), tuple(expressions)

    def _cell(self, expr: Expr | None) -> tuple[object, object]:
        if expr is None:
            return None, None
        value = expr.value if type(expr) is Literal else literal_value(expr)
        if value is None:
            return Expr, self._number(expr)
        kind = type(value)
        return kind, value if kind in _PLAIN else repr(value)  # -0.0 and 0.0 differ by repr only

    def _number(self, expr: Expr) -> int:
        """Return the number of a tree: the same for equal trees, and never reused."""
        known = self._numbers_by_id.get(id(expr))
        if known is None:
            tree = tree_key(expr)
            if self._size >= _MAX_BYTES:
                self._forget()
            self._size += _BYTES_OF_TREE
            number = self._numbers.get(tree)
            if number is None:
                self._size += len(tree)
                self._last += 1
                number = self._numbers[tree] = self._last
            known = self._numbers_by_id[id(expr)] = expr, number
        return known[1]


@attrs.frozen(eq=False)
class Dependencies:
    """The dependencies of one expression, for all other ads with the same ``expressions``."""

    expr: Expr

    on_rows: bool
    """True if the expression belongs to the ads of the table, False if to the other ad."""

    shadowed: bool
    """True if one of the ads has an attribute called MY or TARGET, so that these scopes may mean anything."""

    footprint: Footprint
    """The attributes of both sides that evaluation can read."""

    names: tuple[str, ...]
    """Those of the other ad, sorted, in lower case."""

    rows_refer_back: bool
    """True if rows have expressions among these attributes, which may read the other ad in turn."""

    cacheable: bool
    """True if the values depend on attributes alone, and these are not too many."""

    within_limits: bool
    """True if evaluation stays far below the limits of depth and steps, so that constants may be folded in."""

    keeps_scope: bool
    """True if no call in the expression moves the evaluator to another ad."""

    expressions: Values = ()
    """The expressions of the other ad that were followed: names and numbers of trees."""

    extended: dict[Values, Dependencies] = attrs.field(factory=dict, init=False, repr=False)
    """The dependencies with further expressions of the other ad followed."""


class KnownCall(NamedTuple):
    """What a function returned for some columns, in so many ``calls``: the ``steps`` of all of them, and the ``most`` of one.

    ``args`` are held so that their identities stay their own.
    """

    args: tuple[Column, ...]
    result: Column
    calls: int
    steps: int
    most: int


class DependencyIndex:
    """The dependencies of expressions over one table.

    Expressions are looked up by identity first, which costs next to nothing, and then by their tree. A hostile user may
    send any number of expressions, so the index is emptied when it is full: a new ``epoch``.
    """

    __slots__ = (
        "_by_id",
        "_by_tree",
        "_classes",
        "_parts",
        "_shadowed",
        "_shaped",
        "_size",
        "calls",
        "epoch",
        "evaluated",
        "paying",
        "table",
        "values",
    )

    def __init__(self, table: AttributeTable, values: AdValues | None = None) -> None:
        self.table = table
        #: Those of the other ad; indexes of several tables may share them.
        self.values = values or AdValues()
        self._shadowed = any(table.column(name).kind is not Kind.ABSENT for name in _SHADOWS)
        self.epoch = 0
        #: Calls of functions with columns of the table, by the function and its arguments.
        self.calls: dict[tuple[Any, ...], KnownCall] = {}
        #: Attributes of the rows that are the same for all other ads, by name in lower case.
        self.evaluated: dict[str, EvaluatedAttribute] = {}
        self.paying = PayingRows(table)
        self._parts: dict[int, DependencyIndex] = {}
        self._shaped: dict[str, tuple[ExpressionRows, ...]] = {}
        self._classes: dict[frozenset[str], RowClasses] = {}
        self._clear()

    def _clear(self) -> None:
        self._size = 0
        self._by_id: dict[tuple[int, bool, bool], tuple[Expr, Dependencies]] = {}
        self._by_tree: dict[tuple[str, bool, bool], Dependencies] = {}

    def add_memory(self, size: int) -> None:
        """Count bytes that are held here, or elsewhere until this epoch ends; begin a new epoch if they are too many."""
        if self._size >= MAX_BYTES:
            self._clear()
            self.epoch += 1
        self._size += size

    def shadowed(self, other: Ad) -> bool:
        """True if this ad or a row has an attribute called MY or TARGET."""
        return self._shadowed or self.values.shadowed(other)

    def without_other_ad(self, expr: Expr, *, on_rows: bool, shadowed: bool) -> Dependencies:
        """Return the dependencies of an expression if the other ad has constants only."""
        # By identity first: printing the tree for its key is the costly part, and most jobs share the tree of their class.
        key = id(expr), on_rows, shadowed
        known = self._by_id.get(key)
        if known is None:
            tree = tree_key(expr), on_rows, shadowed
            self.add_memory(_BYTES_OF_ALIAS)
            dependencies = self._by_tree.get(tree)
            if dependencies is None:
                self.add_memory(_BYTES_OF_DEPENDENCIES + len(tree[0]))
                dependencies = self._find(expr, None, on_rows=on_rows, shadowed=shadowed)
                self._by_tree[tree] = dependencies
            known = self._by_id[key] = expr, dependencies  # holding the tree, so that its id is not reused
        return known[1]

    def is_of_rows_alone(self, expr: Expr) -> bool:
        """True if an expression of the rows reads attributes of the rows only, so that its values are the same for all ads."""
        found = self.without_other_ad(expr, on_rows=True, shadowed=False)
        return found.cacheable and not found.names

    def resolve(
        self, dependencies: Dependencies, other: Ad, payer: Allowance | None = None
    ) -> tuple[Dependencies, Values]:
        """Return the dependencies of an expression with this other ad, and the ad's values of these attributes.

        Where the ad has an expression among them, its tree is followed, which may add attributes with further
        expressions, until there are no new ones. ``payer`` is charged for each that is followed; without steps none is, and
        the dependencies, which are not complete then, are not cacheable.
        """
        # Ads with equal expressions share the extended dependencies, so the search runs once for a class of jobs. One
        # search follows all expressions of the ad: a long chain of references takes one turn, not one for each link.
        for _ in range(_MAX_TURNS):
            values, expressions = self.values.of(dependencies.names, other)
            if expressions == dependencies.expressions:
                return dependencies, values
            extended = dependencies.extended.get(expressions)
            if extended is None:
                if payer is not None and payer.exhausted:
                    return attrs.evolve(dependencies, cacheable=False), values
                extended = dependencies.extended[expressions] = self._extended(dependencies, other, payer)
            dependencies = extended
        # Many ads that differ only deep in their chains: found for this ad alone.
        found = self._extended(dependencies, other, payer)
        return found, self.values.of(found.names, other)[0]

    def _extended(self, dependencies: Dependencies, other: Ad, payer: Allowance | None) -> Dependencies:
        """Return the dependencies of the same expression with all expressions of the other ad followed."""
        self.add_memory(_BYTES_OF_DEPENDENCIES)
        found = self._find(
            dependencies.expr, other, on_rows=dependencies.on_rows, shadowed=dependencies.shadowed
        )
        # Every attribute that was followed is among the names, so ads with these expressions have these dependencies.
        expressions = self.values.of(found.names, other)[1]
        if payer is not None:
            payer.steps -= STEPS_TO_FOLLOW * (len(expressions) // 2)
        return attrs.evolve(found, expressions=expressions)

    def footprint(
        self,
        expr: Expr,
        other: Ad | None,
        *,
        on_rows: bool,
        shadowed: bool,
        payer: Allowance | None = None,
    ) -> Footprint:
        """Return the footprint of an expression over this table, computed at most once."""
        dependencies = self.without_other_ad(expr, on_rows=on_rows, shadowed=shadowed)
        return (dependencies if other is None else self.resolve(dependencies, other, payer)[0]).footprint

    def parts(self, name: str) -> tuple[ExpressionRows, ...]:
        """Return the rows in which an attribute is an expression, those of one shape together, found at most once."""
        known = self._shaped.get(name)
        if known is None:
            known = self._shaped[name] = shaped_parts(self.table, name)
        return known

    def for_part(self, table: AttributeTable) -> DependencyIndex:
        """Return the index for some of the rows, such as ``Table.parts`` gives."""
        if table is self.table:
            return self
        known = self._parts.get(id(table))
        if known is None:
            # The index holds the table, so that the id is not reused.
            known = self._parts[id(table)] = DependencyIndex(table, self.values)
        return known

    def is_easy_before_rows(self, expr: Expr, other: Ad, *, on_rows: bool) -> bool:
        """True if an expression would surely be evaluated by columns, if the rows had constants only."""
        shadowed = self.shadowed(other)
        return is_easy(footprint_before_rows(expr, self.table, other, on_rows=on_rows, shadowed=shadowed))

    def classes(self, names: frozenset[str]) -> RowClasses:
        """Return the classes of rows for expressions that read these attributes of them, found at most once."""
        known = self._classes.get(names)
        if known is None:
            if len(self._classes) >= _MAX_CLASSES:
                self._classes.clear()
            known = self._classes[names] = RowClasses.of(self.table, names)
        return known

    def _find(self, expr: Expr, other: Ad | None, *, on_rows: bool, shadowed: bool) -> Dependencies:
        found = None if shadowed or other is not None else self._direct_footprint(expr, on_rows=on_rows)
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
            rows_refer_back=any(
                in_rows and self.table.has_expressions(name) for in_rows, name in found.names
            ),
            cacheable=not found.opaque and len(names) <= MAX_NAMES,
            within_limits=bounds is not None
            and bounds.depth <= _SMALL.depth
            and bounds.steps <= _SMALL.steps,
            keeps_scope=not (found.moves_scope or found.opaque) or keeps_scope(expr),
        )

    def _direct_footprint(self, expr: Expr, *, on_rows: bool) -> Footprint | None:
        """Return the footprint of an expression that reads constants only, as most do; None for all others."""
        found = scan(expr)
        if found.opaque or found.moves_scope:
            return None
        names: set[Name] = set()
        uses = 0
        for side, mentioned in found.names.items():
            # A name without a scope may be read from either ad.
            for in_rows in (True, False) if side is None else ((side is Side.MY) == on_rows,):
                # Expressions of the rows read further attributes, which only ``footprint`` follows. The other ad's are
                # followed by ``resolve``.
                if in_rows and any(map(self.table.has_expressions, mentioned)):
                    return None
                for name, count in mentioned.items():
                    if in_rows or side is not None or not (on_rows and is_in_all_rows(self.table, name)):
                        names.add((in_rows, name))
                        uses += count
        bounds = CostBounds(found.depth + bool(names), found.size + uses)
        return Footprint(frozenset(names), opaque=False, moves_scope=False, bounds=bounds)
