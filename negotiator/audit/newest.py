"""Reads an audit log from its end, without the rest: the newest records that a query accepts, a page at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.activity import advance
from negotiator.audit import chain
from negotiator.audit.chain import record_head
from negotiator.audit.errors import AuditError, naming
from negotiator.audit.search import AuditQuery, log_files, parse_record
from negotiator.audit.values import instant

if TYPE_CHECKING:
    from pathlib import Path

    from negotiator.audit.chain import ChainLink, Seal
    from negotiator.audit.values import Record


_FIRST_SPAN = 2**16
#: Bytes of a log that one page is searched in.
MOST_BYTES: Final = 256 * 2**20
_BLOCK: Final = 2**20
_NUMBER: Final = re.compile(rb'\{"seq":([1-9][0-9]{0,17}),')
#: Records with the time of what they are about, which may be earlier.
_EARLIER: Final = b"queue_change"


@attrs.frozen
class Tail:
    """The last complete line of a file with its line end (empty if there is none), and the bytes after it."""

    line: bytes
    torn: bytes


def read_tail(file: Path) -> Tail:
    """Return the last complete line and what follows it; read at most a few of the longest lines."""
    with naming(file, "read the audit log"), file.open("rb") as stream:
        size = stream.seek(0, 2)
        span = _FIRST_SPAN
        while True:
            start = stream.seek(max(0, size - span))
            data = stream.read()
            end = data.rfind(b"\n") + 1
            begin = data.rfind(b"\n", 0, max(0, end - 1)) + 1
            if start == 0 or begin:
                return Tail(data[begin:end], data[end:])
            if span > 2 * chain.MAX_LINE:
                raise AuditError(f"{file}: no record at the end (negotiator audit verify)")
            span *= 4


def last_link(file: Path, line: bytes, seal: Seal) -> ChainLink:
    """Verify the last complete line of a log, and return its link, for appending.

    :raises AuditError: it does not verify, or has another key.
    """
    entry = chain.read(line)
    if entry and entry.keyed != seal.id:
        raise AuditError(
            f"{file}: {mismatch(entry.keyed, seal)}; a chain has one key (or begin a new folder)"
        )
    if not entry or entry.hash != seal.of(entry.body):
        raise AuditError(
            f"{file}: the last record does not verify, so nothing is appended to it (negotiator audit verify; to begin a new "
            "log, move the folder away)"
        )
    return entry.link


def unfinished(file: Path, line: bytes) -> tuple[str, ...]:
    """Return a notice if the log ends with matches whose outcome was never recorded."""
    record = json.loads(line)
    lost = record["kind"] == "cycle" and record.get("matches")
    lost = lost or (record["kind"] == "outcome" and record.get("part") != record.get("parts"))
    if not lost:
        return ()
    message = (
        f"{file}: the outcome of cycle {record.get('cycle')} was never recorded, since the process ended before: "
        "it is unknown which of its matches were handed out"
    )
    return (message,)


def mismatch(keyed: str | None, seal: Seal) -> str:
    """Return how the key of a record differs from the given one."""
    if keyed is None:
        return "the log is not keyed, and a key was given"
    if seal.id is None:
        return f"the log is keyed (key {keyed}), and no key was given"
    return f"the log is keyed with another key ({keyed}) than the one given ({seal.id})"


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
