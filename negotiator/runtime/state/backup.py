"""A backup: the rows of a state in one compressed file, with their counts and a digest, for any kind of database.

It is lines of JSON: a header, for each table its name, columns and number of rows and then its rows, and the digest of all lines
before. It is written in one transaction, while a negotiator runs, and read in one: all of it is restored, or nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator.activity import activity, advance
from negotiator.errors import StateError
from negotiator.files import open_regular, replace_file
from negotiator.runtime.state.connection import Connection, StateDatabase, Value
from negotiator.runtime.state.schema import TABLES, VERSION, ColumnType, TableDefinition, quoted

_FORMAT: Final = "negotiator state backup"
_MODE: Final = 0o600  # it has the names of users and what they ran
_TYPES: Final[Mapping[ColumnType, type | tuple[type, ...]]] = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.NUMBER: int,
    ColumnType.REAL: (float, int),
}


@attrs.frozen
class BackupSummary:
    """A backup: when it was made, in seconds since the epoch, of which state, and the number of rows by table."""

    made: float
    place: str
    rows: Mapping[str, int]


def count_rows(db: Connection) -> dict[str, int]:
    """Return the number of rows by table."""
    return {table.name: int(_only(db.execute(f"SELECT count(*) FROM {table.name}"))) for table in TABLES}  # noqa: S608 - constants


def write_backup(database: StateDatabase, file: Path, now: float) -> BackupSummary:
    """Write all rows of a state to a file, which only this user may read; an old one is replaced once the new one is complete.

    :param now: seconds since the epoch.
    :raises StateError: the state cannot be read.
    :raises OSError: the file cannot be written.
    """
    content = BytesIO()
    digest = hashlib.sha256()
    with database.reading() as db, gzip.GzipFile(fileobj=content, mode="wb", mtime=0) as stream:
        rows = count_rows(db)
        header = {"format": _FORMAT, "version": VERSION, "made": now, "place": database.name}
        with activity("writing the backup", sum(rows.values()), "row"):
            for line in map(_line, (header, *_lines(db, rows))):
                digest.update(line)
                stream.write(line)
                advance(1)
        stream.write(_line({"sha256": digest.hexdigest()}))
    replace_file(file, content.getvalue(), mode=_MODE)
    return BackupSummary(now, database.name, rows)


def _lines(db: Connection, rows: Mapping[str, int]) -> Iterator[Any]:
    for table in TABLES:
        yield {"table": table.name, "columns": list(table.columns), "rows": rows[table.name]}
        order = table.number or 1
        yield from db.execute(f"SELECT {_columns(table)} FROM {table.name} ORDER BY {order}")  # noqa: S608 - constants


def restore_backup(database: StateDatabase, file: Path, *, replace: bool = False) -> BackupSummary:
    """Replace the rows of a state by those of a backup, in one transaction. The caller holds the lock of the state.

    :param replace: also if the state has rows.
    :raises StateError: the state has rows, the file is no complete backup of this version, or one of both cannot be used: nothing
        was changed.
    """
    with database.writing() as db:
        found = [name for name, number in count_rows(db).items() if number]
        if found and not replace:
            raise StateError(
                f"{database.name}: the state is not empty ({', '.join(found)}): with --replace, all of it is replaced"
            )
        for table in TABLES:
            db.execute(f"DELETE FROM {table.name}")  # noqa: S608 - constants
        with activity("restoring the state"), _reading(file) as reader:
            for table in TABLES:
                marks = ", ".join("?" * len(table.columns))
                insert = f"INSERT INTO {table.name} ({_columns(table)}) VALUES ({marks})"  # noqa: S608 - constants
                db.execute_many(insert, reader.rows(table))
                if table.number is not None:
                    database.count_on(db, table.name, table.number)
            return reader.end()


@contextmanager
def _reading(file: Path) -> Iterator[_BackupReader]:
    try:
        opened = os.fdopen(open_regular(file), "rb")
    except OSError as error:
        raise StateError(f"{file}: cannot read the backup: {error.strerror or error}") from None
    with opened, gzip.GzipFile(fileobj=opened) as stream:
        reader = _BackupReader(file, stream)
        reader.begin()
        yield reader


@attrs.define(eq=False)
class _BackupReader:
    """Reads the lines of a backup, which may be cut off, changed, or another file."""

    file: Path
    _stream: gzip.GzipFile
    _header: Mapping[str, Any] = attrs.field(factory=dict, init=False)
    _digest: Any = attrs.field(factory=hashlib.sha256, init=False)
    _counts: dict[str, int] = attrs.field(factory=dict, init=False)

    def begin(self) -> None:
        """Read the header."""
        self._header = self._next()
        if self._header.get("format") != _FORMAT:
            raise self._damaged("it is not a backup of a state")
        if (version := self._header.get("version")) != VERSION:
            raise StateError(
                f"{self.file}: the backup is of version {version}, this program restores version {VERSION}: restore it with "
                "the program that made it, and then start this one, which migrates the state"
            )

    def rows(self, table: TableDefinition) -> Iterator[list[Value]]:
        """Yield the rows of the next table."""
        head = self._next()
        if (head.get("table"), head.get("columns")) != (table.name, list(table.columns)):
            raise self._damaged(f"the table {table.name} is missing")
        self._counts[table.name] = head.get("rows", 0)
        for _ in range(self._counts[table.name]):
            row = self._read()
            if not _is_row(row, table.columns.values()):
                raise self._damaged(f"a row of the table {table.name} is invalid")
            yield row

    def end(self) -> BackupSummary:
        """Compare the digest, and return the summary."""
        digest = self._digest.hexdigest()
        if self._next() != {"sha256": digest}:
            raise self._damaged("it was changed: its digest is another one")
        return BackupSummary(self._header["made"], self._header["place"], self._counts)

    def _next(self) -> Mapping[str, Any]:
        found = self._read()
        if not isinstance(found, dict):
            raise self._damaged("a line is missing")
        return found

    def _read(self) -> Any:
        try:
            line = self._stream.readline()
            self._digest.update(line)
            return json.loads(line)
        except (OSError, EOFError, zlib.error, ValueError, RecursionError):
            raise self._damaged("it is cut off, or no backup") from None

    def _damaged(self, why: str) -> StateError:
        return StateError(f"{self.file}: the backup cannot be used: {why}; nothing was restored")


def _is_row(row: Any, kinds: Iterable[ColumnType]) -> bool:
    expected = tuple(kinds)
    return (
        isinstance(row, list)
        and len(row) == len(expected)
        and all(
            value is None or isinstance(value, _TYPES[kind])
            for value, kind in zip(row, expected, strict=True)
        )
    )


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _columns(table: TableDefinition) -> str:
    return ", ".join(map(quoted, table.columns))


def _only(rows: list[tuple[Any, ...]]) -> Any:
    ((value,),) = rows
    return value
