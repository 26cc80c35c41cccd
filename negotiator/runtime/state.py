"""What has to outlive the process: queues, the applications in them, holds, and what administrators asked for.

An SQLite database in a folder of its own, with a write-ahead log: what was committed is there after a crash. One
negotiator at a time holds the folder's lock; commands may write requests beside it.
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
_WAIT = 10.0  # seconds for another process to finish its transaction
_ANSWERS = 1_000  # that are kept: who asked for an older one has gone

_ENVIRONMENT = "it must belong to the user that runs the negotiator; is its file system full?"
_DAMAGED = "it is damaged, or another program wrote it: move it away, and the negotiator begins a new one"

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
    """What an administrator may ask of a negotiator."""

    MOVE = "move"
    HOLD = "hold"
    RELEASE = "release"
    RELOAD = "reload"
    CHANGE = "change"  # a file of the bundle was replaced


@attrs.frozen
class AdminRequest:
    """A request of an administrator: who asked, when (seconds since the epoch), and for what."""

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
    """What became of a request."""

    ok: bool
    text: str


@attrs.frozen
class StoredState:
    """What an earlier process left. ``last`` is when it last looked who is there, in seconds since the epoch."""

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
        """Whether there is state in a folder; ``open`` would make it.

        :raises StateError: it can't be looked for.
        """
        try:
            return stat.S_ISREG((folder / _FILE).stat().st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unopened(folder, error) from None

    @classmethod
    def require(cls, folder: Path) -> None:
        """Look that there is state in a folder.

        :raises StateError: there is none.
        """
        if not cls.exists(folder):
            raise StateError(f"{folder}: no negotiator keeps its state here")

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the state in a folder, made where there is none.

        :raises StateError: it can't be read or written, or another version of the program wrote it.
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
        """Open the state in a folder to look at it alone: who may read its files may do that, and nothing is made.

        :raises StateError: there is none, it can't be read, or another version of the program wrote it.
        """
        cls.require(folder)
        file = folder / _FILE
        # Where nobody has it open there is no log beside it, and a reader could not make one: nothing changes then.
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
        """Whether it belongs to who runs this process, who may then be its negotiator."""
        return self.is_owned(self.folder)

    @staticmethod
    def is_owned(folder: Path) -> bool:
        """Whether the state in a folder belongs to who runs this process.

        :raises StateError: it can't be looked at.
        """
        with _naming(folder, "look at"):
            return (folder / _FILE).stat().st_uid == os.geteuid()

    def hold_lock(self) -> bool:
        """Become the negotiator of this state; False where another process is.

        :raises StateError: this process may not.
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
        """Close it, and let another process be the negotiator."""
        self._db.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, now: float) -> StoredState:
        """Read what is there. Of the configuration of queues only their lists are kept.

        Applications count as seen when somebody last looked, but for those that were not there then; ``now`` where
        nobody did.
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
        """Write the holds, new matches, and the applications that are not what was written last; all or nothing.

        ``last`` is when somebody last looked who is there, in seconds since the epoch. With ``queues`` they are written too; with ``answered``, the number of a request and what became of it.
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
        """Forget matches, by the keys of their entries: the pool shows them, or time is over."""
        with _naming(self.folder, "write"), self._transaction():
            self._db.executemany("DELETE FROM matches WHERE key = ?", ((key,) for key in keys))

    def request(self, request: AdminRequest) -> int:
        """Note what an administrator asks for, and give it a number; that of ``act`` does not count."""
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
        """The requests that nobody answered yet, in their order."""
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
        """Note what became of a request."""
        with _naming(self.folder, "write"), self._transaction():
            self._answer(number, answer)

    def answered(self, number: int) -> AdminAnswer | None:
        """What became of a request, if anything did."""
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
                f"{self.folder}: the state is of version {version}, this program's is {_VERSION}"
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
        raise StateError(f"{folder}: can't {doing} the state: {error} ({hint})") from None


def _unopened(folder: Path, error: OSError) -> StateError:
    why = error.strerror or str(error)
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        why = "this is not a folder"
    return StateError(f"{folder}: the state can't be opened: {why}")


def _queue(row: tuple[str, int, int, str, float, str, str]) -> Queue:
    """A queue; what is none raises ValueError."""
    path, leaf, managed, state, since, submit, admin = row
    config = QueueConfig(path, bool(leaf), Acl.parse(submit), Acl.parse(admin))
    return Queue(config, bool(managed), since, QueueState(state))


def _entry(text: str) -> JournalEntry:
    """A journal entry; what is none raises ValueError, TypeError or KeyError."""
    fields = json.loads(text)
    fields["resources"] = tuple((name, amount) for name, amount in fields["resources"])
    return JournalEntry(**fields)


def _row(application: ApplicationId) -> tuple[bytes, bytes, int]:
    return _bytes(application.schedd), _bytes(application.user), application.cluster


def _bytes(text: str) -> bytes:
    """A text as it is given to SQL, which casts it: names come from ads, and need not be UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")
