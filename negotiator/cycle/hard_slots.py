"""Slots whose expressions would make the conditions and ranks of all others hard to evaluate: they are set apart, and matched one by one."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ERROR, Ad, ClassAdValue, Column, Environment, Expr, Kind, Side, Table, evaluate
from negotiator.classad.columnar import attributes_footprint, footprint
from negotiator.classad.tables import constant, from_values
from negotiator.cycle.conjunct import NAME, SCOPES, WHOLE, is_shadowed, may_reach_itself
from negotiator.cycle.work_accounts import STEPS_EACH_MACHINE

#: Slots that are set apart at most, in a large pool one in this many.
_MOST_HARD, _PART_HARD = 64, 64
#: All of them together may take the steps that so many machines may take beside those of each request.
_MACHINES_TOGETHER = 4
#: Beyond these bounds expressions of slots are hard, and slots with more of them: those of real slots are far from them.
_DEEPEST, _MOST_STEPS, _MOST_EXPRESSIONS = 50, 10_000, 150


@attrs.define(eq=False)
class HardSlots:
    """Slots with expressions in which anything may be read, or far more than real slots have: their ``rows``, and those of all others.

    They are evaluated one by one, at the cost of their machines, so that they do not make what jobs and other slots share be evaluated
    slot by slot. Beside the steps of a machine for each request, all of them together may take those of ``_MACHINES_TOGETHER``: then their
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
            self._left = _MACHINES_TOGETHER * STEPS_EACH_MACHINE + len(self.rows) * of_requests
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
    most, found = max(_MOST_HARD, len(slots) // _PART_HARD), np.zeros(len(slots), np.bool_)
    for name in SCOPES:
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
        shadowed = is_shadowed(slots)
        written = [part.expr for part in slots.parts(NAME)]
        found += (footprint(each or WHOLE, slots, None, on_rows=True, shadowed=shadowed) for each in written)
    return any(
        may_reach_itself(each)
        or each.bounds is None
        or each.bounds.depth > _DEEPEST
        or each.bounds.steps > _MOST_STEPS
        for each in found
    )
