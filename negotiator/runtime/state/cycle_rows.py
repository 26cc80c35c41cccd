"""The tables of the cycle state: queues, applications, holds and the journal; and those by which a state shows that it is complete.

The latter also say which bundle and audit log it belongs to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.state_values import (
    from_entry,
    from_overruns,
    from_queue,
    to_entry,
    to_overruns,
    to_queues,
)
from negotiator.errors import StateError
from negotiator.hooks.overruns import Overrun
from negotiator.queues import Queue, QueueTree
from negotiator.queues.applications import ApplicationHold, ApplicationId, RegisteredApplication
from negotiator.runtime.journal_clock import JournalTime, Uptime
from negotiator.runtime.state.connection import Connection

_WHOLE_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

#: The name of an order, and the key of one of its rows.
RowName: TypeAlias = tuple[str, str]
_COUNTED: Final = ("queues", "applications", "holds", "matches", "order_rows", "overruns")
#: The name of the row among the counts that has the number of cycles.
_CYCLES: Final = "cycles"
_READ_CYCLES: Final = "SELECT number FROM row_counts WHERE name = ?"


@attrs.frozen
class StoredState:
    """The state that an earlier process saved.

    ``last`` is the time of its last snapshot, in seconds since the epoch. ``made`` has the proven time of each entry of
    the journal by its key, and ``time`` the proven time of the last cycle; None before the first.
    """

    queues: tuple[Queue, ...]
    applications: tuple[RegisteredApplication, ...]
    held: dict[ApplicationId, ApplicationHold]
    journal: tuple[JournalEntry, ...] = ()
    last: float = 0.0
    damaged: tuple[str, ...] = ()  # what could not be read, and was set aside
    made: Mapping[str, float] = attrs.field(factory=dict)
    time: JournalTime | None = None
    order_rows: Mapping[RowName, Mapping[str, Any]] = attrs.field(factory=dict)
    overruns: tuple[Overrun, ...] = ()  # of the last cycle


def read_rows(db: Connection, now: float) -> StoredState:
    """Return the stored state.

    An application without a time was in the last snapshot: it was seen then, or at ``now`` if there was no snapshot.
    """
    (last,) = next(iter(db.execute("SELECT time FROM last_scan")), (now,))
    queues = db.execute("SELECT queue FROM queues ORDER BY path")
    journal, damaged = _journal(db)
    order_rows, unreadable = read_order_rows(db)
    overruns, unknown = _overruns(db)
    return StoredState(
        queues=tuple(to_queues(json.loads(text) for (text,) in queues)),
        applications=tuple(
            RegisteredApplication(
                ApplicationId(schedd, user, cluster), queue, last if seen is None else seen, group
            )
            for schedd, user, cluster, queue, group, seen in db.execute("SELECT * FROM applications")
        ),
        held={
            ApplicationId(schedd, user, cluster): ApplicationHold(by, at, note)
            for schedd, user, cluster, by, at, note in db.execute("SELECT * FROM holds")
        },
        journal=journal,
        last=last,
        damaged=(*damaged, *unreadable, *unknown),
        made=dict(db.execute("SELECT key, made FROM matches")),
        time=_read_time(db),
        order_rows=order_rows,
        overruns=overruns,
    )


def _journal(db: Connection) -> tuple[tuple[JournalEntry, ...], tuple[str, ...]]:
    """Return the journal, and a sentence on each row that is damaged: the row stays in the table, and counts nothing."""
    entries, damaged = [], []
    query = "SELECT number, entry, claim FROM matches ORDER BY number"
    for number, entry, claim in db.execute(query, lenient=True):
        try:
            entries.append(stored_entry(entry, claim))
        except (ValueError, TypeError, RecursionError) as error:
            why = f"{type(error).__name__}: {error}"[:200]
            damaged.append(f"row {number} of the table matches is damaged and was set aside ({why})")
    return tuple(entries), tuple(damaged)


def _overruns(db: Connection) -> tuple[tuple[Overrun, ...], tuple[str, ...]]:
    """Return the overruns of the last cycle, and a sentence on each rule whose row is damaged: what breaks it begins anew."""
    found: list[Overrun] = []
    damaged = []
    for reason, jobs in db.execute("SELECT reason, jobs FROM overruns ORDER BY reason", lenient=True):
        try:
            found += to_overruns([[json.loads(reason), json.loads(jobs)]])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            why = f"{type(error).__name__}: {error}"[:200]
            damaged.append(f"a row of the table overruns is damaged and was set aside ({why})")
    return tuple(found), tuple(damaged)


def write_overruns(db: Connection, overruns: Iterable[Overrun]) -> None:
    """Replace the overruns by those of another cycle."""
    db.execute("DELETE FROM overruns")
    db.execute_many(
        "INSERT INTO overruns VALUES (?, ?)",
        ((json.dumps(reason), json.dumps(jobs)) for reason, jobs in from_overruns(overruns)),
    )


def stored_entry(text: str, claim: str | None) -> JournalEntry:
    """Return the entry of a row of the journal.

    :param claim: the public part of its claim id, which has a column: it is known after the entry. A digest of earlier versions,
        of the whole claim id, is left out.
    :raises ValueError: the row is damaged; so do TypeError and RecursionError.
    """
    if claim is None or _WHOLE_DIGEST.fullmatch(claim):
        claim = ""
    return attrs.evolve(to_entry(json.loads(text)), claim=claim)


def _entry_text(entry: JournalEntry) -> str:
    return json.dumps(from_entry(attrs.evolve(entry, claim="")))


def read_order_rows(
    db: Connection, table: str = "order_rows"
) -> tuple[dict[RowName, Mapping[str, Any]], tuple[str, ...]]:
    """Return the rows of allocators, and a sentence on each that is damaged: it stays in the table.

    :param table: the name of the table in SQL.
    """
    rows: dict[RowName, Mapping[str, Any]] = {}
    damaged = []
    query = f'SELECT order_name, key, "row" FROM {table} ORDER BY 1, 2'  # noqa: S608 - a quoted name
    for order, key, text in db.execute(query, lenient=True):
        name = order, key
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            rows[name] = row
        else:
            damaged.append(damaged_order_row(name, "it is not a JSON object"))
    return rows, tuple(damaged)


def damaged_order_row(name: RowName, why: str) -> str:
    """Return the sentence on a damaged row of an allocator."""
    return f"row {name[1][:200]!r} of the order {name[0]} is damaged and was set aside ({why})"


def write_order_rows(
    db: Connection,
    changed: Mapping[RowName, Mapping[str, Any]],
    gone: Iterable[RowName],
    table: str = "order_rows",
) -> None:
    """Add or replace rows of allocators, and remove others.

    :param table: the name of the table in SQL.
    """
    delete = f"DELETE FROM {table} WHERE order_name = ? AND key = ?"  # noqa: S608 - a quoted name
    db.execute_many(delete, (*gone, *changed))
    db.execute_many(
        f"INSERT INTO {table} VALUES (?, ?, ?)",  # noqa: S608 - a quoted name
        ((order, key, json.dumps(dict(row), allow_nan=False)) for (order, key), row in changed.items()),
    )


def write_queues(db: Connection, queues: QueueTree) -> None:
    """Replace all queues."""
    db.execute("DELETE FROM queues")
    db.execute_many(
        "INSERT INTO queues VALUES (?, ?)",
        ((each.path, json.dumps(from_queue(each))) for each in queues),
    )


def write_applications(
    db: Connection, changed: Iterable[RegisteredApplication], gone: Iterable[ApplicationId], last: float
) -> None:
    """Add or replace applications, remove others, and write the time of the last snapshot."""
    changed = tuple(changed)
    db.execute_many(
        'DELETE FROM applications WHERE cluster = ? AND schedd = ? AND "user" = ?',
        ((each.cluster, each.schedd, each.user) for each in (*gone, *(each.id for each in changed))),
    )
    db.execute_many(
        "INSERT INTO applications VALUES (?, ?, ?, ?, ?, ?)",
        (
            (*_key(each.id), each.queue, each.group, each.seen if each.seen < last else None)
            for each in changed
        ),
    )
    db.execute("DELETE FROM last_scan")
    db.execute("INSERT INTO last_scan VALUES (?)", (last,))


def write_holds(db: Connection, held: Iterable[tuple[ApplicationId, ApplicationHold]]) -> None:
    """Replace all holds."""
    db.execute("DELETE FROM holds")
    db.execute_many(
        "INSERT INTO holds VALUES (?, ?, ?, ?, ?, ?)",
        ((*_key(application), hold.by, hold.at, hold.note) for application, hold in held),
    )


def add_matches(db: Connection, matches: Iterable[JournalEntry], made: float) -> None:
    """Add entries to the journal, which were made at a proven time."""
    db.execute_many(
        "INSERT INTO matches (key, entry, made, claim) VALUES (?, ?, ?, ?)",
        ((entry.key, _entry_text(entry), made, entry.claim or None) for entry in matches),
    )


def replace_matches(db: Connection, matches: Iterable[JournalEntry]) -> None:
    """Replace entries of the journal by others with their keys."""
    db.execute_many(
        "UPDATE matches SET entry = ? WHERE key = ?",
        ((_entry_text(entry), entry.key) for entry in matches),
    )


def write_claims(db: Connection, claims: Mapping[str, str]) -> None:
    """Write the public parts of the claim ids that matches were handed out with, by the keys of their entries."""
    db.execute_many(
        "UPDATE matches SET claim = ? WHERE key = ?", ((claim, key) for key, claim in claims.items())
    )


def write_time(db: Connection, now: JournalTime) -> None:
    """Replace the proven time."""
    db.execute("DELETE FROM journal_time")
    anchor = now.anchor or (None, None, None)
    row = (now.time, now.wall, now.uptime.seconds, now.uptime.boot, *anchor)
    db.execute("INSERT INTO journal_time VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _read_time(db: Connection) -> JournalTime | None:
    for time, wall, uptime, boot, *anchor in db.execute("SELECT * FROM journal_time"):
        return JournalTime(time, wall, Uptime(uptime, boot), None if None in anchor else tuple(anchor))
    return None


def remove_matches(db: Connection, keys: Collection[str]) -> None:
    """Remove entries of the journal by their keys."""
    db.execute_many("DELETE FROM matches WHERE key = ?", ((key,) for key in keys))


def _key(application: ApplicationId) -> tuple[str, str, int]:
    return application.schedd, application.user, application.cluster


@attrs.frozen
class AuditMark:
    """A record of the audit log that the state agrees with.

    ``head`` is ``SEQ:HASH`` of the record. ``last_match`` is the id of the last match in the log until then, empty if there
    is none. ``files`` has the status of each complete file of the log, by name.
    """

    head: str
    last_match: str = ""
    files: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)


@attrs.frozen
class StateBundle:
    """The policy bundle of a state: its folder (``built-in`` for the built-in one), and the digest of its last version."""

    folder: str
    digest: str


def missing_rows(db: Connection) -> str:
    """Return which tables lost or gained rows since the last write, as a text; empty if none did."""
    written = dict(db.execute("SELECT name, number FROM row_counts WHERE name <> ?", (_CYCLES,)))
    found = _counts(db) if written else {}
    return ", ".join(
        f"{name}: {found.get(name, 0)} rows instead of {number}"
        for name, number in written.items()
        if found.get(name, 0) != number
    )


def write_counts(db: Connection) -> None:
    """Write how many rows each table has; at the end of each transaction that changes them."""
    db.execute("DELETE FROM row_counts WHERE name <> ?", (_CYCLES,))
    db.execute_many("INSERT INTO row_counts VALUES (?, ?)", _counts(db).items())


def read_cycles(db: Connection) -> int:
    """Return the number of the last cycle of the state; 0 before the first, and for a state of a program that kept none."""
    return next((int(number) for (number,) in db.execute(_READ_CYCLES, (_CYCLES,))), 0)


def write_cycles(db: Connection, number: int) -> None:
    """Write the number of the last cycle."""
    db.execute("DELETE FROM row_counts WHERE name = ?", (_CYCLES,))
    db.execute("INSERT INTO row_counts VALUES (?, ?)", (_CYCLES, number))


def read_mark(db: Connection, manager: str) -> AuditMark | None:
    """Return the mark of the audit log of a central manager; None if no cycle with that log used this state.

    A mark without a manager is of a state that was not shared, and so that of the first manager that looks for it.
    """
    query = "SELECT head, last_match, files FROM audit_mark WHERE manager IN (?, '') ORDER BY manager DESC"
    for head, last_match, files in db.execute(query, (manager,)):
        statuses = {name: tuple(status) for name, status in json.loads(files).items()}
        return AuditMark(head, last_match, statuses)
    return None


def write_mark(db: Connection, mark: AuditMark, manager: str) -> None:
    """Replace the mark of the audit log of a central manager."""
    db.execute("DELETE FROM audit_mark WHERE manager IN (?, '')", (manager,))
    row = (mark.head, mark.last_match, json.dumps(dict(mark.files)), manager)
    db.execute("INSERT INTO audit_mark VALUES (?, ?, ?, ?)", row)


def move_mark(db: Connection, head: str, last_match: str, manager: str) -> None:
    """Move the mark of a central manager to the intent of a cycle."""
    mark = read_mark(db, manager) or AuditMark(head)
    write_mark(db, attrs.evolve(mark, head=head, last_match=last_match), manager)


def read_bundle(db: Connection) -> StateBundle | None:
    """Return the bundle of the state; None before the first run."""
    found = [StateBundle(*row) for row in db.execute("SELECT folder, digest FROM bundle")]
    return found[0] if found else None


def write_bundle(db: Connection, bundle: StateBundle) -> None:
    """Replace the bundle of the state."""
    db.execute("DELETE FROM bundle")
    db.execute("INSERT INTO bundle VALUES (?, ?)", (bundle.folder, bundle.digest))


def check_counts(db: Connection) -> None:
    """Raise StateError if rows were removed or added by another program."""
    if difference := missing_rows(db):
        raise StateError(
            f"the state was changed by another program ({difference}): see negotiator run --recover"
        )


def _counts(db: Connection) -> dict[str, int]:
    counts = (f"SELECT '{name}', count(*) FROM {name}" for name in _COUNTED)  # noqa: S608 - constants
    return dict(db.execute(" UNION ALL ".join(counts)))
