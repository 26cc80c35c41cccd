"""The pool at one moment: all its ads, as tables."""

from __future__ import annotations

import hashlib
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.pool.snapshot_codec import SnapshotParts, read_snapshot, write_snapshot
from negotiator.records import Problem

#: The states of a job that has a slot: running, transferring its output, suspended (HTCondor manual, JobStatus).
_RUNNING = (2, 6, 7)


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
