"""The parts of a snapshot as bytes, in one canonical form.

The first line is ``negotiator-snapshot 2``. The counts, the problems and the tables follow (see ``table_codec``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from negotiator.classad import Table
from negotiator.classad.tables import ByteReader, ByteWriter, DamagedDataError, read_rows, write_rows
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.errors import SnapshotFormatError
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Callable

_VERSION: Final = b"negotiator-snapshot 2\n"

_KEPT_ROWS: Final = 20_000
"""Rows of a table whose bytes are kept as long as the table."""

_written: Final[WeakKeyDictionary[Table, bytes]] = WeakKeyDictionary()


class SnapshotParts(NamedTuple):
    """The parts of a snapshot: tables of schedds, submitters, slots and jobs; the counts; the problems; the claim ids."""

    tables: tuple[Table, Table, Table, Table]
    private: int
    other: int
    problems: tuple[Problem, ...]
    claim_ids: tuple[int, ...] | None = None


def write_snapshot(parts: SnapshotParts, sink: Callable[[bytes], object]) -> None:
    """Write a snapshot to a sink, such as ``list.append`` or the ``update`` of a hash.

    :raises ValueError: an expression has a reference that no ad can have (``AdRef``).
    """
    sink(_VERSION)
    writer = ByteWriter(sink)
    writer.number(parts.private)
    writer.number(parts.other)
    writer.number(len(parts.problems))
    for problem in parts.problems:
        _write_problem(problem, writer)
    writer.number(0 if parts.claim_ids is None else 1 + len(parts.claim_ids))
    for count in parts.claim_ids or ():
        writer.number(count)
    for table in parts.tables:
        _write_table(table, sink)


def _write_table(table: Table, sink: Callable[[bytes], object]) -> None:
    """Write a table; a frozen one is written more than once, to be digested and saved, also in cycles in which it does not change."""
    if len(table) > _KEPT_ROWS:
        write_rows(table.row_store(pool_dictionary()), ByteWriter(sink))
        return
    data = _written.get(table)
    if data is None:
        chunks: list[bytes] = []
        write_rows(table.row_store(pool_dictionary()), ByteWriter(chunks.append))
        data = _written[table] = b"".join(chunks)
    sink(data)


def read_snapshot(data: bytes) -> SnapshotParts:
    """Return the parts of the snapshot in these bytes.

    :raises SnapshotFormatError: they are damaged, or of another version.
    """
    if not data.startswith(_VERSION):
        raise SnapshotFormatError(f"not a snapshot of this version: it must begin with {_VERSION!r}")
    reader = ByteReader(data[len(_VERSION) :])
    try:
        private, other = reader.number(), reader.number()
        problems = tuple([_read_problem(reader) for _ in range(reader.count())])
        known = reader.count()
        claims = tuple([reader.number() for _ in range(known - 1)]) if known else None
        dictionary = pool_dictionary()
        schedds, submitters, slots, jobs = [Table(read_rows(reader, dictionary), None) for _ in range(4)]
    except DamagedDataError as error:
        raise SnapshotFormatError(f"the snapshot is damaged: {error}") from None
    if reader.left:
        raise SnapshotFormatError(f"the snapshot is damaged: {reader.left} bytes follow its end")
    if claims is not None and len(claims) != len(slots):
        raise SnapshotFormatError(f"the snapshot is damaged: {len(claims)} numbers of claim ids")
    return SnapshotParts((schedds, submitters, slots, jobs), private, other, problems, claims)


def _write_problem(problem: Problem, writer: ByteWriter) -> None:
    source = problem.source
    writer.number(source.line)
    writer.number(source.column)
    texts = (
        problem.severity.value,
        source.file,
        problem.message,
        problem.hint,
        problem.excerpt,
        problem.code,
    )
    writer.texts(texts)


def _read_problem(reader: ByteReader) -> Problem:
    line, column = reader.number(), reader.number()
    texts = reader.texts()
    if len(texts) != 6 or texts[0] not in set(Severity):
        raise DamagedDataError("invalid problem")
    severity, file, message, hint, excerpt, code = texts
    return Problem(Severity(severity), Source(file, line, column), message, hint, excerpt, code)
