"""Requirements taken apart: a match needs each top-level conjunct true, so each can be counted by itself, and shared."""

from __future__ import annotations

import functools
from collections.abc import Container, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Expr, Kind, Side, Table
from negotiator.classad.columnar.footprint import footprint, scope_side
from negotiator.classad.columnar.partial import MOVING
from negotiator.classad.scalar.ad import fold
from negotiator.classad.syntax.analysis import children, splittable
from negotiator.classad.syntax.printing import unparse_old
from negotiator.classad.syntax.tree import AdRef, Attr, Binary, Call
from negotiator.classad.syntax.tree_key import tree_key
from negotiator.pool.secrets import redact

#: Beyond so many conjuncts the rest of an expression is counted as one: users write Requirements.
MAX_CONJUNCTS = 64
#: Beyond so many different Requirements of slots, those of the rest are counted as one.
MAX_TEXTS = 200
#: So many characters of a conjunct stand in a reason.
MAX_TEXT = 300

#: The attribute, folded.
NAME = "requirements"
#: Requirements by name, in the ad itself: what refers to them inside is circular then, as in HTCondor.
WHOLE = Attr("Requirements", AdRef(Side.MY))


@attrs.frozen
class SlotConjunct:
    """One conjunct of the slots' side: the rows that have it, its tree, and the attribute it was written in."""

    rows: NDArray[np.intp]
    expression: Expr
    attribute: str


def slot_parts(slots: Table) -> tuple[SlotConjunct, ...]:
    """Split the Requirements of all slots, once a cycle: slots with the same text share their conjuncts.

    A conjunct that is only the name of another expression of the slot (``WithinResourceLimits``) is split in turn.
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
        else attrs.evolve(parts[0], rows=np.unique(np.concatenate([part.rows for part in parts])))
        for parts in found.values()
    )


def _split_slots(written: Expr, rows: NDArray[np.intp], slots: Table) -> Iterator[SlotConjunct]:
    table = slots if len(rows) == len(slots) else slots.take(rows)
    if _may_reach_itself(written, table):
        yield SlotConjunct(rows, WHOLE, "Requirements")
        return
    for conjunct in rejoin(split(written), _InAll(table)):
        left = np.ones(len(rows), dtype=np.bool_)
        for name, part in _named(conjunct, table):
            reach = footprint(part.expr, table, None, on_rows=True, shadowed=_shadowed(table))
            if reach.opaque or (True, fold(name)) in reach.names:
                continue  # it may be met again while it is evaluated, and is undefined there
            left[part.rows] = False
            for inner in rejoin(split(part.expr), _InAll(part.table)):
                yield SlotConjunct(rows[part.rows], inner, name)
        if left.any():
            yield SlotConjunct(rows[left], conjunct, "Requirements")


@attrs.frozen
class _InAll:
    """The attributes that every row of a table has."""

    table: Table

    def __contains__(self, name: object) -> bool:
        return bool(name) and not (_shadowed(self.table) or self.table.column(str(name)).has(Kind.ABSENT))


def _named(conjunct: Expr, table: Table) -> Iterator[tuple[str, Any]]:
    """Give the expressions of the slots that a conjunct consisting of one name of their own stands for."""
    if isinstance(conjunct, Attr) and conjunct.scope in (None, Attr("MY")) and not conjunct.absolute:
        yield from ((conjunct.name, part) for part in table.parts(conjunct.name) if part.expr is not None)


def _shadowed(slots: Table) -> bool:
    """Tell whether a slot has an attribute that takes the place of a scope."""
    return any(slots.column(name).kind is not Kind.ABSENT for name in ("my", "target"))


def _may_reach_itself(written: Expr, slots: Table) -> bool:
    """Tell whether Requirements may be met again while they are evaluated: there they are undefined."""
    found = footprint(written, slots, None, on_rows=True, shadowed=_shadowed(slots))
    return found.opaque or any(name == NAME for _, name in found.names)


def split(requirements: Expr) -> tuple[Expr, ...]:
    """Split at the top-level ``&&``; the tail of a very long expression stays one conjunct.

    Each can be evaluated by itself unless ``moves`` says otherwise of one before it.
    """
    parts = splittable(requirements)
    return (
        parts
        if len(parts) <= MAX_CONJUNCTS
        else (*parts[: MAX_CONJUNCTS - 1], _joined(parts[MAX_CONJUNCTS - 1 :]))
    )


def rejoin(parts: Sequence[Expr], own: Container[str] = ()) -> tuple[Expr, ...]:
    """Put together what is from the first conjunct on that moves the evaluator to the ad of an attribute not in ``own``."""
    for place, part in enumerate(parts):
        if not all(name in own for name in moves(part)):
            return (*parts[:place], _joined(parts[place:]))
    return tuple(parts)


def _joined(parts: Sequence[Expr]) -> Expr:
    return functools.reduce(lambda left, right: Binary("&&", left, right), parts)


def moves(expr: Expr) -> frozenset[str]:
    """Give the attributes to whose ad a call in an expression moves the evaluator: later names are looked up there.

    ``countMatches(MY.x, ...)`` moves to the own ad, where the evaluator is anyway, if that has an ``x``, else to the
    outermost one (SEMANTICS section 4); for any other ad the name given is "", which is no attribute's.
    """
    found: set[str] = set()
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and node.args and fold(node.name) in MOVING:
            first = node.args[0]
            if isinstance(first, Attr):
                found.add(fold(first.name) if scope_side(first.scope) is Side.MY else "")
        pending.extend(children(node))
    return frozenset(found)


def shown(conjunct: Expr) -> str:
    """Print a conjunct as condor_status and condor_q would, bounded, and without the values of secrets."""
    text = redact(unparse_old(conjunct))
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
