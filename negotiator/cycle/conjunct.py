"""The conjuncts of Requirements: as ads have them, and as they are evaluated over slots.

The Requirements of all slots are split into conjuncts, and these put in layers: slots with the same conjunct share it. A pool of 500 kinds of machines has 500 texts of START, but few shapes of them. A layer has the conjuncts of one shape whose slots are
disjoint; on each slot the layers come in the order of its own conjuncts, so that the first one that fails is the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Environment, Expr, Kind, Side, Table
from negotiator.classad.columnar import (
    CacheKey,
    ColumnCache,
    Dependencies,
    Footprint,
    Shape,
    ShapedRows,
    TrueRows,
    footprint,
    footprint_before_rows,
    reads_of_rows,
    shape_of,
    shaped_rows,
)
from negotiator.classad.syntax import AdRef, Attr, fold, rejoin, split, tree_key
from negotiator.cycle.reasons import core_reason
from negotiator.pool.shown_expression import shown_expression
from negotiator.records import Reason, Station, Verdict

#: Maximum of different Requirements of slots that are split; all further ones are evaluated whole.
MAX_TEXTS = 200

#: The name of the attribute, in lower case.
NAME = "requirements"
#: Names of scopes; where an ad has an attribute called so, the scope means that attribute.
SCOPES = ("my", "target")
#: A reference to the Requirements of the ad itself. References to it inside Requirements are then circular, as in
#: HTCondor.
WHOLE = Attr("Requirements", AdRef(Side.MY))
_NAMES = frozenset({(True, NAME), (False, NAME)})
_MINE = Side.MY  # before Python 3.12 looking up an enumeration's member is slow


@attrs.define(eq=False)
class ConjunctPool:
    """The conjuncts of expressions: each expression is split once, and equal conjuncts are one tree."""

    _by_id: dict[int, tuple[Expr, tuple[Expr, ...]]] = attrs.field(factory=dict, init=False)
    _by_tree: dict[str, Expr] = attrs.field(factory=dict, init=False)

    def of(self, expression: Expr) -> tuple[Expr, ...]:
        """Return the conjuncts of an expression, as ``split`` does."""
        known = self._by_id.get(id(expression))  # the entry holds the tree, so that its id stays its own
        if known is None:
            parts = split(expression)
            if len(parts) > 1:
                parts = tuple([self._by_tree.setdefault(tree_key(part), part) for part in parts])
            known = self._by_id[id(expression)] = expression, tuple(parts)
        return known[1]


@attrs.define(eq=False)
class WrittenConjunct:
    """A conjunct as an ad of one side has it in an attribute.

    ``place`` is its place among the conjuncts of all slots, 0 for those of jobs.
    """

    expression: Expr
    attribute: str
    side: Side  # of the slots
    place: int = 0
    _reason: Reason | None = attrs.field(default=None, init=False)

    def reason(self) -> Reason:
        """Return the reason for slots on which it is not true; its text is printed when first needed."""
        if self._reason is None:
            text = shown_expression(self.expression)
            code, owner = (
                ("slot_requirements", f"the slot's {self.attribute}")
                if self.side is _MINE
                else ("job_requirements", "the job's Requirements")
            )
            self._reason = core_reason(Station.MATCH, Verdict.DENIED, code, f"{owner}: {text}", text)
        return self._reason


@attrs.define(eq=False)
class Conjunct:
    """An expression that must be true for a match, evaluated for written conjuncts of one attribute of one side.

    ``rows`` are the slots that it applies to (None: all); ``cache`` has those of them on which it is true.

    ``written`` is one conjunct, or several that apply to different slots: ``codes`` (R,) is then the one of each row.
    """

    expression: Expr
    cache: ColumnCache[TrueRows]
    written: tuple[WrittenConjunct, ...]
    rows: NDArray[np.intp] | None = None
    codes: NDArray[np.intp] | None = None
    side: Side = attrs.field(init=False)  # of the slots
    _always: TrueRows | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.side = self.written[0].side

    def key(self, job: Ad, env: Environment) -> CacheKey[TrueRows] | None:
        """Return its key in the cache for a job, at the cost of its owner; None if one result, computed before, holds for all jobs."""
        if self._always is not None and not self.cache.dependencies.shadowed(job):
            return None
        return self.cache.key(self.expression, job, self.side, env)

    def truth(self, key: CacheKey[TrueRows] | None, job: Ad, env: Environment) -> TrueRows:
        """Return the slots on which it is true; a result that holds for all jobs is stored here."""
        if key is None and self._always is not None:
            return self._always
        key = key or self.cache.key(self.expression, job, self.side, env)
        truth = self.cache.get_by_key(key, job, env)
        if key.is_shared_by_all:
            self._always = truth
        return truth

    def is_independent(self, key: CacheKey[TrueRows]) -> bool:
        """True if its evaluation never reads the Requirements that it is a part of.

        Inside these such a reference is circular, and undefined; in the conjunct by itself it would have a value.
        """
        return self.is_independent_with(key.dependencies, direct=key.is_direct)

    def is_independent_with(self, dependencies: Dependencies, *, direct: bool) -> bool:
        """True if its evaluation with these dependencies never reads them; ``direct``: the job has constants only."""
        if self.side is _MINE and (direct or self.expression is WHOLE):
            return True  # ``slot_conjuncts`` has checked it for jobs without expressions
        found = dependencies.footprint
        if self.side is not _MINE:
            return not found.opaque and _NAMES.isdisjoint(found.names)
        own = (True, fold(self.written[0].attribute))
        return not found.opaque and found.names.isdisjoint({(True, NAME), own})


@attrs.frozen
class SlotConjunct:
    """One conjunct of the slots' side: the rows that have it, its tree, and the attribute that it was written in."""

    rows: NDArray[np.intp]
    expression: Expr
    attribute: str


def slot_conjuncts(slots: Table) -> tuple[SlotConjunct, ...]:
    """Split the Requirements of all slots, once a cycle: slots with the same text share their conjuncts.

    A conjunct that consists of the name of another expression of the slot (``WithinResourceLimits``) is split in turn.
    """
    ids, first_rows = slots.group(["Requirements"])
    found: dict[tuple[str, str], list[SlotConjunct]] = {}
    for group, row in enumerate(first_rows[:MAX_TEXTS]):
        written = slots.ad(int(row)).get("Requirements")
        if written is not None:
            for part in _split_slots(written, np.flatnonzero(ids == group), slots):
                found.setdefault((part.attribute, tree_key(part.expression)), []).append(part)
    rest = np.flatnonzero(ids >= MAX_TEXTS)
    if len(rest):
        found["", ""] = [SlotConjunct(rest, WHOLE, "Requirements")]
    return tuple(
        parts[0]
        if len(parts) == 1
        else attrs.evolve(parts[0], rows=_together([part.rows for part in parts], len(slots)))
        for parts in found.values()
    )


def _together(parts: Iterable[NDArray[np.intp]], size: int) -> NDArray[np.intp]:
    """Return the rows of any part, each once, ascending; sorting them would take far longer in a large pool."""
    found = np.zeros(size, np.bool_)
    for rows in parts:
        found[rows] = True
    return np.flatnonzero(found)


def _split_slots(written: Expr, rows: NDArray[np.intp], slots: Table) -> Iterator[SlotConjunct]:
    table = slots if len(rows) == len(slots) else slots.take(rows)
    whole = _reaching_themselves(written, table)
    if whole.any():
        yield SlotConjunct(rows[whole], WHOLE, "Requirements")
        if whole.all():
            return
        rows, table = rows[~whole], table.take(~whole)
    for conjunct in rejoin(split(written), _PresentInAll(table)):
        # Slots with the same expression behind the name share its conjuncts; rows without one keep the name itself.
        left = np.ones(len(rows), dtype=np.bool_)
        for name, part in _named(conjunct, table):
            reach = footprint(part.expr, part.table, None, on_rows=True, shadowed=is_shadowed(table))
            if reach.opaque or (True, fold(name)) in reach.names:
                continue  # it may refer to itself, and such a reference is undefined inside the attribute only
            left[part.rows] = False
            for inner in rejoin(split(part.expr), _PresentInAll(part.table)):
                yield SlotConjunct(rows[part.rows], inner, name)
        if left.any():
            yield SlotConjunct(rows[left], conjunct, "Requirements")


@attrs.frozen
class _PresentInAll:
    """The attributes that every row of a table has."""

    table: Table

    def __contains__(self, name: object) -> bool:
        return bool(name) and not (is_shadowed(self.table) or self.table.column(str(name)).has(Kind.ABSENT))


def _named(conjunct: Expr, table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the expressions of the slots that a conjunct refers to, if it consists of the name of one attribute."""
    if isinstance(conjunct, Attr) and conjunct.scope in (None, Attr("MY")) and not conjunct.absolute:
        yield from ((conjunct.name, part) for part in table.parts(conjunct.name) if part.expr is not None)


def is_shadowed(slots: Table) -> bool:
    """True if a slot has an attribute named like a scope, so that the scope means that attribute."""
    return any(slots.column(name).kind is not Kind.ABSENT for name in SCOPES)


def _reaching_themselves(written: Expr, slots: Table) -> NDArray[np.bool_]:
    """Return in which rows Requirements may refer to Requirements, (N,): such a reference is undefined while they are evaluated."""
    found = footprint(written, slots, None, on_rows=True, shadowed=is_shadowed(slots))
    if not may_reach_itself(found):
        return np.zeros(len(slots), np.bool_)
    # Perhaps in few: the expressions of one slot must not make the Requirements of all others be evaluated as a whole.
    itself = footprint_before_rows(written, slots, None, on_rows=True, shadowed=is_shadowed(slots))
    if may_reach_itself(itself):
        return np.ones(len(slots), np.bool_)
    groups, reads = reads_of_rows(slots, itself.row_names())
    return np.array(list(map(may_reach_itself, reads)), np.bool_)[groups]


def may_reach_itself(found: Footprint) -> bool:
    """True if what is read may be anything, or leads to Requirements."""
    return found.opaque or any(name == NAME for _, name in found.names)


@attrs.frozen(eq=False)
class SlotLayer:
    """The conjuncts of one shape: ``places`` (P,) in the order of all conjuncts, and the rows with their constants."""

    places: Sequence[int]
    shaped: ShapedRows[Table]


@attrs.define(eq=False)
class _OpenLayer:
    """A layer to which conjuncts are added; ``turn`` is its place among the layers."""

    turn: int
    shapes: list[Shape | None] = attrs.field(factory=list)
    places: list[int] = attrs.field(factory=list)


def slot_layers(parts: Sequence[SlotConjunct], slots: Table) -> tuple[SlotLayer | int, ...]:
    """Return the layers in their order; the place of a conjunct that is alone in its layer."""
    turns = np.full(len(slots), -1, np.intp)  # of the last layer of each slot
    layers: list[_OpenLayer] = []
    of_shape: dict[object, list[_OpenLayer]] = {}
    for place, part in enumerate(parts):
        shape = None
        if len(part.rows) < len(slots) and part.expression is not WHOLE:
            shape = shape_of(part.expression)
        alike = [] if shape is None else of_shape.setdefault((part.attribute, shape.key), [])
        free = bisect_right(alike, turns[part.rows].max(initial=-1), key=_turn)
        if free < len(alike):
            layer = alike[free]
        else:
            layer = _OpenLayer(len(layers))
            layers.append(layer)
            alike.append(layer)
        layer.shapes.append(shape)
        layer.places.append(place)
        turns[part.rows] = layer.turn
    return tuple(
        layer.places[0] if len(layer.places) == 1 else _layer(layer, parts, slots) for layer in layers
    )


def _turn(layer: _OpenLayer) -> int:
    return layer.turn


def _layer(layer: _OpenLayer, parts: Sequence[SlotConjunct], slots: Table) -> SlotLayer:
    shapes = [shape for shape in layer.shapes if shape is not None]
    return SlotLayer(layer.places, shaped_rows(slots, shapes, [parts[place].rows for place in layer.places]))
