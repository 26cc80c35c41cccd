"""Was an audit log changed? All files are read once, in order, a line at a time."""

from __future__ import annotations

import enum
import itertools
import json
from typing import TYPE_CHECKING

import attrs

from negotiator.audit import chain
from negotiator.audit.chain import START, ChainLink, LogLine, Seal
from negotiator.audit.errors import AuditError, naming
from negotiator.audit.folder import chain_files
from negotiator.audit.tail import mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class FaultKind(enum.StrEnum):
    """What was done to a record."""

    CHANGED = "changed"
    REMOVED = "removed"
    INSERTED = "inserted"
    REORDERED = "reordered"
    TORN = "torn"  # the log ends in a line without an end
    KEY = "key"  # sealed with another key, or without the one that was given
    CUT_OFF = "cut off"  # by the head kept elsewhere: the end is missing
    REWRITTEN = "rewritten"  # by the head kept elsewhere: this record or one before it is another one


@attrs.frozen
class Fault:
    """The first record that is not what was written: ``seq`` is the number of the record that should stand there."""

    file: str
    line: int
    seq: int
    kind: FaultKind
    message: str


@attrs.frozen
class Verification:
    """What was found: how many records verified in how many files, the last of them, and what is wrong after it."""

    records: int
    files: int
    head: str
    fault: Fault | None = None


@attrs.frozen
class _Line:
    file: str
    number: int
    raw: bytes


def verify(path: Path, *, key: bytes | None = None, head: str | None = None) -> Verification:
    """Verify the audit log in the folder ``path``.

    ``head`` is the ``SEQ:HASH`` of some record, kept elsewhere. Without it nobody can show that the end was cut off;
    with neither head nor key, nor that all of the log was rewritten.

    AuditError: there is no log, it cannot be read, or it is keyed and no key was given. ValueError: ``head`` is no
    head.
    """
    kept = START if head is None else ChainLink.parse(head)
    files = chain_files(path)
    if not files:
        raise AuditError(f"{path}: there is no audit log in this folder")
    walk = _Walk(Seal(key), kept)
    fault = walk.through(_lines(files))
    if not fault and walk.last.seq < kept.seq:
        message = (
            f"the log ends with record {walk.last.seq}, but record {kept.seq} was written: the end is cut off"
        )
        file, number = (walk.place.file, walk.place.number) if walk.place else (files[-1].name, 0)
        fault = Fault(file, number, walk.last.seq + 1, FaultKind.CUT_OFF, message)
    return Verification(walk.last.seq, len(files), str(walk.last), fault)


def _lines(files: Iterable[Path]) -> Iterator[_Line]:
    for file in files:
        with naming(file, "read the audit log"), file.open("rb") as stream:
            for number in itertools.count(1):
                raw = stream.readline(chain.MAX_LINE + 1)
                if not raw:
                    break
                yield _Line(file.name, number, raw)


class _Walk:
    """The state of one pass: the last record that verified, and the line it stands in."""

    def __init__(self, seal: Seal, kept: ChainLink) -> None:
        self._seal = seal
        self._kept = kept
        self.last = START
        self.place: _Line | None = None

    def through(self, lines: Iterator[_Line]) -> Fault | None:
        for line in lines:
            entry = chain.read(line.raw)
            fault = self._sealed(line, entry) if entry else self._unreadable(line)
            if entry and not fault:
                fault = self._linked(line, entry, lines)
            if fault:
                return fault
            if entry:
                self.last, self.place = entry.link, line
        return None

    def _fault(self, line: _Line, kind: FaultKind, message: str, seq: int | None = None) -> Fault:
        return Fault(line.file, line.number, self.last.seq + 1 if seq is None else seq, kind, message)

    def _unreadable(self, line: _Line) -> Fault:
        seq = self.last.seq + 1
        if not line.raw.endswith(b"\n") and len(line.raw) <= chain.MAX_LINE:
            message = (
                f"record {seq} has no end: a write was interrupted (the negotiator repairs that when it starts), "
                "is going on (try again), or the record was cut"
            )
            return self._fault(line, FaultKind.TORN, message)
        what = "is not in the form in which it was written" if _is_json(line.raw) else "is not JSON"
        return self._fault(line, FaultKind.CHANGED, f"record {seq} was changed: it {what}")

    def _sealed(self, line: _Line, entry: LogLine) -> Fault | None:
        seq = self.last.seq + 1
        if entry.keyed != self._seal.id:
            if self._seal.id is None and self.last is START:
                raise AuditError(f"{line.file}: {mismatch(entry.keyed, self._seal)}: it cannot be verified")
            return self._fault(line, FaultKind.KEY, f"record {seq}: {mismatch(entry.keyed, self._seal)}")
        if entry.hash != self._seal.of(entry.body):
            message = f"record {seq} was changed: its hash is not that of its content"
            return self._fault(line, FaultKind.CHANGED, message)
        return None

    def _linked(self, line: _Line, entry: LogLine, rest: Iterator[_Line]) -> Fault | None:
        seq = self.last.seq + 1
        if entry.seq > seq:
            return self._gap(line, entry, rest)
        if entry.seq < seq:
            what = (
                "is a copy of the record above"
                if entry.link == self.last
                else "is not the only one of this number"
            )
            message = f"record {entry.seq} stands where record {seq} should and {what}: inserted"
            return self._fault(line, FaultKind.INSERTED, message)
        if entry.prev != self.last.hash:
            return self._unlinked(line)
        if seq == self._kept.seq and entry.hash != self._kept.hash:
            message = f"record {seq} is not the one of the head kept elsewhere: it or a record before it was rewritten"
            return self._fault(line, FaultKind.REWRITTEN, message)
        return None

    def _unlinked(self, line: _Line) -> Fault:
        """Name the record above: whoever rewrites a record can seal it anew, but not the one that follows on it."""
        if self.place is None:
            message = "record 1 was changed: it follows on another record, and is the first"
            return self._fault(line, FaultKind.CHANGED, message)
        seq = self.last.seq
        message = f"record {seq} was changed and sealed anew: record {seq + 1} follows on another one"
        return self._fault(self.place, FaultKind.CHANGED, message, seq)

    def _gap(self, line: _Line, entry: LogLine, rest: Iterator[_Line]) -> Fault:
        seq = self.last.seq + 1
        for later in rest:
            found = chain.read(later.raw)
            if found and found.seq == seq and found.hash == self._seal.of(found.body):
                message = f"record {entry.seq} stands where record {seq} should, which is at {later.file}:{later.number}"
                return self._fault(line, FaultKind.REORDERED, message)
        records = f"record {seq} is" if entry.seq == seq + 1 else f"records {seq} to {entry.seq - 1} are"
        message = f"{records} missing before record {entry.seq}: removed"
        return self._fault(line, FaultKind.REMOVED, message)


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True
