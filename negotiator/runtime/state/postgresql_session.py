"""A session with PostgreSQL: it ends rather than wait for ever, whatever happens to the connection."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from negotiator.errors import StateError
from negotiator.hooks.state_location import DatabaseUrl
from negotiator.runtime.state.connection import Value
from negotiator.runtime.state.schema import original_text, stored_text

if TYPE_CHECKING:
    import psycopg

_OLDEST: Final = 14  # the first PostgreSQL with idle_session_timeout
_ROWS: Final = 1_000  # in one go, so that no statement takes as long as the timeout
_BEATS: Final = 4  # statements of a silent leader within the timeout
_HINT: Final = "does the server run, and may this user use the database?"
_DAMAGED: Final = "the state is damaged, or another program wrote it"
_CONTENT: Final = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


def connect(database: DatabaseUrl) -> DatabaseSession:
    """Connect to a database.

    :raises StateError: psycopg is not installed, the server does not answer or is too old, or the database is not in UTF-8.
    """
    try:
        import psycopg  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise StateError(
            f"{database}: a state in PostgreSQL needs psycopg ({error}): pip install 'pool-negotiator[postgresql]'"
        ) from None
    timeout = database.timeout
    try:
        raw = psycopg.connect(
            database.secret,
            autocommit=True,  # transactions are begun and ended here
            connect_timeout=max(2, round(timeout)),
            tcp_user_timeout=round(timeout * 1000),
            keepalives_idle=max(1, round(timeout / 3)),
            keepalives_interval=max(1, round(timeout / 3)),
            keepalives_count=2,
            client_encoding="utf8",
            fallback_application_name="negotiator",
        )
    except psycopg.Error as error:
        raise _unusable(database, "open", str(error), _HINT) from None
    session = DatabaseSession(database, raw)
    try:
        session.check_server()
    except BaseException:
        session.close()
        raise
    return session


@attrs.define(eq=False)
class DatabaseSession:
    """Runs statements, one thread at a time. One that takes longer than the timeout ends the session."""

    database: DatabaseUrl
    _raw: psycopg.Connection[Any]
    _lock: threading.RLock = attrs.field(factory=threading.RLock, init=False)

    @property
    def has_ended(self) -> bool:
        """True if the session has ended, here or at the server."""
        return self._raw.closed

    def execute(
        self, statement: str, values: Sequence[Value] = (), *, lenient: bool = False
    ) -> list[tuple[Any, ...]]:
        """See ``Connection.execute``; the database stores no damaged texts."""
        del lenient
        with self._lock, self._limited():
            cursor = self._raw.execute(_with_marks(statement), _bound(values))
            return [_read(row) for row in cursor.fetchall()] if cursor.description else []

    def execute_many(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """See ``Connection.execute_many``."""
        left = map(_bound, rows)
        with self._lock, self._raw.cursor() as cursor:
            while some := list(islice(left, _ROWS)):
                with self._limited():
                    cursor.executemany(_with_marks(statement), some)

    @contextlib.contextmanager
    def transaction(self, begin: str) -> Iterator[None]:
        """Run the block as one transaction, alone in this session."""
        with self._lock:
            self.execute(begin)
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                if not self.has_ended:
                    self.execute("ROLLBACK")
                raise

    def end_when_silent(self) -> None:
        """Let the server end the session if it gets no statement for the timeout, in a transaction or not."""
        for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
            milliseconds = str(round(self.database.timeout * 1000))
            self.execute("SELECT set_config(?, ?, false)", (name, milliseconds))

    def beat(self) -> None:
        """Send a statement, unless the session is in use, and so not silent."""
        if self._lock.acquire(blocking=False):
            try:
                self.execute("SELECT 1")
            finally:
                self._lock.release()

    def check_server(self) -> None:
        """Raise StateError if the server cannot have a state."""
        version = self._raw.info.server_version // 10_000
        if version < _OLDEST:
            raise StateError(
                f"{self.database}: PostgreSQL {_OLDEST} or later is needed, the server has {version}"
            )
        with self.describing_errors("open"):
            ((encoding,),) = self.execute("SHOW server_encoding")
        if encoding != "UTF8":
            raise StateError(f"{self.database}: the database is in {encoding}: make one with ENCODING 'UTF8'")

    def close(self) -> None:
        """End the session."""
        self._raw.close()

    @contextlib.contextmanager
    def describing_errors(self, doing: str) -> Iterator[None]:
        """Raise StateError, with the place and the action, for errors of the database and of its content."""
        import psycopg  # noqa: PLC0415 - it is imported already

        try:
            yield
        except (psycopg.OperationalError, psycopg.InterfaceError, OSError) as error:
            raise _unusable(self.database, doing, str(error), _HINT) from None
        except (psycopg.Error, *_CONTENT) as error:
            raise _unusable(self.database, doing, str(error), _DAMAGED) from None

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """End the session if the block takes longer than the timeout: the path to the server may swallow everything."""
        timer = threading.Timer(self.database.timeout, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        """End what waits for an answer, in any thread."""
        with contextlib.suppress(Exception), socket.socket(fileno=os.dup(self._raw.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)


@attrs.define(eq=False)
class Heartbeat:
    """Keeps the session of a leader from being silent, while this process runs."""

    _session: DatabaseSession
    _ended: threading.Event = attrs.field(factory=threading.Event, init=False)

    @classmethod
    def started(cls, session: DatabaseSession) -> Self:
        """Begin."""
        found = cls(session)
        threading.Thread(target=found._run, name="state heartbeat", daemon=True).start()
        return found

    def end(self) -> None:
        """End, at once."""
        self._ended.set()

    def _run(self) -> None:
        """Send statements until the session or the process ends; who writes next finds that out."""
        while not self._ended.wait(self._session.database.timeout / _BEATS):
            try:
                self._session.beat()
            except Exception:  # noqa: BLE001 - the session has ended
                return


@functools.cache
def _with_marks(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()


def _bound(values: Sequence[Value]) -> list[Value]:
    return [stored_text(value) if isinstance(value, str) else value for value in values]


def _read(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(original_text(value) if isinstance(value, str) else value for value in row)


def _unusable(database: DatabaseUrl, doing: str, why: str, hint: str) -> StateError:
    text = database.redacted(why)
    return StateError(f"{database}: cannot {doing} the state: {' '.join(text.split())} ({hint})")
