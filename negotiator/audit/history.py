"""Reads an audit log before it is continued: its first fault, and what it has about the state of a negotiator."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import dropwhile
from pathlib import Path
from typing import Any

import attrs

from negotiator.audit import chain
from negotiator.audit.chain import START, ChainLink, LogLine, Seal
from negotiator.audit.folder import chain_files
from negotiator.audit.newest import last_link, read_tail
from negotiator.audit.verify import ChainWalk, Fault, LineOfLog, lines_of

#: Status of a complete file: its size, the time of its last change in nanoseconds, its inode.
FileStatus = tuple[int, ...]


@attrs.define
class LogHistory:
    """The content of a log from some record on.

    ``matches`` has, for each cycle with a saved state, the number of its ``cycle`` record and the id of the last match
    until then (empty if there was none). ``outcomes`` has the cycles whose outcome was recorded.
    """

    last: ChainLink = START
    fault: Fault | None = None
    at_mark: ChainLink | None = None  # the record with the number of the mark; None if it was not read
    matches: dict[int, str] = attrs.field(factory=dict)
    cycles: dict[int, int] = attrs.field(factory=dict)  # number of the cycle, by that of its record
    outcomes: set[int] = attrs.field(factory=set)

    @property
    def last_match(self) -> str | None:
        """The id of the last match; None if no cycle with a saved state was read."""
        return next(reversed(self.matches.values()), None)

    def last_match_until(self, seq: int) -> str | None:
        """Return the id of the last match until a record; None if no cycle with a saved state was read before."""
        return next((name for at, name in reversed(self.matches.items()) if at <= seq), None)

    def cycles_after(self, seq: int) -> list[int]:
        """Return the numbers of the cycles with a saved state after a record."""
        return [self.cycles[at] for at in self.matches if at > seq]


def read_history(
    folder: Path, seal: Seal, mark: int, unchanged: Mapping[str, FileStatus] | None = None
) -> LogHistory:
    """Verify a log, and return its history; a fault that an administrator accepted is passed over.

    :param mark: the number of a record whose hash is wanted.
    :param unchanged: complete files that were verified before, by name, with their status; the first ones that still have
        this status are not read. With None, only the last file is read.
    :raises AuditError: it cannot be read.
    """
    files = chain_files(folder)
    first = max(0, len(files) - 1) if unchanged is None else _verified(files, unchanged)
    walk, history = ChainWalk(seal, START), LogHistory()
    if first:
        walk.last = last_link(files[first - 1], read_tail(files[first - 1]).line, seal)
    if walk.last.seq == mark:
        history.at_mark = walk.last
    walk.visit = lambda entry: _visit(history, entry, mark)
    history.fault = walk.through(lines_of(files[first:]))
    while history.fault and (rest := _after_recovery(lines_of(files), seal, history.fault, walk)):
        history.fault = walk.through(rest)
    history.last = walk.last
    return history


def complete_files(folder: Path) -> dict[str, FileStatus]:
    """Return the status of all files of a log but the last, which is still written."""
    return {file.name: _status(file) for file in chain_files(folder)[:-1]}


def _verified(files: list[Path], unchanged: Mapping[str, FileStatus]) -> int:
    """Return how many of the first files are unchanged; the last one is always read."""
    differs = (n for n, file in enumerate(files[:-1]) if unchanged.get(file.name) != _status(file))
    return next(differs, max(0, len(files) - 1))


def _status(file: Path) -> FileStatus:
    status = file.stat()
    return status.st_size, status.st_ctime_ns, status.st_ino


def _visit(history: LogHistory, entry: LogLine, mark: int) -> None:
    """Collect what a record has about the state. Only the kinds that have any are parsed."""
    if entry.seq == mark:
        history.at_mark = entry.link
    kind = chain.kind_of(entry)
    if kind not in {b"cycle", b"outcome"}:
        return
    record: dict[str, Any] = json.loads(entry.body)
    if kind == b"outcome":
        history.outcomes.add(record["cycle"])
    elif "last_match" in record:
        history.matches[entry.seq] = record["last_match"]
        history.cycles[entry.seq] = record["cycle"]


def _after_recovery(
    lines: Iterator[LineOfLog], seal: Seal, fault: Fault, walk: ChainWalk
) -> Iterator[LineOfLog] | None:
    """Continue a walk after the record by which an administrator accepted a fault; None if there is none."""
    at_fault = (fault.file, fault.line)
    after = dropwhile(lambda line: (line.file, line.number) != at_fault, lines)
    for line in after:
        entry = chain.read(line.raw)
        if not entry or chain.kind_of(entry) != b"recovery" or entry.hash != seal.of(entry.body):
            continue
        if json.loads(entry.body).get("fault") == fault_fields(fault):
            walk.last, walk.place = entry.link, line
            walk.visit(entry)
            return after
    return None


def fault_fields(fault: Fault | None) -> dict[str, Any] | None:
    """Return the fields by which a record of recovery names the fault that was accepted."""
    if fault is None:
        return None
    return {"file": fault.file, "line": fault.line, "seq": fault.seq, "kind": str(fault.kind)}
