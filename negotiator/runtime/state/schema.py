"""The tables of the state, which each kind of database makes in its own dialect of SQL, and how texts are stored in them.

Tables of earlier versions of the program are turned into those of this one, a step for each version. Names come from ads, and need be neither UTF-8
nor free of NUL, which not every database stores.
"""

from __future__ import annotations

import enum
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import attrs

#: Raised with each change of the tables, together with a step of ``migrations``; the program reads no other version.
VERSION: Final = 11
_TIMES: Final = ("anchor_time", "anchor_wall", "anchor_pool")
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
#: Begins the code of a character: it is in no name that people type, and JSON writes it otherwise.
_MARK: Final = "\x1a"
_UNSTORABLE: Final = re.compile("[\0\x1a\ud800-\udfff]")
_CODE: Final = re.compile(f"{_MARK}([0-9a-f]{{4}})")


class ColumnType(enum.Enum):
    """What a column has."""

    TEXT = enum.auto()
    INTEGER = enum.auto()
    REAL = enum.auto()
    NUMBER = enum.auto()  # counts up from 1, and is never used again; it is the key of its table


@attrs.frozen
class Dialect:
    """How a database spells tables: the type of each kind of column, and what follows a table without and with a named key.

    ``indexes_long``: it can index texts of any length; names in ads have up to a million characters.
    """

    types: Mapping[ColumnType, str]
    plain: str = ""
    keyed: str = ""
    indexes_long: bool = False


@attrs.frozen
class TableDefinition:
    """A table: its columns in their order, the columns of its key, and the columns of each index.

    ``defaults`` has the SQL of default values. ``lookup`` is the column by which rows are found where the key is too long for
    an index; empty if it is never too long.
    """

    name: str
    columns: Mapping[str, ColumnType]
    key: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    defaults: Mapping[str, str] = attrs.field(factory=dict)
    lookup: str = ""

    def statements(self, dialect: Dialect) -> Iterator[str]:
        """Yield the SQL that makes the table."""
        parts = [
            f"{quoted(name)} {dialect.types[kind]}{self._default(name)}"
            for name, kind in self.columns.items()
        ]
        has_key = self.key and (dialect.indexes_long or not self.lookup)
        if has_key:
            parts.append(f"PRIMARY KEY ({', '.join(map(quoted, self.key))})")
        yield f"CREATE TABLE {self.name} ({', '.join(parts)}){dialect.keyed if has_key else dialect.plain}"
        if self.lookup and not has_key:
            yield f"CREATE INDEX {self.name}_lookup ON {self.name} USING hash ({quoted(self.lookup)})"
        for columns in self.indexes:
            name = f"{self.name}_by_{columns[0]}"
            yield f"CREATE INDEX {name} ON {self.name} ({', '.join(map(quoted, columns))})"

    @property
    def number(self) -> str | None:
        """The column that counts the rows; None if there is none."""
        return next((name for name, kind in self.columns.items() if kind is ColumnType.NUMBER), None)

    def _default(self, name: str) -> str:
        return f" DEFAULT {self.defaults[name]}" if name in self.defaults else ""


def quoted(name: str) -> str:
    """Return the name of a column, which may be a word of SQL."""
    return f'"{name}"'


def _texts(*names: str) -> dict[str, ColumnType]:
    return dict.fromkeys(names, ColumnType.TEXT)


_APPLICATION: Final = {"schedd": ColumnType.TEXT, "user": ColumnType.TEXT, "cluster": ColumnType.INTEGER}

TABLES: Final = (
    TableDefinition("last_scan", {"time": ColumnType.REAL}),
    TableDefinition("queues", _texts("path", "queue"), ("path",)),
    TableDefinition(
        "applications",
        {**_APPLICATION, **_texts("queue", "group_name"), "last_seen": ColumnType.REAL},
        tuple(_APPLICATION),
        lookup="cluster",
    ),
    TableDefinition(
        "holds",
        {**_APPLICATION, "held_by": ColumnType.TEXT, "held_at": ColumnType.REAL, "note": ColumnType.TEXT},
        tuple(_APPLICATION),
        lookup="cluster",
    ),
    TableDefinition(
        "matches",
        {
            "number": ColumnType.NUMBER,
            **_texts("key", "entry"),
            "made": ColumnType.REAL,
            "claim": ColumnType.TEXT,
        },
        indexes=(("key",),),
    ),
    TableDefinition("order_rows", _texts("order_name", "key", "row"), ("order_name", "key"), lookup="key"),
    TableDefinition(
        "admin_requests",
        {
            "number": ColumnType.NUMBER,
            "time": ColumnType.REAL,
            **_texts("user", "groups", "action", "application", "queue", "note", "order_name", "change"),
            "done": ColumnType.INTEGER,
            "ok": ColumnType.INTEGER,
            "answer": ColumnType.TEXT,
        },
        indexes=(("done", "number"),),
        defaults={"done": "0"},
    ),
    TableDefinition("overruns", _texts("reason", "jobs")),
    TableDefinition("row_counts", {"name": ColumnType.TEXT, "number": ColumnType.INTEGER}, ("name",)),
    TableDefinition("audit_mark", _texts("head", "last_match", "files", "manager")),
    TableDefinition("bundle", _texts("folder", "digest")),
    TableDefinition(
        "journal_time",
        {
            **dict.fromkeys(("time", "wall", "uptime"), ColumnType.REAL),
            "boot": ColumnType.TEXT,
            **dict.fromkeys(_TIMES, ColumnType.REAL),
        },
    ),
)


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


def stored_text(text: str) -> str:
    """Return the form in which a text is stored; nearly every text is its own."""
    return _UNSTORABLE.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text)


def original_text(stored: str) -> str:
    """Return the text that is stored in a form."""
    return _CODE.sub(lambda found: chr(int(found[1], 16)), stored) if _MARK in stored else stored
