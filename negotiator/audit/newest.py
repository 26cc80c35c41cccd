"""Reads an audit log from its end: the newest records that a query accepts, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.activity import advance
from negotiator.audit.chain import record_head
from negotiator.audit.errors import AuditError, naming
from negotiator.audit.search import AuditQuery, log_files, parse_record
from negotiator.audit.values import instant

if TYPE_CHECKING:
    from pathlib import Path

    from negotiator.audit.values import Record

#: Bytes of a log that one page is searched in.
MOST_BYTES: Final = 256 * 2**20

_BLOCK: Final = 2**20
_NUMBER: Final = re.compile(rb'\{"seq":([1-9][0-9]{0,17}),')
#: Records with the time of what they are about, which may be earlier.
_EARLIER: Final = b"queue_change"


@attrs.frozen
class AuditPage:
    """Some of the records that a query accepts, the newest first.

    ``before`` is what the query of the next page has as ``before``; None if there are no earlier records. ``searched`` is False if the page
    ended because it had been searched in ``MOST_BYTES``: then a later page may have further records, even if this one has none.
    """

    records: tuple[Record, ...]
    before: int | None
    searched: bool


def newest_records(folder: Path, query: AuditQuery, limit: int, most_bytes: int = MOST_BYTES) -> AuditPage:
    """Return the newest records that a query accepts, at most ``limit``; the chain is not verified.

    Records are appended in the order of their times, so nothing is read before the first one older than ``since``. A last line that is
    being written is left out.

    :param most_bytes: how much of the log is read at most.
    :raises AuditError: the log is missing or cannot be read, or a line is not a record.
    """
    files = log_files(folder)
    test = query.line_test()
    since = b"" if query.since is None else instant(query.since).encode()
    found: list[Record] = []
    last = size = 0
    for file, line in lines_from_end(files, query.before):
        if len(found) >= limit or size >= most_bytes:
            return AuditPage(tuple(found), last, searched=len(found) >= limit)
        size += len(line)
        number = _NUMBER.match(line)
        if number is None:
            raise AuditError(f"{file}: a line is not a record (see negotiator audit verify)")
        last = int(number[1])
        if query.before is not None and last >= query.before:
            continue
        if since and _is_older(line, since):
            break
        if test(line) and query.accepts(record := parse_record(file, line)):
            found.append(record)
    return AuditPage(tuple(found), None, searched=True)


def records_backwards(folder: Path, query: AuditQuery) -> Iterator[Record]:
    """Yield all records that a query accepts, the newest one first; the chain is not verified.

    :raises AuditError: the log is missing or cannot be read, or a line is not a record.
    """
    files = log_files(folder)
    test = query.line_test()
    since = b"" if query.since is None else instant(query.since).encode()
    kinds = frozenset(map(str.encode, query.kinds))
    for file, line in lines_from_end(files, query.before):
        if since and _is_older(line, since):
            return
        head = record_head(line)
        is_other = kinds and head is not None and head.kind not in kinds
        if not is_other and test(line) and query.accepts(record := parse_record(file, line)):
            yield record


def last_cycle(files: list[Path]) -> int:
    """Return the number of the last cycle that has records in the files of a log; 0 if none has."""
    heads = (record_head(line) for _, line in lines_from_end(files, None))
    return next((int(head.cycle) for head in heads if head is not None and head.cycle), 0)


def _is_older(line: bytes, since: bytes) -> bool:
    head = record_head(line)
    return head is not None and head.time < since and head.kind != _EARLIER


def lines_from_end(files: list[Path], before: int | None) -> Iterator[tuple[Path, bytes]]:
    """Yield the complete lines of a log from its end, without the files that begin with the record ``before`` or a later one."""
    for file in reversed(files):
        with naming(file, "read the audit log"):
            if before is None or _first_number(file) < before:
                yield from ((file, line) for line in _backwards(file))


def _first_number(file: Path) -> int:
    with file.open("rb") as stream:
        found = _NUMBER.match(stream.read(32))
        return int(found[1]) if found else 0


def _backwards(file: Path) -> Iterator[bytes]:
    """Yield the lines of a file that have a line end, without it, the last one first."""
    with file.open("rb") as stream:
        end, rest, torn = stream.seek(0, 2), b"", True
        while end:
            start = max(0, end - _BLOCK)
            stream.seek(start)
            advance(end - start)
            first, *lines = (stream.read(end - start) + rest).split(b"\n")
            if torn and lines:
                lines.pop()  # what follows the last line end
                torn = False
            yield from reversed(lines)
            end, rest = start, first
        if not torn:
            yield rest
