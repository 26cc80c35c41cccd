"""The Requirements of all slots, split into conjuncts, and these in layers: slots with the same conjunct share it.

A few slots are set apart before: those whose expressions would make the conditions of all others hard to evaluate.

A pool of 500 kinds of machines has 500 texts of START, but few shapes of them. A layer has the conjuncts of one shape whose slots are
disjoint; on each slot the layers come in the order of its own conjuncts, so that the first one that fails is the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ERROR, Ad, ClassAdValue, Column, Environment, Expr, Kind, Side, Table, evaluate
from negotiator.classad.columnar import (
    Footprint,
    Shape,
    ShapedRows,
    attributes_footprint,
    footprint,
    footprint_before_rows,
    reads_of_rows,
    shape_of,
    shaped_rows,
)
from negotiator.classad.syntax import AdRef, Attr, fold, rejoin, split, tree_key
from negotiator.classad.tables import constant, from_values
from negotiator.cycle.work_accounts import STEPS_EACH_MACHINE

#: Maximum of different Requirements of slots that are split; all further ones are evaluated whole.
MAX_TEXTS = 200

#: Slots that are set apart at most, in a large pool one in this many.
MOST_HARD, _PART_HARD = 64, 64
#: All of them together may take the steps that so many machines may take beside those of each request.
_MACHINES = 4
#: Beyond these bounds expressions of slots are hard, and slots with more of them: those of real slots are far from them.
_DEEPEST, _MOST_STEPS, _MOST_EXPRESSIONS = 50, 10_000, 150

#: The name of the attribute, in lower case.
NAME = "requirements"
_SCOPES = ("my", "target")
#: A reference to the Requirements of the ad itself. References to it inside Requirements are then circular, as in
#: HTCondor.
WHOLE = Attr("Requirements", AdRef(Side.MY))


@attrs.frozen
class SlotConjunct:
    """One conjunct of the slots' side: the rows that have it, its tree, and the attribute that it was written in."""

    rows: NDArray[np.intp]
    expression: Expr
    attribute: str


@attrs.define(eq=False)
class HardSlots:
    """Slots with expressions in which anything may be read, or far more than real slots have: their ``rows``, and those of all others.

    They are evaluated one by one, at the cost of their machines, so that they do not make what jobs and other slots share be evaluated
    slot by slot. Beside the steps of a machine for each request, all of them together may take those of ``_MACHINES``: then their
    values are errors.
    """

    slots: Table
    rows: NDArray[np.intp]
    easy: NDArray[np.intp]
    _left: int | None = attrs.field(default=None, init=False)  # steps of all of them

    def values(self, expr: Expr, job: Ad, side: Side, env: Environment, rows: NDArray[np.intp]) -> Column:
        """Return the values of an expression of each of some of these slots (``Side.MY``), or of a job that is matched with it."""
        if self._left is not None and self._left <= 0 and env.payers is not None:
            return constant(len(rows), self.slots.pool, ERROR)
        slots = [self.slots.ad(row) for row in rows.tolist()]
        found = [
            self._value(expr, slot, *((slot, job) if side is Side.MY else (job, slot)), env) for slot in slots
        ]
        return from_values(self.slots.pool, found)

    def _value(self, expr: Expr, slot: Ad, my: Ad, target: Ad, env: Environment) -> ClassAdValue:
        if env.payers is None:
            return evaluate(expr, my, target, env)
        machine = env.payers.rows(slot)
        if self._left is None:
            of_requests = max(0, machine.steps - STEPS_EACH_MACHINE)
            self._left = _MACHINES * STEPS_EACH_MACHINE + len(self.rows) * of_requests
        if self._left <= 0:
            return ERROR
        before = machine.steps
        found = evaluate(expr, my, target, attrs.evolve(env, payers=attrs.evolve(env.payers, other=machine)))
        self._left -= before - machine.steps
        return found

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of all other slots as a column of all, (N,): NaN for these slots."""
        found = np.full(len(self.slots), np.nan)
        found[self.easy] = values
        return found


def hard_slots(slots: Table) -> HardSlots | None:
    """Return the hard slots of a pool; None without any, or if they are many."""
    most, found = max(MOST_HARD, len(slots) // _PART_HARD), np.zeros(len(slots), np.bool_)
    for name in _SCOPES:
        found |= ~slots.column(name).where(Kind.ABSENT)
    names = [name for name in sorted(slots.names()) if slots.has_expressions(name)]
    if len(names) > _MOST_EXPRESSIONS:
        count = np.zeros(len(slots), np.intp)
        for name in names:
            count += slots.column(name).where(Kind.EXPRESSION)
        found |= count > _MOST_EXPRESSIONS
    others = np.flatnonzero(~found)
    table = slots if len(others) == len(slots) else slots.take(others)
    names = [name for name in names if table.has_expressions(name)]
    if _is_hard(table, names):
        groups, first = table.group_expressions(names)
        counts, hard = np.bincount(groups), np.zeros(len(first), np.bool_)
        # Halves of the kinds of slots, as long as one of them is hard. The largest kinds first: if many slots are hard, it is soon known.
        pending = [np.argsort(-counts, kind="stable")]
        while pending:
            kinds = pending.pop()
            if not _is_hard(table.take(first[kinds]), names):
                continue
            if len(kinds) > 1:
                half = len(kinds) // 2
                pending += (kinds[half:], kinds[:half])
                continue
            hard[kinds] = True
            if counts[hard].sum() > most:
                return None
        found[others] = hard[groups]
    rows = np.flatnonzero(found)
    if not 0 < len(rows) <= most or len(rows) == len(slots):
        return None
    return HardSlots(slots, rows, np.delete(np.arange(len(slots)), rows))


def _is_hard(slots: Table, names: Sequence[str]) -> bool:
    """True if one of these attributes, in lower case, leads to something hard, or back to Requirements."""
    found = [attributes_footprint([name for name in names if name != NAME], slots)]
    if NAME in names:
        shadowed = _shadowed(slots)
        written = [part.expr for part in slots.parts(NAME)]
        found += (footprint(each or WHOLE, slots, None, on_rows=True, shadowed=shadowed) for each in written)
    return any(
        _may_reach_itself(each)
        or each.bounds is None
        or each.bounds.depth > _DEEPEST
        or each.bounds.steps > _MOST_STEPS
        for each in found
    )


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
            reach = footprint(part.expr, part.table, None, on_rows=True, shadowed=_shadowed(table))
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
        return bool(name) and not (_shadowed(self.table) or self.table.column(str(name)).has(Kind.ABSENT))


def _named(conjunct: Expr, table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the expressions of the slots that a conjunct refers to, if it consists of the name of one attribute."""
    if isinstance(conjunct, Attr) and conjunct.scope in (None, Attr("MY")) and not conjunct.absolute:
        yield from ((conjunct.name, part) for part in table.parts(conjunct.name) if part.expr is not None)


def _shadowed(slots: Table) -> bool:
    """True if a slot has an attribute named like a scope, so that the scope means that attribute."""
    return any(slots.column(name).kind is not Kind.ABSENT for name in _SCOPES)


def _reaching_themselves(written: Expr, slots: Table) -> NDArray[np.bool_]:
    """Return in which rows Requirements may refer to Requirements, (N,): such a reference is undefined while they are evaluated."""
    found = footprint(written, slots, None, on_rows=True, shadowed=_shadowed(slots))
    if not _may_reach_itself(found):
        return np.zeros(len(slots), np.bool_)
    # Perhaps in few: the expressions of one slot must not make the Requirements of all others be evaluated as a whole.
    itself = footprint_before_rows(written, slots, None, on_rows=True, shadowed=_shadowed(slots))
    if _may_reach_itself(itself):
        return np.ones(len(slots), np.bool_)
    groups, reads = reads_of_rows(slots, itself.row_names())
    return np.array(list(map(_may_reach_itself, reads)), np.bool_)[groups]


def _may_reach_itself(found: Footprint) -> bool:
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
