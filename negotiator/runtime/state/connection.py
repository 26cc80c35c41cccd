"""What a kind of database has to offer: statements, transactions, and a lock for the negotiator that leads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import attrs

from negotiator.hooks.state_location import StateLocation
from negotiator.runtime.state.folder import read_manager_id
from negotiator.runtime.state.schema import Dialect

#: A value of a column.
Value: TypeAlias = str | int | float | None


class Connection(Protocol):
    """Runs statements of SQL that SQLite and PostgreSQL both understand, with ``?`` for values."""

    def execute(
        self, statement: str, values: Sequence[Value] = (), *, lenient: bool = False
    ) -> list[tuple[Any, ...]]:
        """Run a statement, and return its rows.

        :param lenient: return texts that another program damaged, with ``\\x..`` for each byte that is not UTF-8, instead of
            raising ValueError: the caller notices it.
        """

    def execute_many(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement for each of many rows."""


@attrs.frozen
class Leader:
    """The process that leads with a shared state; ``since`` is in seconds since the epoch."""

    host: str
    process: int
    since: float


@attrs.frozen
class PeerRow:
    """A row of the journal of another negotiator: its name, the number of the row, the entry as JSON, and the public part of its claim id."""

    peer: str
    number: int
    entry: str
    claim: str | None


@attrs.frozen
class PeerView:
    """What a negotiator reads of the others of its pool at one moment.

    ``rows`` are those of their journals after the numbers that were known, ``numbers`` those of all rows of each, by its name; empty if they
    were not wanted. ``own`` is the
    name of this one, and ``constraints`` has the slot constraint of each by its name. ``shared`` are the rows of orders that all share,
    by order and key, None if they are those of the change that was known; ``change`` is the number of their last change, and ``damaged`` are
    sentences on rows that cannot be read.
    """

    own: str
    constraints: Mapping[str, str]
    rows: Sequence[PeerRow]
    numbers: Mapping[str, frozenset[int]]
    change: int
    shared: Mapping[tuple[str, str], Mapping[str, Any]] | None = None
    damaged: tuple[str, ...] = ()


class PeerTables(Protocol):
    """What one of several negotiators of a pool reads of the others, and the turn in which one of them writes what concerns all."""

    def register(self, slot_constraint: str) -> None:
        """Write down the constraint of the slots of this negotiator.

        :raises StateError: another one has the same.
        """

    def read(self, after: Mapping[str, int], change: int, *, removed: bool) -> PeerView:
        """Return what the others recorded, and the shared rows.

        :param after: the number by name after which rows of journals are returned; 0 for others.
        :param change: the change of the shared rows that is known.
        :param removed: return also the numbers of all rows.
        """

    def shared_rows(
        self, db: Connection
    ) -> tuple[Mapping[tuple[str, str], Mapping[str, Any]], tuple[str, ...]]:
        """Return the shared rows of orders by order and key, and a sentence on each that cannot be read."""

    def write_shared(
        self,
        db: Connection,
        change: int,
        changed: Mapping[tuple[str, str], Mapping[str, Any]],
        gone: Iterable[tuple[str, str]],
    ) -> int:
        """Add or replace shared rows, and remove others, in a transaction of the caller; return the number of the change.

        :param change: the change that the caller knows.
        :raises StateError: the rows were changed since.
        """

    def turn(self) -> AbstractContextManager[None]:
        """Wait for the turn of this negotiator: no other one of the pool records matches or changes shared rows in the meantime.

        The turn ends with the session, however this process ends.
        """


@attrs.define(eq=False)
class StateDatabase(ABC):
    """An open database of state.

    ``folder`` has the files of this process, ``name`` is the place of the database in messages. ``manager`` is the id of the
    central manager with that folder; empty if it never shared a state. Errors of the database and of its content are
    StateErrors with the place and the action.
    """

    folder: Path
    name: str
    manager: str = attrs.field(init=False)

    @manager.default
    def _read_manager(self) -> str:
        return read_manager_id(self.folder)

    #: What has the database, for messages.
    container: ClassVar[str]

    @classmethod
    @abstractmethod
    def exists(cls, location: StateLocation) -> bool:
        """True if there is a state at a location.

        :raises StateError: the location cannot be read.
        """

    @classmethod
    @abstractmethod
    def open(cls, location: StateLocation) -> Self:
        """Open a state; make it if it is missing, and migrate one of an earlier version that nobody uses.

        :raises StateError: it cannot be read or written, or this program does not read its version.
        """

    @classmethod
    @abstractmethod
    def read(cls, location: StateLocation) -> Self:
        """Open a state for reading only. Read access is enough; nothing is made.

        :raises StateError: it is missing, cannot be read, or has another version than this program reads.
        """

    @classmethod
    @abstractmethod
    def is_owned(cls, location: StateLocation) -> bool:
        """True if the user of this process runs the negotiator with the state at a location.

        :raises StateError: the location cannot be read.
        """

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """How it spells tables."""

    @property
    @abstractmethod
    def version(self) -> int:
        """The version of the tables; 0 if there are none yet."""

    @property
    def leader(self) -> Leader | None:
        """The process that leads; None if none does, or nobody can see it."""
        return None

    @property
    def peers(self) -> PeerTables | None:
        """The tables of the other negotiators of the pool; None if this is the only one."""
        return None

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Read in one transaction: what others write meanwhile is not seen."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """Write in one transaction: all of it, or nothing."""

    @abstractmethod
    def hold_lock(self) -> bool:
        """Take the lock of the negotiator until ``close``; False if another process holds it."""

    @abstractmethod
    def hold_folder(self) -> bool:
        """Take the lock of the folder until ``close``, so that one process writes its files; False if another holds it."""

    @abstractmethod
    def count_on(self, db: Connection, table: str, column: str) -> None:
        """Let the numbers of new rows begin after those that the table has."""

    @abstractmethod
    def close(self) -> None:
        """Close the database, and release the lock."""
