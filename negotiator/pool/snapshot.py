"""The pool at one moment: all its ads, as tables; and the same as bytes, in one canonical form.

The first line of that is ``negotiator-snapshot 2``. The counts, the problems and the tables follow (see ``table_codec``).
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.classad.tables import ByteReader, ByteWriter, DamagedDataError, read_rows, write_rows
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.limits import SnapshotFormatError
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Callable


#: The states of a job that has a slot: running, transferring its output, suspended (HTCondor manual, JobStatus).
_RUNNING = (2, 6, 7)
_VERSION: Final = b"negotiator-snapshot 2\n"
_KEPT_ROWS: Final = 20_000
"""Rows of a table whose bytes are kept as long as the table."""


def _frozen(table: Table) -> Table:
    return table.frozen()


def has_slot(jobs: Table) -> NDArray[np.bool_]:
    """Return which jobs of a table have a slot, (N,)."""
    return np.isin(jobs.numbers("JobStatus", default=0.0), _RUNNING)


@attrs.frozen
class Snapshot:
    """The ads of a pool, one frozen table for each kind, without their secrets (claim ids, capabilities).

    ``claim_ids`` is how many claim ids each slot has, (S,); None if it is not known.
    ``private`` and ``other`` count ads that take no part: private ads, and ads of kinds that the negotiator does not
    use (master, collector, accounting, ...). ``problems`` lists every ad that was set aside, and why;
    ``unread`` has those of files that could not be read to their end, and is not encoded.
    """

    schedds: Table = attrs.field(converter=_frozen)
    submitters: Table = attrs.field(converter=_frozen)
    slots: Table = attrs.field(converter=_frozen)
    jobs: Table = attrs.field(converter=_frozen)
    private: int = 0
    other: int = 0
    problems: tuple[Problem, ...] = ()
    claim_ids: tuple[int, ...] | None = None
    unread: tuple[Problem, ...] = attrs.field(default=(), eq=False)

    @cached_property
    def running(self) -> Table:
        """The jobs that have a slot."""
        return self.jobs.take(has_slot(self.jobs))

    def is_same(self, other: Snapshot) -> bool:
        """True if another snapshot has the same tables, not only equal ones, and the same counts and problems."""
        return all(
            one is two or not (len(one) or len(two))
            for one, two in (
                (self.schedds, other.schedds),
                (self.submitters, other.submitters),
                (self.slots, other.slots),
                (self.jobs, other.jobs),
            )
        ) and (self.private, self.other, self.problems, self.claim_ids, self.unread) == (
            other.private,
            other.other,
            other.problems,
            other.claim_ids,
            other.unread,
        )

    def encode(self) -> bytes:
        """Return the snapshot as bytes of one canonical form.

        The same ads in the same order, with the same counts and problems, give the same bytes.
        """
        chunks: list[bytes] = []
        write_snapshot(self._parts(), chunks.append)
        return b"".join(chunks)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the encoded snapshot, in hexadecimal."""
        hashed = hashlib.sha256()
        write_snapshot(self._parts(), hashed.update)
        return hashed.hexdigest()

    @classmethod
    def decode(cls, data: bytes) -> Snapshot:
        """Return the snapshot that was encoded: the same ads, with names, order and expressions as they were.

        :raises SnapshotFormatError: the bytes are damaged, or of another version. They are never executed.
        """
        parts = read_snapshot(data)
        return cls(*parts.tables, parts.private, parts.other, parts.problems, parts.claim_ids)

    def _parts(self) -> SnapshotParts:
        tables = (self.schedds, self.submitters, self.slots, self.jobs)
        return SnapshotParts(tables, self.private, self.other, self.problems, self.claim_ids)


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
