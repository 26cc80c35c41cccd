"""Use cases of an auditor: queries in SQL over the audit log, and its records as Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from negotiator.activity import activity
from negotiator.audit.sql import SECONDS as SECONDS
from negotiator.audit.sql import LogTables, RowForm, SqlColumn


@attrs.frozen
class LogQuery:
    """The result of a query: its columns, and how many rows it has."""

    columns: tuple[SqlColumn, ...]
    count: int
    _tables: LogTables

    def rows(self, limit: int | None = None) -> Iterator[tuple[str, ...]]:
        """Yield the rows, at most ``limit``, as texts; NULL is empty."""
        for row in self._tables.rows(RowForm.TEXTS, limit):
            yield tuple("" if value is None else value for value in row)

    def objects(self, limit: int | None = None) -> Iterator[str]:
        """Yield each row, at most ``limit``, as a JSON object."""
        yield from (str(value) for (value,) in self._tables.rows(RowForm.JSON, limit))


@contextmanager
def log_query(path: Path, text: str, seconds: float = SECONDS) -> Iterator[LogQuery]:
    """Run one SELECT over an audit log; its result can be read until the context ends.

    :param path: the folder of the log, or a file that :func:`export_records` wrote.
    :param seconds: how long the query may take.
    :raises AuditError: the log is missing or cannot be read.
    :raises CommandError: DuckDB is not installed, or the query is refused, invalid, or takes too long or too much memory.
    """
    with LogTables(path) as tables:
        found = tables.query(text, seconds)
        yield LogQuery(found.columns, found.count, tables)


def export_records(folder: Path, file: Path, since: float | None = None, until: float | None = None) -> int:
    """Write the records of an audit log as Parquet, in a flat table; return how many there are.

    :param since: seconds since the epoch, included; ``until`` excluded.
    :raises AuditError: the log is missing or cannot be read, or the file cannot be written; an old file is unchanged.
    :raises CommandError: DuckDB is not installed.
    """
    with activity("writing the records"), LogTables(folder) as tables:
        return tables.export(file, since, until)
