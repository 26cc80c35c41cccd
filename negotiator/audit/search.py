"""Find the records of one job in an audit log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from negotiator.audit.errors import AuditError, naming
from negotiator.audit.folder import chain_files
from negotiator.cycle.job_ranges import parse_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from negotiator.audit.values import Record


def records_of_job(folder: Path, job: str) -> Iterator[Record]:
    """Yield the matches and denials of a job (``12.7``), or of any job of a cluster (``12``), in their order.

    :raises AuditError: the log is missing or cannot be read, or a line is not a record.
    """
    files = chain_files(folder)
    if not files:
        raise AuditError(f"{folder}: no audit log")
    for file in files:
        with naming(file, "read the audit log"), file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    record = json.loads(line)
                except ValueError:
                    raise AuditError(f"{file}:{number}: not a record (see negotiator audit verify)") from None
                if isinstance(record, dict) and _concerns(record, job):
                    yield record


def _concerns(record: Record, job: str) -> bool:
    match record.get("kind"):
        case "match":
            found = str(record.get("job"))
            return job in {found, found.partition(".")[0]}
        case "denial":
            # Records of earlier versions have the first job only.
            return parse_ranges([*record.get("job_ids", ()), str(record.get("first_job"))]).has(job)
    return False
