"""Turns the tables of earlier versions of the program into those of this one, a step for each version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from negotiator.runtime.state.schema import VERSION
from negotiator.runtime.state.texts import stored_text

#: The texts of version 9 by table: those that need not be UTF-8 were stored as bytes that are none.
_TEXTS_OF_9: Final = {
    "queues": ("path", "queue"),
    "applications": ("schedd", "user", "queue", "group_name"),
    "holds": ("schedd", "user", "held_by", "note"),
    "matches": ("key", "entry", "claim"),
    "order_rows": ("order_name", "key", "row"),
    "admin_requests": ("user", "groups", "application", "queue", "note", "order_name", "change", "answer"),
    "bundle": ("folder",),
}


def migrate(db: sqlite3.Connection, version: int) -> bool:
    """Change the tables of a version step by step into those of this program; False if it has no step for them.

    The caller holds the lock of the state, and writes the new version in the same transaction.
    """
    steps = [_STEPS.get(each) for each in range(version, VERSION)]
    if not steps or None in steps:
        return False
    for step in filter(None, steps):
        step(db)
    return True


def other_version(version: int) -> str:
    """Return why a state of another version cannot be used, and what to do."""
    text = f"the state has version {version}, this program reads version {VERSION}"
    if version > VERSION:
        return f"{text}: use the program that wrote it, or a later one"
    if all(each in _STEPS for each in range(version, VERSION)):
        return f"{text}: negotiator serve migrates it; stop the negotiator of the earlier version first"
    return f"{text}, and migrates versions from {min(_STEPS)} on: migrate it with an earlier program first"


def _from_9(db: sqlite3.Connection) -> None:
    """Texts have a form that is UTF-8, and the mark of the audit log names the central manager whose log it is."""
    db.create_function("stored_form", 1, _stored_form, deterministic=True)
    for table, columns in _TEXTS_OF_9.items():
        for column in columns:
            name = f'"{column}"'
            new, old = f"stored_form(CAST({name} AS BLOB))", f"CAST({name} AS BLOB)"
            db.execute(f"UPDATE {table} SET {name} = CAST({new} AS TEXT) WHERE {new} IS NOT {old}")  # noqa: S608 - constants
    db.execute("ALTER TABLE audit_mark ADD COLUMN manager TEXT")
    db.execute("UPDATE audit_mark SET manager = ''")


def _from_10(db: sqlite3.Connection) -> None:
    """There is a table of the overruns of the last cycle."""
    db.execute("CREATE TABLE overruns (reason TEXT, jobs TEXT)")


def _stored_form(raw: bytes | None) -> bytes | None:
    """Return a stored text as version 10 has it; one that is damaged stays as it is, and is reported when it is read."""
    try:
        return None if raw is None else stored_text(raw.decode("utf-8", "surrogatepass")).encode()
    except UnicodeDecodeError:
        return raw


#: The step from each version to the next.
_STEPS: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = {9: _from_9, 10: _from_10}
