"""Use case: what a cycle would decide if the slots, the jobs, the priorities or the bundle of a pool were changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from negotiator.app.ad_values import AdValue, ad_expression, ad_value
from negotiator.app.bundle_edits import NO_EDITS, BundleEdits
from negotiator.app.job_lookup import find_job, find_slot
from negotiator.app.yaml_files import read_record
from negotiator.bundle import Bundle
from negotiator.classad import Environment, Expr, Table, unparse
from negotiator.cycle.cycle_state import CycleState
from negotiator.errors import CommandError, NotFoundError, SettingsError
from negotiator.explain.whatif import Values, fewer_slots, more_jobs, more_slots, selected, with_values
from negotiator.files import open_regular
from negotiator.hooks.accounts import AccountChangeKind, AccountRequest
from negotiator.hooks.records import Mask
from negotiator.pool import Snapshot
from negotiator.records import Problem, ScalarText, Severity, Source
from negotiator.records.text import printable
from negotiator.runtime.admin_actions import changed_rows

#: The most slots or jobs that one change adds.
MOST_ADDED: Final = 1_000_000


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


@attrs.frozen
class Scenario:
    """What is changed: the pool and its priorities, and the bundle."""

    pool: PoolChanges = NO_CHANGES
    bundle: BundleEdits = NO_EDITS

    def __add__(self, other: Scenario) -> Scenario:
        """Both, the other one after this."""
        return Scenario(
            PoolChanges(
                slots=(*self.pool.slots, *other.pool.slots),
                jobs=(*self.pool.jobs, *other.pool.jobs),
                factors=(*self.pool.factors, *other.pool.factors),
            ),
            BundleEdits(
                files=(*self.bundle.files, *other.bundle.files),
                settings=(*self.bundle.settings, *other.bundle.settings),
            ),
        )

    @property
    def is_empty(self) -> bool:
        """True if nothing is changed."""
        return self == Scenario()


@attrs.frozen(kw_only=True)
class _RowsEntry:
    """One change of slots or jobs, as it is written."""

    add: int | None = None
    like: ScalarText | None = None
    remove: ScalarText | None = None
    where: ScalarText | None = None
    set: dict[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None


@attrs.frozen(kw_only=True)
class ScenarioContents:
    """The keys of a file of changes."""

    slots: list[_RowsEntry] = attrs.field(factory=list)
    jobs: list[_RowsEntry] = attrs.field(factory=list)
    factors: dict[str, float] = attrs.field(factory=dict)
    files: dict[str, str] = attrs.field(factory=dict)
    settings: dict[str, ScalarText] = attrs.field(factory=dict)


def read_scenario(path: Path) -> Scenario:
    """Read a file of changes; files that it names are beside it.

    :raises SettingsError: it cannot be read, or has errors.
    :raises CommandError: a file that it names cannot be read.
    """
    found = read_record(path, ScenarioContents)
    problems = [each for entry in (*found.slots, *found.jobs) for each in _problems(entry, path)]
    if problems:
        raise SettingsError(problems, str(path))
    replaced = {name: path.parent / each for name, each in found.files.items()}
    return Scenario(
        PoolChanges(
            slots=tuple(map(_edit, found.slots)),
            jobs=tuple(map(_edit, found.jobs)),
            factors=tuple(found.factors.items()),
        ),
        BundleEdits(
            files=bundle_files(replaced),
            settings=tuple((key, text.text) for key, text in found.settings.items()),
        ),
    )


def bundle_files(paths: Mapping[str, Path]) -> tuple[tuple[str, bytes], ...]:
    """Return the contents of files that replace those of a bundle, by their names in it.

    :raises CommandError: one cannot be read.
    """
    return tuple((name, _content(path)) for name, path in paths.items())


def _content(path: Path) -> bytes:
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            return opened.read()
    except OSError as error:
        raise CommandError(f"{path}: the file cannot be read: {error.strerror or error}") from None


def _problems(entry: _RowsEntry, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with an entry: it is exactly one of an addition, a removal and a change."""
    place = entry.source or Source(str(path))
    given = [each for each in ("add", "remove", "where") if getattr(entry, each) is not None]
    hint = "write add and like, remove, or where and set"
    if len(given) != 1:
        yield Problem(Severity.ERROR, place, "a change has one of the keys add, remove and where", hint)
        return
    if (entry.add is None) != (entry.like is None):
        yield Problem(Severity.ERROR, place, "add needs like: the slot or job that is copied", hint)
    if entry.add is not None and not 1 <= entry.add <= MOST_ADDED:
        yield Problem(Severity.ERROR, place, f"add: write a number from 1 to {MOST_ADDED}")
    if entry.where is not None and not entry.set:
        yield Problem(Severity.ERROR, place, "where needs set: the values that are changed", hint)
    if entry.remove is not None and entry.set:
        yield Problem(Severity.ERROR, place, "remove and set exclude each other", hint)


def _edit(entry: _RowsEntry) -> RowsEdit:
    values: Sequence[tuple[str, AdValue]] = [(name, ad_value(name, text)) for name, text in entry.set.items()]
    if entry.remove is not None:
        return RowsRemoved(ad_expression("remove", entry.remove))
    if entry.where is not None:
        return RowsChanged(ad_expression("where", entry.where), tuple(values))
    return RowsAdded(entry.add or 0, entry.like.text if entry.like else "", tuple(values))
