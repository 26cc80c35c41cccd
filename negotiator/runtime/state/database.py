"""The database of the state: its files, its version, the lock, and transactions."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import attrs

from negotiator.errors import StateError
from negotiator.files import open_lock
from negotiator.runtime.state.schema import TABLES, VERSION, decode
from negotiator.runtime.state.trust import check_files, check_own

_FILE = "state.sqlite"
_LOCK = "state.lock"
_FOLDER_MODE, _FILE_MODE = 0o750, 0o640
_WAIT = 10.0  # seconds to wait for the transaction of another process

_ENVIRONMENT = "it must belong to the user that runs the negotiator; is its file system full?"
_DAMAGED = "it is damaged, or another program wrote it: move it away, and the negotiator makes a new one"


@attrs.define(eq=False)
class StateDatabase:
    """An open database of state: its files, the lock of the negotiator, and transactions."""

    folder: Path
    _db: sqlite3.Connection
    _lock: int = -1

    @staticmethod
    def exists(folder: Path) -> bool:
        """True if the folder holds state.

        :raises StateError: the folder cannot be read.
        """
        try:
            return stat.S_ISREG((folder / _FILE).stat().st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unopened(folder, error) from None

    @classmethod
    def require(cls, folder: Path) -> None:
        """Check that the folder holds state.

        :raises StateError: it does not.
        """
        if not cls.exists(folder):
            raise StateError(f"{folder}: no state of a negotiator in this folder")

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the state in a folder; make it if it is missing.

        :raises StateError: it cannot be read or written, or another version of the program wrote it.
        """
        try:
            folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            file = folder / _FILE
            check_files(folder)
            _make(file)
        except OSError as error:
            raise _unopened(folder, error) from None
        with describing_errors(folder, "open"), contextlib.ExitStack() as undo:
            store = cls(folder, sqlite3.connect(file, timeout=_WAIT, isolation_level=None))
            undo.callback(store.close)
            store._db.text_factory = decode
            store._db.execute("PRAGMA journal_mode = WAL")
            store._db.execute("PRAGMA synchronous = FULL")
            store._prepare()
            undo.pop_all()
        return store

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Open the state in a folder for reading only. Read access to its files is enough; no file is made.

        :raises StateError: it is missing, cannot be read, or another version of the program wrote it.
        """
        cls.require(folder)
        file = folder / _FILE
        try:
            check_files(folder)
        except OSError as error:
            raise _unopened(folder, error) from None
        # Without a write-ahead log no process has the database open, and a reader could not make the log: open as immutable.
        mode = "mode=ro" if file.with_name(f"{_FILE}-wal").exists() else "immutable=1"
        with describing_errors(folder, "open"), contextlib.ExitStack() as undo:
            address = f"{file.absolute().as_uri()}?{mode}"
            store = cls(folder, sqlite3.connect(address, timeout=_WAIT, isolation_level=None, uri=True))
            undo.callback(store.close)
            store._db.text_factory = decode
            store._check_version(*store._db.execute("PRAGMA user_version").fetchone())
            undo.pop_all()
        return store

    @property
    def is_own(self) -> bool:
        """True if the state belongs to the user of this process."""
        return self.is_owned(self.folder)

    @staticmethod
    def is_owned(folder: Path) -> bool:
        """True if the state in a folder belongs to the user of this process.

        :raises StateError: the folder cannot be read.
        """
        with describing_errors(folder, "look at"):
            return (folder / _FILE).stat().st_uid == os.geteuid()

    def hold_lock(self) -> bool:
        """Take the lock of the negotiator; False if another process holds it.

        The state of another user is refused: that user could change it while it is used.

        :raises StateError: this process may not write the folder, or another user owns it.
        """
        if self._lock >= 0:
            return True
        with describing_errors(self.folder, "lock"), contextlib.ExitStack() as undo:
            check_own(self.folder)
            lock = open_lock(self.folder / _LOCK)
            undo.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            undo.pop_all()
        self._lock = lock
        return True

    def close(self) -> None:
        """Close the database, and release the lock."""
        self._db.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with describing_errors(self.folder, "read"):
            yield self._db

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write in one transaction: all of it, or nothing."""
        with describing_errors(self.folder, "write"), self._transaction():
            yield self._db

    def _prepare(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in filter(str.strip, TABLES.split(";")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {VERSION}")
            else:
                self._check_version(version)

    def _check_version(self, version: int) -> None:
        if version != VERSION:
            raise StateError(
                f"{self.folder}: the state has version {version}, this program reads version {VERSION}"
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
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
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE))
    except FileExistsError:
        if not stat.S_ISREG(file.lstat().st_mode):  # such as a link to a file that does not exist
            raise StateError(f"{file}: the state is refused: not a regular file") from None


def _unopened(folder: Path, error: OSError) -> StateError:
    why = error.strerror or str(error)
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        why = "not a folder"
    return StateError(f"{folder}: cannot open the state: {why}")
