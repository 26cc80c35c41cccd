"""Hypothetical changes of a pool: its slots, its jobs, and the priorities of submitters."""

from __future__ import annotations

import hashlib
from typing import Final, TypeAlias

import attrs

from negotiator.app.job_lookup import find_job, find_slot
from negotiator.bundle import Bundle
from negotiator.classad import Environment, Expr, Table, unparse
from negotiator.cycle.cycle_state import CycleState
from negotiator.errors import CommandError, NotFoundError
from negotiator.explain.whatif import Values, fewer_slots, more_jobs, more_slots, selected, with_values
from negotiator.hooks.accounts import AccountChangeKind, AccountRequest
from negotiator.hooks.records import Mask
from negotiator.pool import Snapshot
from negotiator.records.text import printable
from negotiator.runtime.admin_actions import changed_rows


@attrs.frozen
class RowsAdded:
    """So many copies of a slot or a job, by its name or id, with other values."""

    count: int
    like: str
    values: Values = ()


@attrs.frozen
class RowsRemoved:
    """Slots or jobs for which an expression is true."""

    where: Expr


@attrs.frozen
class RowsChanged:
    """Slots or jobs for which an expression is true, with other values."""

    where: Expr
    values: Values


RowsEdit: TypeAlias = RowsAdded | RowsRemoved | RowsChanged


@attrs.frozen
class PoolChanges:
    """Changes in the order in which they are made: those of slots, and of jobs. ``factors`` are new priority factors by account."""

    slots: tuple[RowsEdit, ...] = ()
    jobs: tuple[RowsEdit, ...] = ()
    factors: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> str:
        """A text that differs for different changes."""
        return hashlib.sha256(repr(self).encode("utf-8", "surrogatepass")).hexdigest()

    def pool(self, snapshot: Snapshot, now: float) -> Snapshot:
        """Return the changed pool.

        :raises NotFoundError, InvalidCallError: a slot or job to copy is unknown, or an expression is true for none.
        """
        env = Environment(now=now)
        for edit in self.slots:
            snapshot = _with_slots(snapshot, edit, env)
        for edit in self.jobs:
            snapshot = _with_jobs(snapshot, edit, env, now)
        return snapshot

    def state(self, state: CycleState, bundle: Bundle, now: float) -> CycleState:
        """Return the state with the new priority factors.

        :raises CommandError: the order of the bundle has no accounts, or refuses a factor.
        """
        chosen = bundle.ordering.chosen
        for name, factor in self.factors:
            if chosen is None or chosen.record.accounts is None:
                raise CommandError(
                    f"the order of the bundle, {bundle.ordering.name}, has no priority factors"
                )
            order = chosen.record
            try:
                change = chosen.record.accounts.change_text(
                    AccountRequest(AccountChangeKind.FACTOR, name, factor)
                )
            except ValueError as error:
                raise CommandError(f"priority factor of {printable(name)}: {error}") from None
            before = state.order_rows.get(order.name, {})
            rows = changed_rows(bundle, order.name, before, change, now).rows
            state = attrs.evolve(state, order_rows={**state.order_rows, order.name: rows})
        return state


NO_CHANGES: Final = PoolChanges()


def _with_slots(snapshot: Snapshot, edit: RowsEdit, env: Environment) -> Snapshot:
    if isinstance(edit, RowsAdded):
        return more_slots(snapshot, edit.count, find_slot(snapshot.slots, edit.like), edit.values)
    rows = _rows(snapshot.slots, edit, env, "slots")
    if isinstance(edit, RowsRemoved):
        return fewer_slots(snapshot, rows)
    return attrs.evolve(snapshot, slots=with_values(snapshot.slots, rows, edit.values))


def _with_jobs(snapshot: Snapshot, edit: RowsEdit, env: Environment, now: float) -> Snapshot:
    if isinstance(edit, RowsAdded):
        return more_jobs(snapshot, edit.count, find_job(snapshot.jobs, edit.like), edit.values, now)
    rows = _rows(snapshot.jobs, edit, env, "jobs")
    if isinstance(edit, RowsRemoved):
        return attrs.evolve(snapshot, jobs=snapshot.jobs.take(~rows))
    return attrs.evolve(snapshot, jobs=with_values(snapshot.jobs, rows, edit.values))


def _rows(table: Table, edit: RowsRemoved | RowsChanged, env: Environment, noun: str) -> Mask:
    """Return the rows for which the expression of an edit is true; none would be a mistake in the expression."""
    rows = selected(table, edit.where, env)
    if not rows.any():
        raise NotFoundError(f"no {noun} of {len(table)} with {printable(unparse(edit.where))}")
    return rows
