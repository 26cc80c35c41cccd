"""Find records in an audit log: by kind, time, job, user, queue, slot, or text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from negotiator.audit.errors import AuditError, naming
from negotiator.audit.folder import chain_files
from negotiator.audit.values import instant

if TYPE_CHECKING:
    from pathlib import Path

    from negotiator.audit.values import Record


@attrs.frozen(kw_only=True)
class AuditQuery:
    """Which records are wanted: those with all of these properties; an empty one is any.

    ``job`` is the id of a job (``12.7``) or of a cluster (``12``) in matches and denials. ``schedd`` is the name of a schedd, in any case. ``user`` is who owns the jobs, or who requested a
    change; with ``@`` also a submitter. ``name`` is that of a slot, of a user or of a submitter, or of an ad that is an example of those set aside. ``queue`` and ``slot`` are complete names, ``text`` any part of a record (ASCII letters in any case). ``since``
    (included) and ``until`` (excluded) are in seconds since the epoch. ``before`` is a number of a record: earlier ones.
    """

    kinds: frozenset[str] = frozenset()
    job: str = ""
    schedd: str = ""
    user: str = ""
    queue: str = ""
    slot: str = ""
    name: str = ""
    text: str = ""
    since: float | None = None
    until: float | None = None
    before: int | None = None

    def accepts(self, record: Record) -> bool:
        """True if a record has all these properties; ``text`` is part of ``line_test``, ``before`` is the reader's."""
        return (
            (not self.kinds or record.get("kind") in self.kinds)
            and (not self.job or _concerns(record, self.job))
            and (not self.schedd or str(record.get("schedd")).lower() == self.schedd.lower())
            and (not self.user or self.user in (record.get("user"), record.get("submitter")))
            and (not self.name or self.name in _names(record))
            and (not self.queue or record.get("queue") == self.queue)
            and (not self.slot or record.get("slot") == self.slot)
            and (self.since is None or _time(record) >= instant(self.since))
            and (self.until is None or _time(record) < instant(self.until))
        )

    def line_test(self) -> Callable[[bytes], bool]:
        """Return a quick test of the bytes of a line: False only for records that are not accepted."""
        needles = [b'"' + escaped(self.job.partition(".")[0]) + b"."] if self.job else []
        needles += [
            b'"' + escaped(name) + b'"' for name in (self.user, self.queue, self.slot, self.name) if name
        ]
        text = escaped(self.text).lower()

        def test(line: bytes) -> bool:
            return all(needle in line for needle in needles) and (not text or text in line.lower())

        return test


def records_in_order(folder: Path, queries: Iterable[AuditQuery]) -> Iterator[Record]:
    """Yield the records of a whole log that one of the queries accepts, the oldest one first; the chain is not verified.

    :raises AuditError: the log is missing or cannot be read, or a line is not a record.
    """
    files = log_files(folder)
    tests = [(query.line_test(), query.accepts) for query in queries]
    for file in files:
        with naming(file, "read the audit log"), file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                record = parsed(line)
                if record is None:
                    raise AuditError(f"{file}:{number}: not a record (see negotiator audit verify)")
                if any(test(line) and accepts(record) for test, accepts in tests):
                    yield record


def log_files(folder: Path) -> list[Path]:
    """Return the files of a log in the order in which they were written.

    :raises AuditError: the log is missing or cannot be read.
    """
    files = chain_files(folder)
    if not files:
        raise AuditError(f"{folder}: no audit log")
    return files


def parse_record(file: Path, line: bytes) -> Record:
    """Return the record of a line of a file.

    :raises AuditError: it is not a record.
    """
    found = parsed(line)
    if found is None:
        raise AuditError(f"{file}: a line is not a record (see negotiator audit verify)")
    return found


def parsed(line: bytes) -> Record | None:
    """Return the record of a line, an empty one if it is JSON but no object; None if it is not JSON."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else {}


def _concerns(record: Record, job: str) -> bool:
    match record.get("kind"):
        case "match":
            found = str(record.get("job"))
            return job in {found, found.partition(".")[0]}
        case "denial":
            # Records of earlier versions have the first job only.
            from negotiator.cycle.jobs import parse_ranges  # noqa: PLC0415 - imports NumPy

            return parse_ranges([*record.get("job_ids", ()), str(record.get("first_job"))]).has(job)
    return False


def _names(record: Record) -> Iterator[object]:
    yield from map(record.get, ("slot", "user", "submitter"))
    yield from record.get("examples") or ()


def _time(record: Record) -> str:
    """Return when a record was made; times of one form, in UTC, are ordered as texts."""
    return str(record.get("time", ""))


def escaped(text: str) -> bytes:
    """Return a text as the lines of a log have it, without the quotes around it."""
    return json.dumps(text)[1:-1].encode("ascii")
