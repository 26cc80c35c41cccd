"""The tables of the state, which each kind of database makes in its own dialect of SQL."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

#: Raised with each change of the tables, together with a step of ``migrations``; the program reads no other version.
VERSION: Final = 11


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
_TIMES: Final = ("anchor_time", "anchor_wall", "anchor_pool")

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
