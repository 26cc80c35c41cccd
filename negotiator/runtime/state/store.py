"""The state of a negotiator on disk, as the runtime and the use cases read and write it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import attrs

from negotiator.cycle.journal import JournalEntry
from negotiator.errors import StateError
from negotiator.hooks.overruns import Overrun
from negotiator.hooks.state_location import StateLocation
from negotiator.queues import QueueTree
from negotiator.queues.applications import ApplicationHold, ApplicationId, RegisteredApplication
from negotiator.runtime.journal_clock import JournalTime
from negotiator.runtime.state import admin_request_rows, backup, cycle_rows
from negotiator.runtime.state.admin_request_rows import AdminAnswer, AdminRequest
from negotiator.runtime.state.backup import BackupSummary
from negotiator.runtime.state.connection import Leader, PeerTables, StateDatabase
from negotiator.runtime.state.cycle_rows import AuditMark, RowName, StateBundle, StoredState
from negotiator.runtime.state.postgresql import PostgresqlDatabase
from negotiator.runtime.state.sqlite import SqliteDatabase


@attrs.frozen
class SharedRowsChange:
    """A change of rows that all negotiators of a pool share: rows to add or replace, and names of rows to remove.

    ``known`` is the number of the change before it, which the negotiator knows.
    """

    known: int
    changed: Mapping[RowName, Mapping[str, Any]]
    gone: frozenset[RowName] = frozenset()


@attrs.define(eq=False)
class StateStore:
    """An open database of state.

    Each method is one transaction: it raises StateError if it cannot read or write, and nothing was written then.
    """

    database: StateDatabase

    @staticmethod
    def exists(place: Path | StateLocation) -> bool:
        """True if there is a state.

        :param place: a location, or the folder of a state that has no database but the file in it.
        :raises StateError: the place cannot be read.
        """
        location = _location(place)
        return _kind(location).exists(location)

    @classmethod
    def require(cls, place: Path | StateLocation) -> None:
        """Check that there is a state.

        :raises StateError: there is none.
        """
        if not cls.exists(place):
            raise StateError(f"{place}: no state of a negotiator in this {_kind(_location(place)).container}")

    @classmethod
    def open(cls, place: Path | StateLocation) -> Self:
        """Open a state; make it if it is missing, and migrate one of an earlier version that nobody uses.

        :raises StateError: it cannot be read or written, or this program does not read its version.
        """
        location = _location(place)
        return cls(_kind(location).open(location))

    @classmethod
    def read(cls, place: Path | StateLocation) -> Self:
        """Open a state for reading only. Read access to its files or tables is enough; none is made.

        :raises StateError: it is missing, cannot be read, or has another version than this program reads.
        """
        location = _location(place)
        return cls(_kind(location).read(location))

    @staticmethod
    def is_owned(place: Path | StateLocation) -> bool:
        """True if the user of this process runs the negotiator with the state.

        :raises StateError: the place cannot be read.
        """
        location = _location(place)
        return _kind(location).is_owned(location)

    @property
    def folder(self) -> Path:
        """The folder with the files of this process."""
        return self.database.folder

    @property
    def name(self) -> str:
        """The place of the state in messages."""
        return self.database.name

    @property
    def is_own(self) -> bool:
        """True if the user of this process may lead with this state."""
        return self.database.is_owned(StateLocation(self.database.folder))

    @property
    def leader(self) -> Leader | None:
        """The process that leads with a shared state; None if none does."""
        return self.database.leader

    @property
    def peers(self) -> PeerTables | None:
        """The tables of the other negotiators of the pool; None if this is the only one."""
        return self.database.peers

    def hold_lock(self) -> bool:
        """Take the lock of the negotiator until ``close``; False if another process holds it.

        :raises StateError: this user may not lead with this state.
        """
        return self.database.hold_lock()

    def hold_folder(self) -> bool:
        """Take the lock of the folder until ``close``; False if another process holds it.

        :raises StateError: this user may not write the folder.
        """
        return self.database.hold_folder()

    @property
    def version(self) -> int:
        """The version of the tables."""
        return self.database.version

    def count_rows(self) -> dict[str, int]:
        """Return the number of rows by table."""
        with self.database.reading() as db:
            return backup.count_rows(db)

    def back_up(self, file: Path, now: float) -> BackupSummary:
        """Write a backup; see ``backup.write_backup``."""
        return backup.write_backup(self.database, file, now)

    def restore(self, file: Path, *, replace: bool = False) -> BackupSummary:
        """Restore a backup; see ``backup.restore_backup``."""
        return backup.restore_backup(self.database, file, replace=replace)

    def close(self) -> None:
        """Close the database, and release the lock."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def changes(self) -> tuple[object, ...]:
        """Return a value that changes with each cycle and with each request and its answer."""
        tables = ("last_scan", "journal_time", "row_counts")
        with self.database.reading() as db:
            rows = [tuple(db.execute(f"SELECT * FROM {table}")) for table in tables]  # noqa: S608 - constants
            return *rows, *db.execute("SELECT count(*), max(number), sum(done) FROM admin_requests")

    def load(self, now: float) -> StoredState:
        """Read the state.

        An application without a time was in the last snapshot: it was seen then, or at ``now`` if there was no snapshot.

        :raises StateError: rows are missing.
        """
        with self.database.reading() as db:
            cycle_rows.check_counts(db)
            return cycle_rows.read_rows(db, now)

    def save(
        self,
        changed: Iterable[RegisteredApplication],
        gone: Iterable[ApplicationId],
        held: Iterable[tuple[ApplicationId, ApplicationHold]],
        *,
        queues: QueueTree | None = None,
        answered: tuple[int, AdminAnswer] | None = None,
        matches: Iterable[JournalEntry] = (),
        last: float = 0.0,
        mark: tuple[str, str] | None = None,
        cycle: int | None = None,
        now: JournalTime | None = None,
        order_rows: Mapping[RowName, Mapping[str, Any]] = MappingProxyType({}),
        order_gone: Iterable[RowName] = (),
        shared: SharedRowsChange | None = None,
        overruns: Iterable[Overrun] | None = None,
    ) -> None:
        """Write the changes in one transaction.

        :param changed: applications to add or replace.
        :param gone: applications to remove.
        :param held: all holds.
        :param queues: all queues; None leaves them as they are.
        :param answered: the number of a request and its answer.
        :param matches: journal entries to add; they need ``now``.
        :param last: the time of the last snapshot, in seconds since the epoch.
        :param order_rows: rows of allocators to add or replace; ``order_gone`` names rows to remove.
        :param overruns: those of a cycle; None leaves them as they are.
        :param shared: a change of rows that all negotiators of the pool share.
        :param now: the proven time; None leaves it as it is.
        :param mark: the head of the audit log after the intent of a cycle, and the id of the last match.
        :param cycle: the number of the cycle that the changes are of; None if they are of none.
        :raises StateError: nothing was written.
        """
        with self.database.writing() as db:
            if queues is not None:
                cycle_rows.write_queues(db, queues)
            cycle_rows.write_applications(db, changed, gone, last)
            cycle_rows.write_holds(db, held)
            cycle_rows.write_order_rows(db, order_rows, order_gone)
            if overruns is not None:
                cycle_rows.write_overruns(db, overruns)
            if shared is not None and self.peers is not None:
                self.peers.write_shared(db, shared.known, shared.changed, shared.gone)
            if now is not None:
                cycle_rows.write_time(db, now)
                cycle_rows.add_matches(db, matches, now.time)
            if answered:
                admin_request_rows.write_answer(db, *answered)
            if mark:
                cycle_rows.move_mark(db, *mark, self.database.manager)
            if cycle is not None:
                cycle_rows.write_cycles(db, cycle)
            cycle_rows.write_counts(db)

    def note_claims(self, claims: Mapping[str, str]) -> None:
        """Write the public parts of the claim ids that matches were handed out with, by the keys of their entries.

        :raises StateError: nothing was written.
        """
        with self.database.writing() as db:
            cycle_rows.write_claims(db, claims)

    def drop_matches(self, keys: Collection[str]) -> None:
        """Remove journal entries by their keys."""
        with self.database.writing() as db:
            cycle_rows.remove_matches(db, keys)
            cycle_rows.write_counts(db)

    def difference(self) -> str:
        """Return which tables another program changed the number of rows of, as a text; empty if it is none."""
        with self.database.reading() as db:
            return cycle_rows.missing_rows(db)

    def cycles(self) -> int:
        """Return the number of the last cycle of this state; 0 before the first."""
        with self.database.reading() as db:
            return cycle_rows.read_cycles(db)

    def mark(self) -> AuditMark | None:
        """Return the record of the audit log that the state agrees with; None before the first run with a log."""
        with self.database.reading() as db:
            return cycle_rows.read_mark(db, self.database.manager)

    def move_mark(self, head: str, last_match: str) -> None:
        """Write that the state agrees with a later record of the audit log."""
        with self.database.writing() as db:
            cycle_rows.move_mark(db, head, last_match, self.database.manager)

    def accept(self, mark: AuditMark | None) -> None:
        """Write that the state, as it is, is complete, and agrees with a record of the audit log."""
        with self.database.writing() as db:
            if mark:
                cycle_rows.write_mark(db, mark, self.database.manager)
            cycle_rows.write_counts(db)

    def bundle(self) -> StateBundle | None:
        """Return the bundle that the state belongs to; None before the first run."""
        with self.database.reading() as db:
            return cycle_rows.read_bundle(db)

    def use_bundle(self, bundle: StateBundle) -> None:
        """Write which bundle the state belongs to."""
        with self.database.writing() as db:
            cycle_rows.write_bundle(db, bundle)

    def update_matches(self, changed: Iterable[JournalEntry], gone: Collection[str]) -> None:
        """Replace journal entries, and remove others by their keys."""
        with self.database.writing() as db:
            cycle_rows.replace_matches(db, changed)
            cycle_rows.remove_matches(db, gone)
            cycle_rows.write_counts(db)

    def order_rows(self, order: str) -> tuple[Mapping[str, Mapping[str, Any]], tuple[str, ...]]:
        """Return the rows of an order by key, also those that it shares with other negotiators of the pool.

        The second value has a sentence on each that cannot be read.
        """
        with self.database.reading() as db:
            rows, damaged = cycle_rows.read_order_rows(db)
            if self.peers is not None:
                shared, more = self.peers.shared_rows(db)
                rows, damaged = {**rows, **shared}, (*damaged, *more)
        return {key: row for (name, key), row in rows.items() if name == order}, damaged

    def request(self, request: AdminRequest) -> int:
        """Add a request of an administrator, and return the number that it gets."""
        with self.database.writing() as db:
            return admin_request_rows.add_request(db, request)

    def waiting(self) -> tuple[AdminRequest, ...]:
        """Return the requests without an answer, in the order of their numbers."""
        with self.database.reading() as db:
            return tuple(admin_request_rows.waiting_requests(db))

    def answer(self, number: int, answer: AdminAnswer) -> None:
        """Write the answer to a request."""
        with self.database.writing() as db:
            admin_request_rows.write_answer(db, number, answer)

    def answered(self, number: int) -> AdminAnswer | None:
        """Return the answer to a request; None before it is answered."""
        with self.database.reading() as db:
            return admin_request_rows.read_answer(db, number)


def _location(place: Path | StateLocation) -> StateLocation:
    return place if isinstance(place, StateLocation) else StateLocation(place)


def _kind(location: StateLocation) -> type[StateDatabase]:
    return SqliteDatabase if location.database is None else PostgresqlDatabase
