"""The tables by which a state shows that it is complete, and which bundle and audit log it belongs to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.errors import StateError
from negotiator.runtime.state.connection import Connection

_COUNTED: Final = ("queues", "applications", "holds", "matches", "order_rows", "overruns")
#: The name of the row among the counts that has the number of cycles.
_CYCLES: Final = "cycles"
_READ_CYCLES: Final = "SELECT number FROM row_counts WHERE name = ?"


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
