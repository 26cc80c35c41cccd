"""The state that outlives the process: queues, applications, holds, journal and requests of administrators.

It is an SQLite database with a write-ahead log, in a folder of its own: committed transactions survive a crash. One negotiator
at a time holds the lock of the folder; commands may add requests meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import stat
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Self

import attrs

from negotiator.cycle.holds import ApplicationHold
from negotiator.cycle.journal import JournalEntry
from negotiator.errors import StateError
from negotiator.queues import Acl, Queue, QueueConfig, QueueState, QueueTree
from negotiator.queues.applications import ApplicationId, RegisteredApplication

_FILE = "state.sqlite"
_LOCK = "state.lock"
_VERSION = 2
_FOLDER_MODE, _FILE_MODE = 0o750, 0o640
_WAIT = 10.0  # seconds to wait for the transaction of another process
_ANSWERS = 1_000  # stored answers; older ones are deleted

_ENVIRONMENT = "it must belong to the user that runs the negotiator; is its file system full?"
_DAMAGED = "it is damaged, or another program wrote it: move it away, and the negotiator makes a new one"

_TABLES = """
CREATE TABLE last_scan (time REAL) STRICT;
CREATE TABLE queues (
    path TEXT PRIMARY KEY, leaf INTEGER, managed INTEGER, state TEXT, since REAL, submitacl TEXT, adminacl TEXT
) STRICT;
CREATE TABLE applications (
    schedd TEXT, user TEXT, cluster INTEGER, queue TEXT, group_name TEXT, last_seen REAL,
    PRIMARY KEY (schedd, user, cluster)
) STRICT, WITHOUT ROWID;
CREATE TABLE holds (
    schedd TEXT, user TEXT, cluster INTEGER, held_by TEXT, held_at REAL, note TEXT, PRIMARY KEY (schedd, user, cluster)
) STRICT, WITHOUT ROWID;
CREATE TABLE matches (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, entry TEXT) STRICT;
CREATE INDEX matches_by_key ON matches (key);
CREATE TABLE admin_requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time REAL, user TEXT, groups TEXT, action TEXT, application TEXT, queue TEXT,
    note TEXT, done INTEGER DEFAULT 0, ok INTEGER, answer TEXT
) STRICT;
CREATE INDEX admin_requests_by_done ON admin_requests (done, number);
"""


class AdminAction(StrEnum):
    """What an administrator can request."""

    MOVE = "move"
    HOLD = "hold"
    RELEASE = "release"
    RELOAD = "reload"
    CHANGE = "change"  # a file of the bundle was replaced


@attrs.frozen
class AdminRequest:
    """A request of an administrator; ``at`` is in seconds since the epoch."""

    number: int
    at: float
    by: str
    groups: tuple[str, ...]
    action: AdminAction
    application: str = ""  # schedd#cluster, or the cluster alone
    queue: str = ""
    note: str = ""


@attrs.frozen
class AdminAnswer:
    """The answer to a request."""

    ok: bool
    text: str


@attrs.frozen
class StoredState:
    """The state that an earlier process saved. ``last`` is the time of its last snapshot, in seconds since the epoch."""

    queues: tuple[Queue, ...]
    applications: tuple[RegisteredApplication, ...]
    held: dict[ApplicationId, ApplicationHold]
    journal: tuple[JournalEntry, ...] = ()
    last: float = 0.0


@attrs.define(eq=False)
class StateStore:
    """An open database of state."""

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
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _FILE_MODE))
        except OSError as error:
            raise _unopened(folder, error) from None
        with _naming(folder, "open"), contextlib.ExitStack() as undo:
            store = cls(folder, sqlite3.connect(file, timeout=_WAIT, isolation_level=None))
            undo.callback(store.close)
            store._db.text_factory = _text
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
        # Without a write-ahead log no process has the database open, and a reader could not make the log: open as immutable.
        mode = "mode=ro" if file.with_name(f"{_FILE}-wal").exists() else "immutable=1"
        with _naming(folder, "open"), contextlib.ExitStack() as undo:
            address = f"{file.absolute().as_uri()}?{mode}"
            store = cls(folder, sqlite3.connect(address, timeout=_WAIT, isolation_level=None, uri=True))
            undo.callback(store.close)
            store._db.text_factory = _text
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
        with _naming(folder, "look at"):
            return (folder / _FILE).stat().st_uid == os.geteuid()

    def hold_lock(self) -> bool:
        """Take the lock of the negotiator; False if another process holds it.

        :raises StateError: this process may not write the folder.
        """
        if self._lock >= 0:
            return True
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with _naming(self.folder, "lock"), contextlib.ExitStack() as undo:
            lock = os.open(self.folder / _LOCK, flags, _FILE_MODE)
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

    def load(self, now: float) -> StoredState:
        """Read the state. Of the configuration of queues it has only the access control lists.

        An application without a time was in the last snapshot: it was seen then, or at ``now`` if there was no snapshot.
        """
        with _naming(self.folder, "read"):
            queues = tuple(map(_queue, self._db.execute("SELECT * FROM queues ORDER BY path")))
            (last,) = self._db.execute("SELECT time FROM last_scan").fetchone() or (now,)
            applications = tuple(
                RegisteredApplication(
                    ApplicationId(schedd, user, cluster), queue, last if seen is None else seen, group
                )
                for schedd, user, cluster, queue, group, seen in self._db.execute(
                    "SELECT * FROM applications"
                )
            )
            held = {
                ApplicationId(schedd, user, cluster): ApplicationHold(by, at, note)
                for schedd, user, cluster, by, at, note in self._db.execute("SELECT * FROM holds")
            }
            rows = self._db.execute("SELECT entry FROM matches ORDER BY number")
            journal = tuple(_entry(text) for (text,) in rows)
        return StoredState(queues, applications, held, journal, last)

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
    ) -> None:
        """Write the changes in one transaction.

        :param changed: applications to add or replace.
        :param gone: applications to remove.
        :param held: all holds.
        :param queues: all queues; None leaves them as they are.
        :param answered: the number of a request and its answer.
        :param matches: journal entries to add.
        :param last: the time of the last snapshot, in seconds since the epoch.
        :raises StateError: nothing was written.
        """
        with _naming(self.folder, "write"), self._transaction():
            if queues is not None:
                self._save_queues(queues)
            self._db.executemany(
                "INSERT OR REPLACE INTO applications"
                " VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?, CAST(? AS TEXT), CAST(? AS TEXT), ?)",
                (
                    (
                        *_row(each.id),
                        _bytes(each.queue),
                        _bytes(each.group),
                        each.seen if each.seen < last else None,
                    )
                    for each in changed
                ),
            )
            self._db.execute("DELETE FROM last_scan")
            self._db.execute("INSERT INTO last_scan VALUES (?)", (last,))
            self._db.executemany(
                "DELETE FROM applications WHERE schedd = CAST(? AS TEXT) AND user = CAST(? AS TEXT) AND cluster = ?",
                map(_row, gone),
            )
            self._db.execute("DELETE FROM holds")
            self._db.executemany(
                "INSERT INTO holds VALUES (CAST(? AS TEXT), CAST(? AS TEXT), ?, CAST(? AS TEXT), ?, CAST(? AS TEXT))",
                (
                    (*_row(application), _bytes(hold.by), hold.at, _bytes(hold.note))
                    for application, hold in held
                ),
            )
            self._db.executemany(
                "INSERT INTO matches (key, entry) VALUES (?, ?)",
                ((entry.key, json.dumps(attrs.asdict(entry))) for entry in matches),
            )
            if answered:
                self._answer(*answered)

    def drop_matches(self, keys: Collection[str]) -> None:
        """Remove journal entries by their keys."""
        with _naming(self.folder, "write"), self._transaction():
            self._db.executemany("DELETE FROM matches WHERE key = ?", ((key,) for key in keys))

    def request(self, request: AdminRequest) -> int:
        """Add a request of an administrator, and return the number that it gets."""
        who = request.at, _bytes(request.by), _bytes(",".join(request.groups))
        what = str(request.action), _bytes(request.application), _bytes(request.queue), _bytes(request.note)
        with _naming(self.folder, "write"), self._transaction():
            cursor = self._db.execute(
                "INSERT INTO admin_requests (time, user, groups, action, application, queue, note) VALUES"
                " (?, CAST(? AS TEXT), CAST(? AS TEXT), ?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))",
                (*who, *what),
            )
        return int(cursor.lastrowid or 0)

    def waiting(self) -> tuple[AdminRequest, ...]:
        """Return the requests without an answer, in the order of their numbers."""
        query = "SELECT number, time, user, groups, action, application, queue, note FROM admin_requests WHERE done = 0 ORDER BY number"
        with _naming(self.folder, "read"):
            return tuple(
                AdminRequest(
                    number,
                    at,
                    by,
                    tuple(filter(None, groups.split(","))),
                    AdminAction(action),
                    application,
                    queue,
                    note,
                )
                for number, at, by, groups, action, application, queue, note in self._db.execute(query)
            )

    def answer(self, number: int, answer: AdminAnswer) -> None:
        """Write the answer to a request."""
        with _naming(self.folder, "write"), self._transaction():
            self._answer(number, answer)

    def answered(self, number: int) -> AdminAnswer | None:
        """Return the answer to a request; None before it is answered."""
        with _naming(self.folder, "read"):
            row = self._db.execute(
                "SELECT ok, answer FROM admin_requests WHERE number = ? AND done = 1", (number,)
            ).fetchone()
        return AdminAnswer(bool(row[0]), row[1]) if row else None

    def _answer(self, number: int, answer: AdminAnswer) -> None:
        self._db.execute(
            "UPDATE admin_requests SET done = 1, ok = ?, answer = CAST(? AS TEXT) WHERE number = ?",
            (answer.ok, _bytes(answer.text), number),
        )
        self._db.execute("DELETE FROM admin_requests WHERE done = 1 AND number <= ?", (number - _ANSWERS,))

    def _save_queues(self, queues: QueueTree) -> None:
        self._db.execute("DELETE FROM queues")
        rows = (
            (
                _bytes(each.path),
                each.leaf,
                each.managed,
                str(each.state),
                each.since,
                *map(_bytes, map(str, (each.config.submit, each.config.admin))),
            )
            for each in queues
        )
        self._db.executemany(
            "INSERT INTO queues VALUES (CAST(? AS TEXT), ?, ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT))", rows
        )

    def _prepare(self) -> None:
        with self._transaction():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {_VERSION}")
            else:
                self._check_version(version)

    def _check_version(self, version: int) -> None:
        if version != _VERSION:
            raise StateError(
                f"{self.folder}: the state has version {version}, this program reads version {_VERSION}"
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
def _naming(folder: Path, doing: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, ValueError, TypeError, KeyError) as error:
        environment = isinstance(error, (sqlite3.OperationalError, OSError))
        hint = _ENVIRONMENT if environment else _DAMAGED
        raise StateError(f"{folder}: cannot {doing} the state: {error} ({hint})") from None


def _unopened(folder: Path, error: OSError) -> StateError:
    why = error.strerror or str(error)
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        why = "not a folder"
    return StateError(f"{folder}: cannot open the state: {why}")


def _queue(row: tuple[str, int, int, str, float, str, str]) -> Queue:
    """Return the queue of a row; raise ValueError if it is invalid."""
    path, leaf, managed, state, since, submit, admin = row
    config = QueueConfig(path, bool(leaf), Acl.parse(submit), Acl.parse(admin))
    return Queue(config, bool(managed), since, QueueState(state))


def _entry(text: str) -> JournalEntry:
    """Return the journal entry of a row; raise ValueError, TypeError or KeyError if it is invalid."""
    fields = json.loads(text)
    fields["resources"] = tuple((name, amount) for name, amount in fields["resources"])
    return JournalEntry(**fields)


def _row(application: ApplicationId) -> tuple[bytes, bytes, int]:
    return _bytes(application.schedd), _bytes(application.user), application.cluster


def _bytes(text: str) -> bytes:
    """Return a text as bytes, which the SQL statements cast: names come from ads, and need not be UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")
