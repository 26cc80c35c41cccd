"""What several negotiators of one pool share in a PostgreSQL database: each has a schema of its own with the tables of its state.

A table in the schema of the URL has their names. They read the journals of each other, and record their matches in turns: a turn is an
advisory lock of the session that writes, so that it ends with the session, however the process ends. Rows of orders that all of them share are in
a table of that schema too, and are changed in turns.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import attrs

from negotiator.errors import StateError
from negotiator.runtime.state import cycle_rows
from negotiator.runtime.state.connection import Connection, PeerRow, PeerView
from negotiator.runtime.state.cycle_rows import RowName
from negotiator.runtime.state.postgresql_session import DatabaseSession
from negotiator.runtime.state.schema import VERSION

_LONGEST_NAME: Final = 63  # bytes of an identifier of PostgreSQL
_TURN: Final = 1852142179  # the class of the lock; its object is the schema of the URL
_LEADER: Final = 1852142177
_POLL: Final = 0.02  # seconds between two attempts to have the turn
_LOOK: Final = 1.0  # seconds between two looks for one that was stopped in its turn
_HOLDS: Final = (  # of a lock with the given class and the object of a text: it is held
    "locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND classid = ? AND objid = ((hashtext(?)::bigint + 4294967296) % 4294967296)::oid"
)
#: As for a leader that was stopped: the server waits for the rest of a message.
_END_STOPPED: Final = (
    f"SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE {_HOLDS}"  # noqa: S608
    " AND wait_event_type = 'Client' AND state_change < clock_timestamp() - make_interval(secs => ?)"
)


def schema_of(base: str, name: str) -> str:
    """Return the schema of the state of a negotiator.

    :raises StateError: its name would be too long.
    """
    found = f"{base}:{name}"
    if not base or len(found.encode()) > _LONGEST_NAME:
        raise StateError(
            f"the schema {found!r} cannot be made: use a shorter name, and a search path with a schema"
        )
    return found


def quoted_schema(name: str) -> str:
    """Return the name of a schema in SQL."""
    return '"' + name.replace('"', '""') + '"'


@attrs.define(eq=False)
class PostgresqlPeers:
    """The other negotiators of the pool of one, by the session with which it leads; see ``PeerTables``."""

    place: str
    _session: DatabaseSession
    _base: str
    _name: str
    #: Raises errors of the database as those of this package.
    describing: Callable[[str], AbstractContextManager[None]]

    @property
    def _table(self) -> str:
        return f"{quoted_schema(self._base)}.negotiators"

    @property
    def _shared(self) -> str:
        return f"{quoted_schema(self._base)}.shared_order_rows"

    @property
    def _change(self) -> str:
        return f"{quoted_schema(self._base)}.shared_order_change"

    def make(self) -> None:
        """Make what is missing; the caller holds the lock of the tables, in a transaction."""
        own = quoted_schema(schema_of(self._base, self._name))
        self._session.execute(f"CREATE SCHEMA IF NOT EXISTS {own}")
        self._session.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} (name TEXT PRIMARY KEY, slot_constraint TEXT NOT NULL)"
        )
        self._session.execute(
            f"INSERT INTO {self._table} VALUES (?, '') ON CONFLICT (name) DO NOTHING",  # noqa: S608 - a quoted name
            (self._name,),
        )
        ((made,),) = self._session.execute("SELECT to_regclass(?)::text", (self._shared,))
        if made is None:
            text = 'TEXT COLLATE "C"'
            self._session.execute(
                f'CREATE TABLE {self._shared} (order_name {text}, key {text}, "row" {text})'
            )
            self._session.execute(f"CREATE INDEX ON {self._shared} USING hash (key)")
            self._session.execute(f"CREATE TABLE {self._change} (number BIGINT)")
            self._session.execute(f"INSERT INTO {self._change} VALUES (0)")  # noqa: S608 - a quoted name

    def register(self, slot_constraint: str) -> None:
        """See ``PeerTables.register``."""
        with self.describing("write"), self._session.transaction("BEGIN"):
            self._session.execute(f"LOCK TABLE {self._table}")
            if self._leads(self._base):
                raise StateError(
                    f"{self.place}: a negotiator without a name leads: give each one of the pool a name"
                )
            others = [name for name in self._others() if self._leads(schema_of(self._base, name))]
            query = f"SELECT name, slot_constraint FROM {self._table}"  # noqa: S608 - a quoted name
            for name, text in self._session.execute(query):
                if name in others and text == slot_constraint:
                    raise StateError(
                        f"{self.place}: negotiator {name} leads with the same NEGOTIATOR_SLOT_CONSTRAINT: give each its own slots"
                    )
            self._session.execute(
                f"INSERT INTO {self._table} VALUES (?, ?) ON CONFLICT (name)"  # noqa: S608 - a quoted name
                " DO UPDATE SET slot_constraint = excluded.slot_constraint",
                (self._name, slot_constraint),
            )

    def read(self, after: Mapping[str, int], change: int, *, removed: bool) -> PeerView:
        """See ``PeerTables.read``."""
        found, shared = [], None
        numbers: dict[str, frozenset[int]] = {}
        damaged: tuple[str, ...] = ()
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self.describing("read"), self._session.transaction(begin):
            others = self._others()
            for name in others:
                schema = quoted_schema(schema_of(self._base, name))
                self._check_version(name, schema)
                if removed:
                    rows = self._session.execute(f"SELECT number FROM {schema}.matches")  # noqa: S608
                    numbers[name] = frozenset(number for (number,) in rows)
                query = f"SELECT number, entry, claim FROM {schema}.matches WHERE number > ? ORDER BY number"  # noqa: S608
                for number, entry, claim in self._session.execute(query, (after.get(name, 0),)):
                    found.append(PeerRow(name, int(number), entry, claim))
            query = f"SELECT name, slot_constraint FROM {self._table}"  # noqa: S608 - a quoted name
            texts = dict(self._session.execute(query))
            ((last,),) = self._session.execute(f"SELECT number FROM {self._change}")  # noqa: S608 - a quoted name
            if last != change:
                shared, damaged = self.shared_rows(self._session)
        constraints = {name: texts[name] for name in sorted({*others, self._name})}
        return PeerView(self._name, constraints, found, numbers, int(last), shared, damaged)

    def shared_rows(self, db: Connection) -> tuple[Mapping[RowName, Mapping[str, Any]], tuple[str, ...]]:
        """See ``PeerTables.shared_rows``."""
        return cycle_rows.read_order_rows(db, self._shared)

    def write_shared(
        self,
        db: Connection,
        change: int,
        changed: Mapping[RowName, Mapping[str, Any]],
        gone: Iterable[RowName],
    ) -> int:
        """See ``PeerTables.write_shared``."""
        ((number,),) = db.execute(f"UPDATE {self._change} SET number = number + 1 RETURNING number")  # noqa: S608
        if number != change + 1:
            raise StateError(
                f"{self.place}: another negotiator changed the shared accounts outside of its turn: nothing was written"
            )
        cycle_rows.write_order_rows(db, changed, gone, self._shared)
        return int(number)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """See ``PeerTables.turn``."""
        with self.describing("lock"):
            looked = time.monotonic()
            while not self._try_turn():
                if time.monotonic() - looked >= _LOOK:
                    looked = time.monotonic()
                    self._session.execute(_END_STOPPED, (_TURN, self._base, self._session.database.timeout))
                time.sleep(_POLL)
        try:
            yield
        finally:
            with contextlib.suppress(Exception):  # a session that has ended has no turn any more
                self._session.execute("SELECT pg_advisory_unlock(?::int, hashtext(?))", (_TURN, self._base))

    def _try_turn(self) -> bool:
        lock = "SELECT pg_try_advisory_lock(?::int, hashtext(?))"
        ((is_own,),) = self._session.execute(lock, (_TURN, self._base))
        return bool(is_own)

    def _others(self) -> list[str]:
        """Return the names of the others that have a state."""
        query = (
            f"SELECT name FROM {self._table} WHERE name <> ?"  # noqa: S608 - a quoted name
            " AND EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ? || ':' || name) ORDER BY name"
        )
        return [name for (name,) in self._session.execute(query, (self._name, self._base))]

    def _leads(self, schema: str) -> bool:
        query = f"SELECT 1 FROM pg_locks WHERE {_HOLDS}"  # noqa: S608
        return bool(self._session.execute(query, (_LEADER, schema)))

    def _check_version(self, name: str, schema: str) -> None:
        ((version,),) = self._session.execute(f"SELECT version FROM {schema}.state_version")  # noqa: S608
        if version != VERSION:
            raise StateError(
                f"{self.place}: the state of negotiator {name} has version {version}, not {VERSION}: upgrade all of the pool together"
            )


def refuse_beside_named(session: DatabaseSession, place: str) -> None:
    """Check that no negotiator with a name leads in the schema of one without.

    :raises StateError: one does.
    """
    ((table,),) = session.execute("SELECT to_regclass('negotiators')::text")
    if table is None:
        return
    ((base,),) = session.execute("SELECT current_schema()::text")
    for (name,) in session.execute("SELECT name FROM negotiators"):
        query = f"SELECT 1 FROM pg_locks WHERE {_HOLDS}"  # noqa: S608
        if session.execute(query, (_LEADER, schema_of(base, name))):
            raise StateError(
                f"{place}: negotiator {name} leads: give this one a name too (name: in negotiator.yaml)"
            )
