"""Queries in SQL over an audit log, by DuckDB; they can neither write nor read anything else."""

from __future__ import annotations

import contextlib
import enum
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from negotiator.audit.errors import AuditError, naming
from negotiator.audit.search import log_files
from negotiator.audit.sql_tables import (
    check_ends,
    corrected_lines,
    corrected_statement,
    escaped_path,
    export_statements,
    sql_text,
    table_statements,
    unread_statement,
)
from negotiator.audit.values import instant
from negotiator.errors import CommandError

if TYPE_CHECKING:
    import duckdb

#: What a query may use of the machine, and how long it may take in seconds.
MEMORY: Final = "2GB"
THREADS: Final = 4
SECONDS: Final = 60.0

_FETCHED: Final = 10_000  # rows at a time
_INTERRUPT_SECONDS: Final = 0.1  # between two attempts to interrupt a query
_RESULT: Final = "query_result"
# Nothing is loaded or looked up outside of DuckDB's own library and this process's files.
_CONFIGURATION: Final[dict[str, str | bool | int | float | list[str]]] = {
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": MEMORY,
    "python_enable_replacements": False,
    "temp_directory": "",
}
_NUMBER: Final = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?\b|DOUBLE|FLOAT|DECIMAL")
_EXPORT_MODE: Final = 0o640  # that of the log, less the umask


class QueryError(CommandError):
    """A query is refused, or failed."""


class RowForm(enum.StrEnum):
    """How rows are read: each value as a text, or each row as one text, a JSON object."""

    TEXTS = "columns(*)::VARCHAR"
    JSON = f"to_json({_RESULT})::VARCHAR"


@attrs.frozen
class SqlColumn:
    """A column of a result: its name, and whether its values are numbers."""

    name: str
    is_number: bool


@attrs.frozen
class SqlResult:
    """The columns of a result, and the number of its rows."""

    columns: tuple[SqlColumn, ...]
    count: int


class LogTables:
    """The tables of an audit log, open for queries: ``records``, ``reasons`` and ``log``; a context manager.

    :param path: the folder of a log, or a file that :meth:`export` wrote, which has ``records`` only.
    :raises AuditError: the log is missing or cannot be read.
    :raises CommandError: DuckDB is not installed.
    """

    def __init__(self, path: Path) -> None:
        self._is_export = path.is_file()
        self._files = [path] if self._is_export else log_files(path)
        check_ends(self._files)
        self._duckdb = _library()
        self._paths = [escaped_path(str(file.absolute())) for file in self._files]
        threads = min(THREADS, os.cpu_count() or 1)
        self._connection: duckdb.DuckDBPyConnection = self._duckdb.connect(
            ":memory:", config={**_CONFIGURATION, "threads": threads}
        )
        with self._limited(None):
            self._make_tables(lenient=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def query(self, text: str, seconds: float = SECONDS) -> SqlResult:
        """Run one SELECT; :meth:`rows` yields the rows of its result.

        :param seconds: how long it may take.
        :raises QueryError: it is another statement, several, or invalid; it took too long or too much memory.
        :raises AuditError: the log cannot be read.
        """
        statement = self._checked(text)
        self._lock()
        self._run(f"CREATE OR REPLACE TEMP TABLE {_RESULT} AS FROM ({statement}\n)", seconds)
        described = self._fetched(f"DESCRIBE {_RESULT}")
        ((count,),) = self._fetched(f"SELECT count(*) FROM {_RESULT}")
        columns = tuple(SqlColumn(name, bool(_NUMBER.match(kind))) for name, kind, *_ in described)
        return SqlResult(columns, count)

    def rows(self, form: RowForm, limit: int | None = None) -> Iterator[tuple[str | None, ...]]:
        """Yield the rows of the last result, at most ``limit``; None is NULL."""
        bound = "" if limit is None else f" LIMIT {limit}"
        with self._limited(None):
            found = self._connection.execute(f"SELECT {form.value} FROM {_RESULT}{bound}")
            while rows := found.fetchmany(_FETCHED):
                yield from rows

    def export(self, file: Path, since: float | None = None, until: float | None = None) -> int:
        """Write the table ``records`` as Parquet, as a whole or not at all; return the number of its rows.

        :param since: seconds since the epoch, included; ``until`` excluded.
        :raises AuditError: the log cannot be read, or the file cannot be written.
        """
        bounds = [
            f"time {sign} TIMESTAMP {sql_text(instant(at))}"
            for sign, at in ((">=", since), ("<", until))
            if at
        ]
        copied = f"SELECT * FROM records WHERE {' AND '.join(bounds) or 'true'}"
        with (
            naming(file, "write the exported records"),
            TemporaryDirectory(dir=file.absolute().parent) as folder,
        ):
            new = Path(folder, "records.parquet")
            target = f"{sql_text(str(new))} (FORMAT parquet, COMPRESSION zstd)"
            ((count, *_),) = self._run(f"COPY ({copied}) TO {target}", None)
            new.chmod(_EXPORT_MODE & ~_umask())
            new.replace(file)
        return int(count)

    def _make_tables(self, *, lenient: bool) -> None:
        made = (
            export_statements(self._paths[0])
            if self._is_export
            else table_statements(self._paths, lenient=lenient)
        )
        for statement in made:
            self._connection.execute(statement)

    def _checked(self, text: str) -> str:
        """Return the text of the one SELECT; raise QueryError for anything else."""
        try:
            statements = self._connection.extract_statements(text.encode().decode())
        except (self._duckdb.Error, UnicodeError) as error:
            raise QueryError(f"invalid SQL: {_first_part(error)}") from None
        if len(statements) != 1 or statements[0].type != self._duckdb.StatementType.SELECT:
            raise QueryError(
                "only one SELECT is permitted: the log is never written, and no other file is read"
            )
        return str(statements[0].query).strip().rstrip(";")

    def _lock(self) -> None:
        """Permit these files and nothing else, for the rest of the connection."""
        ((is_locked,),) = self._fetched("SELECT current_setting('lock_configuration')")
        if is_locked:
            return
        self._connection.execute("SET allowed_directories = []")
        self._connection.execute("SET allowed_paths = $1", [[*map(str, self._files), *self._paths]])
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def _run(self, statement: str, seconds: float | None) -> list[tuple[Any, ...]]:
        """Run a statement; once more with corrected lines if DuckDB cannot read some."""
        with self._limited(seconds):
            try:
                return self._fetched(statement)
            except self._duckdb.InvalidInputException as error:
                if "JSON" not in str(error) or self._is_export:
                    raise
            self._correct()
            return self._fetched(statement)

    def _correct(self) -> None:
        """Add the lines that DuckDB cannot read to the tables, and have them left out elsewhere."""
        for place, count in self._fetched(unread_statement(self._paths)):
            lines = corrected_lines(self._files[place], count, is_last=place == len(self._files) - 1)
            self._connection.execute(corrected_statement(), [lines])
        self._make_tables(lenient=True)

    def _fetched(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement in another thread: DuckDB notices Ctrl-C between its tasks only, of which one may be the whole query."""
        with ThreadPoolExecutor(1) as thread:
            call = thread.submit(lambda: self._connection.execute(statement).fetchall())
            try:
                return call.result()
            except KeyboardInterrupt:
                while not call.done():  # again, if the query had not begun
                    self._connection.interrupt()
                    wait((call,), _INTERRUPT_SECONDS)
                raise

    @contextlib.contextmanager
    def _limited(self, seconds: float | None) -> Iterator[None]:
        """Interrupt what runs within after some seconds; turn DuckDB's exceptions into the program's."""
        timer = threading.Timer(seconds or 0, self._connection.interrupt)
        if seconds is not None:
            timer.start()
        try:
            yield
        except self._duckdb.InterruptException:
            raise QueryError(
                f"stopped after {seconds:g} s: select less, or allow more time (--timeout)"
            ) from None
        except self._duckdb.OutOfMemoryException:
            raise QueryError(f"the query takes more than {MEMORY} of memory: select less") from None
        except self._duckdb.IOException as error:
            raise AuditError(f"cannot read the audit log: {_first_part(error)}") from None
        except self._duckdb.Error as error:
            raise QueryError(_first_part(error)) from None
        finally:
            timer.cancel()


def _library() -> ModuleType:
    try:
        import duckdb  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise CommandError(f"this needs DuckDB ({error}): pip install 'pool-negotiator[sql]'") from None
    return duckdb


def _first_part(error: Exception) -> str:
    """Return the message of an exception without the statement that DuckDB prints below it."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())


def _umask() -> int:
    os.umask(mask := os.umask(0o077))
    return mask
