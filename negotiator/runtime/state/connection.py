"""What a kind of database has to offer: statements, transactions, and a lock for the negotiator that leads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs

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


@attrs.define(eq=False)
class StateDatabase(ABC):
    """An open database of state.

    ``folder`` has the files of this process, ``name`` is the place of the database in messages. Errors of the database and of its
    content are StateErrors with the place and the action.
    """

    folder: Path
    name: str

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """How it spells tables."""

    @property
    @abstractmethod
    def version(self) -> int:
        """The version of the tables; 0 if there are none yet."""

    @property
    @abstractmethod
    def is_own(self) -> bool:
        """True if the user of this process may lead with this state."""

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
    def count_on(self, db: Connection, table: str, column: str) -> None:
        """Let the numbers of new rows begin after those that the table has."""

    @abstractmethod
    def close(self) -> None:
        """Close the database, and release the lock."""
