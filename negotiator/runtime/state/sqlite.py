"""The state in a file of SQLite with a write-ahead log, in the folder of the state."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

import attrs

from negotiator import posix
from negotiator.errors import StateError
from negotiator.hooks.state_location import StateLocation
from negotiator.runtime.state.connection import Connection, StateDatabase, Value
from negotiator.runtime.state.folder import FolderLock, check_files, check_own
from negotiator.runtime.state.schema import (
    TABLES,
    VERSION,
    ColumnType,
    Dialect,
    migrate,
    original_text,
    other_version,
    stored_text,
)

FILE: Final = "state.sqlite"
_FOLDER_MODE, _FILE_MODE = 0o750, 0o640
_WAIT: Final = 10.0  # seconds to wait for the transaction of another process
_DIALECT: Final = Dialect(
    {
        ColumnType.TEXT: "TEXT",
        ColumnType.INTEGER: "INTEGER",
        ColumnType.REAL: "REAL",
        ColumnType.NUMBER: "INTEGER PRIMARY KEY AUTOINCREMENT",
    },
    plain=" STRICT",
    keyed=" STRICT, WITHOUT ROWID",
    indexes_long=True,
)

_ENVIRONMENT = "it must belong to the user that runs the negotiator; is its file system full?"
_DAMAGED = "it is damaged, or another program wrote it: move it away, and the negotiator makes a new one"


@attrs.define(eq=False)
class _SqliteConnection:
    """Runs statements; the texts of a name that is not UTF-8 are stored in another form."""

    raw: sqlite3.Connection
    _damaged: list[bytes] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.raw.text_factory = self._text

    def execute(
        self, statement: str, values: Sequence[Value] = (), *, lenient: bool = False
    ) -> list[tuple[Any, ...]]:
        """See ``Connection.execute``."""
        self._damaged.clear()
        rows = self.raw.execute(statement, _bound(values)).fetchall()
        if self._damaged and not lenient:
            raise ValueError(f"not UTF-8: {self._damaged[0][:80]!r}")
        return rows

    def execute_many(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """See ``Connection.execute_many``."""
        self.raw.executemany(statement, map(_bound, rows))

    def _text(self, raw: bytes) -> str:
        try:
            return original_text(raw.decode("utf-8"))
        except UnicodeDecodeError:
            self._damaged.append(raw)
            return raw.decode("utf-8", "backslashreplace")


def _bound(values: Sequence[Value]) -> list[Value]:
    return [stored_text(value) if isinstance(value, str) else value for value in values]


@attrs.define(eq=False)
class SqliteDatabase(StateDatabase):
    """The database in the folder of a state; its lock is a file beside it."""

    container = "folder"
    _db: _SqliteConnection
    _lock: FolderLock

    @classmethod
    def exists(cls, location: StateLocation) -> bool:
        """See ``StateDatabase.exists``."""
        try:
            return stat.S_ISREG((location.folder / FILE).stat().st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unopened(location.folder, error) from None

    @classmethod
    def open(cls, location: StateLocation) -> Self:
        """See ``StateDatabase.open``."""
        folder = location.folder
        try:
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            file = folder / FILE
            check_files(folder)
            _make(file)
        except OSError as error:
            raise _unopened(folder, error) from None
        with describing_errors(folder, "open"), contextlib.ExitStack() as undo:
            db = _SqliteConnection(sqlite3.connect(file, timeout=_WAIT, isolation_level=None))
            database = cls(folder, str(folder), db, FolderLock(folder))
            undo.callback(database.close)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            database.prepare()
            undo.pop_all()
        return database

    @classmethod
    def read(cls, location: StateLocation) -> Self:
        """See ``StateDatabase.read``."""
        folder = location.folder
        if not cls.exists(location):
            raise StateError(f"{folder}: no state of a negotiator in this folder")
        file = folder / FILE
        try:
            check_files(folder)
        except OSError as error:
            raise _unopened(folder, error) from None
        # Without a write-ahead log no process has the database open, and a reader could not make the log: open as immutable.
        mode = "mode=ro" if file.with_name(f"{FILE}-wal").exists() else "immutable=1"
        with describing_errors(folder, "open"), contextlib.ExitStack() as undo:
            address = f"{file.absolute().as_uri()}?{mode}"
            raw = sqlite3.connect(address, timeout=_WAIT, isolation_level=None, uri=True)
            database = cls(folder, str(folder), _SqliteConnection(raw), FolderLock(folder))
            undo.callback(database.close)
            if database.version != VERSION:
                raise StateError(f"{folder}: {other_version(database.version)}")
            undo.pop_all()
        return database

    @property
    def dialect(self) -> Dialect:
        """See ``StateDatabase.dialect``."""
        return _DIALECT

    @classmethod
    def is_owned(cls, location: StateLocation) -> bool:
        """True if the state belongs to the user of this process; see ``StateDatabase.is_owned``."""
        with describing_errors(location.folder, "look at"):
            return (location.folder / FILE).stat().st_uid == posix.effective_user()

    def hold_lock(self) -> bool:
        """Take the lock of the negotiator; False if another process holds it.

        The state of another user is refused: that user could change it while it is used.

        :raises StateError: this process may not write the folder, or another user owns it.
        """
        return self.hold_folder()

    def hold_folder(self) -> bool:
        """See ``StateDatabase.hold_folder``: the lock of the negotiator is in the folder."""
        with describing_errors(self.folder, "lock"):
            check_own(self.folder)
            return self._lock.take()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """See ``StateDatabase.reading``."""
        with describing_errors(self.folder, "read"), self._transaction("DEFERRED"):
            yield self._db

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """See ``StateDatabase.writing``."""
        with describing_errors(self.folder, "write"), self._transaction("IMMEDIATE"):
            yield self._db

    def count_on(self, db: Connection, table: str, column: str) -> None:
        """See ``StateDatabase.count_on``: AUTOINCREMENT does."""

    def close(self) -> None:
        """Close the database, and release the lock."""
        self._db.raw.close()
        self._lock.release()

    def prepare(self) -> None:
        """Make the tables, or migrate those of an earlier version while no negotiator uses them."""
        if 0 < self.version < VERSION and not self.hold_lock():
            raise StateError(
                f"{self.folder}: the state has version {self.version}, and a negotiator of an earlier version uses it: "
                "stop it first"
            )
        with self._transaction("IMMEDIATE"):
            version = self.version
            if version == VERSION:
                return
            if version == 0:
                for statement in (each for table in TABLES for each in table.statements(_DIALECT)):
                    self._db.execute(statement)
            elif not migrate(self._db.raw, version):
                raise StateError(f"{self.folder}: {other_version(version)}")
            self._db.execute(f"PRAGMA user_version = {VERSION}")

    @property
    def version(self) -> int:
        """The version of the tables; 0 if there are none yet."""
        ((version,),) = self._db.execute("PRAGMA user_version")
        return int(version)

    @contextlib.contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._db.execute(f"BEGIN {kind}")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.raw.in_transaction:
                self._db.execute("ROLLBACK")
            raise


@contextlib.contextmanager
def describing_errors(folder: Path, doing: str) -> Iterator[None]:
    """Raise StateError, with the folder and the action, for errors of the database and of its content."""
    try:
        yield
    except (
        sqlite3.Error,
        OSError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        environment = isinstance(error, (sqlite3.OperationalError, OSError))
        hint = _ENVIRONMENT if environment else _DAMAGED
        raise StateError(f"{folder}: cannot {doing} the state: {error} ({hint})") from None


def _make(file: Path) -> None:
    """Make the file of the state, readable by its group, unless it exists.

    An existing one is not opened here: closing any descriptor of a file drops all POSIX locks of the process on it, also those of
    its other connections; SQLite then takes the state for unused and removes the log that they write.
    """
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | posix.O_CLOEXEC, _FILE_MODE))
    except FileExistsError:
        if not stat.S_ISREG(file.lstat().st_mode):  # such as a link to a file that does not exist
            raise StateError(f"{file}: the state is refused: not a regular file") from None


def _unopened(folder: Path, error: OSError) -> StateError:
    why = error.strerror or str(error)
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        why = "not a folder"
    return StateError(f"{folder}: cannot open the state: {why}")
