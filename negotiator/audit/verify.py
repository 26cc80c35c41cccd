"""Verify an audit log: all files are read once, in order, a line at a time, and the stored bundles after them."""

from __future__ import annotations

import enum
import itertools
import json
from typing import TYPE_CHECKING

import attrs

from negotiator.activity import activity, advance
from negotiator.audit import chain
from negotiator.audit.bundles import AlteredBundleError, NoBundleError, read_bundle
from negotiator.audit.chain import START, ChainLink, LogLine, Seal, bundles_of
from negotiator.audit.errors import AuditError, naming
from negotiator.audit.folder import chain_files, log_bytes
from negotiator.audit.newest import mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path


class FaultKind(enum.StrEnum):
    """The kind of a fault of a record, or of the copy of a bundle."""

    CHANGED = "changed"
    REMOVED = "removed"
    INSERTED = "inserted"
    REORDERED = "reordered"
    TORN = "torn"  # the log ends in a line without an end
    KEY = "key"  # sealed with another key, or without the one that was given
    CUT_OFF = "cut off"  # by the head stored elsewhere: the end is missing
    REWRITTEN = "rewritten"  # by the head stored elsewhere: this record or an earlier one is another one
    BUNDLE = "bundle"  # the stored copy of the bundle that the record names was changed


@attrs.frozen
class Fault:
    """The first record that was changed; ``seq`` is the number of the record expected in this line."""

    file: str
    line: int
    seq: int
    kind: FaultKind
    message: str


@attrs.frozen
class Verification:
    """How many records verified in how many files, the head of these, the first fault, and warnings.

    ``bundles`` counts the bundles that the records name. Each without a stored copy is a warning.
    """

    records: int
    files: int
    head: str
    fault: Fault | None = None
    bundles: int = 0
    warnings: tuple[str, ...] = ()


@attrs.frozen
class _RecordPosition:
    file: str
    line: int
    seq: int


@attrs.frozen
class LineOfLog:
    """A line of a log: the name of its file, its number from 1, its bytes."""

    file: str
    number: int
    raw: bytes


def verify(path: Path, *, key: bytes | None = None, head: str | None = None) -> Verification:
    """Verify the audit log in the folder ``path``, and the copies of the bundles that it names.

    :param head: ``SEQ:HASH`` of some record, stored elsewhere. Without it a log whose end was cut off verifies; with
        neither head nor key, so does one that was rewritten as a whole.
    :raises AuditError: the log is missing or cannot be read, or it is keyed and no key was given.
    :raises ValueError: ``head`` is invalid.
    """
    expected = START if head is None else ChainLink.parse(head)
    files = chain_files(path)
    if not files:
        raise AuditError(f"{path}: no audit log in this folder")
    walk = ChainWalk(Seal(key), expected)
    bundles: dict[str, _RecordPosition] = {}  # by digest: the first record that names it
    walk.visit = lambda entry: _note_bundles(bundles, walk.place, entry)
    with activity("verifying the audit log", log_bytes(files)):
        fault = walk.through(lines_of(files))
    if not fault and walk.last.seq < expected.seq:
        message = f"the log ends with record {walk.last.seq}, but record {expected.seq} was written: the end is cut off"
        file, number = (walk.place.file, walk.place.number) if walk.place else (files[-1].name, 0)
        fault = Fault(file, number, walk.last.seq + 1, FaultKind.CUT_OFF, message)
    altered, warnings = _check_bundles(path, bundles)
    return Verification(
        walk.last.seq, len(files), str(walk.last), fault or altered, len(bundles), tuple(warnings)
    )


def _note_bundles(bundles: dict[str, _RecordPosition], line: LineOfLog | None, entry: LogLine) -> None:
    if line:
        for digest in bundles_of(entry):
            bundles.setdefault(digest, _RecordPosition(line.file, line.number, entry.seq))


def _check_bundles(path: Path, named: Mapping[str, _RecordPosition]) -> tuple[Fault | None, list[str]]:
    """Return the first bundle whose copy was changed, and a warning for each without a copy."""
    altered, warnings = None, []
    for digest, place in named.items():
        try:
            read_bundle(path, digest)
        except NoBundleError:
            warnings.append(f"record {place.seq} names bundle {digest}, of which no copy is stored")
        except AlteredBundleError as error:
            message = f"record {place.seq} names a bundle whose copy was changed: {error}"
            altered = altered or Fault(place.file, place.line, place.seq, FaultKind.BUNDLE, message)
    return altered, warnings


def lines_of(files: Iterable[Path]) -> Iterator[LineOfLog]:
    """Yield the lines of files, the first ``MAX_LINE + 1`` bytes of each."""
    for file in files:
        with naming(file, "read the audit log"), file.open("rb") as stream:
            for number in itertools.count(1):
                raw = stream.readline(chain.MAX_LINE + 1)
                if not raw:
                    break
                advance(len(raw))
                yield LineOfLog(file.name, number, raw)


class ChainWalk:
    """The state of one pass: the last record that verified, and its line. ``visit`` is called with each that does."""

    def __init__(self, seal: Seal, expected: ChainLink) -> None:
        self._seal = seal
        self._expected = expected
        self.last = START
        self.place: LineOfLog | None = None
        self.visit: Callable[[LogLine], None] = lambda _: None

    def through(self, lines: Iterator[LineOfLog]) -> Fault | None:
        """Verify the lines after the last record; return the first fault, None if there is none."""
        for line in lines:
            entry = chain.read(line.raw)
            fault = self._sealed(line, entry) if entry else self._unreadable(line)
            if entry and not fault:
                fault = self._linked(line, entry, lines)
            if fault:
                return fault
            if entry:
                self.last, self.place = entry.link, line
                self.visit(entry)
        return None

    def _fault(self, line: LineOfLog, kind: FaultKind, message: str, seq: int | None = None) -> Fault:
        return Fault(line.file, line.number, self.last.seq + 1 if seq is None else seq, kind, message)

    def _unreadable(self, line: LineOfLog) -> Fault:
        seq = self.last.seq + 1
        if not line.raw.endswith(b"\n") and len(line.raw) <= chain.MAX_LINE:
            message = (
                f"record {seq} has no end: a write was interrupted (the negotiator repairs that when it starts) or is in "
                "progress (try again), or the record was cut"
            )
            return self._fault(line, FaultKind.TORN, message)
        fault = "it does not have the form of a record" if _is_json(line.raw) else "it is not JSON"
        return self._fault(line, FaultKind.CHANGED, f"record {seq} was changed: {fault}")

    def _sealed(self, line: LineOfLog, entry: LogLine) -> Fault | None:
        seq = self.last.seq + 1
        if entry.keyed != self._seal.id:
            if self._seal.id is None and self.last is START:
                raise AuditError(f"{line.file}: {mismatch(entry.keyed, self._seal)}: it cannot be verified")
            return self._fault(line, FaultKind.KEY, f"record {seq}: {mismatch(entry.keyed, self._seal)}")
        if entry.hash != self._seal.of(entry.body):
            message = f"record {seq} was changed: its hash does not fit its content"
            return self._fault(line, FaultKind.CHANGED, message)
        return None

    def _linked(self, line: LineOfLog, entry: LogLine, rest: Iterator[LineOfLog]) -> Fault | None:
        seq = self.last.seq + 1
        if entry.seq > seq:
            return self._gap(line, entry, rest)
        if entry.seq < seq:
            position = (
                "a copy of the record above" if entry.link == self.last else "a number that was there already"
            )
            message = f"record {entry.seq} instead of record {seq}, {position}: inserted"
            return self._fault(line, FaultKind.INSERTED, message)
        if entry.prev != self.last.hash:
            return self._unlinked(line)
        if seq == self._expected.seq and entry.hash != self._expected.hash:
            message = (
                f"record {seq} does not fit the head stored elsewhere: it or an earlier record was rewritten"
            )
            return self._fault(line, FaultKind.REWRITTEN, message)
        return None

    def _unlinked(self, line: LineOfLog) -> Fault:
        """Return a fault of the record above: who changes a record can hash it again, but not the record after it."""
        if self.place is None:
            message = "record 1 was changed: it names another predecessor, but is the first"
            return self._fault(line, FaultKind.CHANGED, message)
        seq = self.last.seq
        message = f"record {seq} was changed and hashed again: record {seq + 1} names another predecessor"
        return self._fault(self.place, FaultKind.CHANGED, message, seq)

    def _gap(self, line: LineOfLog, entry: LogLine, rest: Iterator[LineOfLog]) -> Fault:
        seq = self.last.seq + 1
        for later in rest:
            found = chain.read(later.raw)
            if found and found.seq == seq and found.hash == self._seal.of(found.body):
                message = (
                    f"record {entry.seq} instead of record {seq}, which is at {later.file}:{later.number}"
                )
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
