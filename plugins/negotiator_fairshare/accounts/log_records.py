"""The records of HTCondor's ClassAd log: a table of ads by key, as a sequence of changes.

Each line has the number of an operation and its operands, separated by single spaces. ``Accountantnew.log`` has the ads
``Accountant.`` (the stamp), ``Customer.NAME`` (accounts) and ``Resource.NAME@ADDRESS`` (slots in use).

Source: HTCondor's classad_log, and files that condor_negotiator 25.14.1 wrote.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator

import attrs

from negotiator.plugin import Problem, Severity, Source

MAX_LINE = 100_000  # bytes
MAX_ADS = 1_000_000
MAX_PROBLEMS = 100

_OPERATION = re.compile(r"(10[1-7])(?: (.*))?", re.DOTALL)
_KEY = re.compile(r"[^\s\x00-\x1f\x7f]{1,1100}")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_UNREADABLE = "not a record of a ClassAd log"


class Operation(enum.Enum):
    """What a record does."""

    NEW = "101"
    DESTROY = "102"
    SET = "103"
    DELETE = "104"
    BEGIN = "105"
    END = "106"
    SEQUENCE = "107"


@attrs.frozen
class LogRecord:
    """One record: the key of an ad, an attribute and its text, as far as the operation has them."""

    operation: Operation
    line: int
    key: str = ""
    attribute: str = ""
    text: str = ""


@attrs.define
class LoggedAd:
    """An ad as the log leaves it: the texts and lines of its attributes, and the problem of a damaged record, if any."""

    line: int
    attributes: dict[str, tuple[str, int]] = attrs.field(factory=dict)
    damage: Problem | None = None


@attrs.define(eq=False)
class LogTable:
    """The ads of a log, replayed record by record.

    A damaged record damages the ad whose key it shows; other damage is a problem of the file alone. A transaction without
    an end is dropped if it is the last one, as HTCondor does; before another one its end is the damaged record.
    """

    file: str
    ads: dict[str, LoggedAd] = attrs.field(factory=dict)
    problems: list[Problem] = attrs.field(factory=list)
    more_problems: int = 0
    _open: list[LogRecord] | None = None
    _opened: int = 0

    def replay(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Apply the lines of a log, each with its number and without a limit on its contents."""
        for number, line in lines:
            record = self._record(number, line)
            if record is not None:
                self._take(record)
        if self._open is not None:
            self.report(
                self._opened, "the last transaction has no end: its changes are left out", Severity.WARNING
            )

    def report(self, line: int, message: str, severity: Severity = Severity.ERROR, hint: str = "") -> Problem:
        """Add a problem of a line, and return it; beyond 100 problems only their number is known."""
        problem = Problem(severity, Source(self.file, line), message, hint)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1
        return problem

    def _record(self, number: int, line: bytes) -> LogRecord | None:
        if len(line) > MAX_LINE:
            self.report(number, f"a line of more than {MAX_LINE} bytes is left out")
            return None
        if not line.endswith(b"\n"):
            self.report(number, "the last line has no end and is left out", Severity.WARNING)
            return None
        try:
            text = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            self.report(number, f"{_UNREADABLE}: not UTF-8")
            return None
        return self._parsed(number, text)

    def _parsed(self, number: int, text: str) -> LogRecord | None:
        found = _OPERATION.fullmatch(text)
        if found is None:
            self.report(number, _UNREADABLE)
            return None
        operation, operands = Operation(found[1]), found[2] or ""
        if operation in {Operation.BEGIN, Operation.END, Operation.SEQUENCE}:
            return LogRecord(operation, number)
        key, _space, rest = operands.partition(" ")
        if not _KEY.fullmatch(key):
            self.report(number, f"{_UNREADABLE}: its key is missing or invalid")
            return None
        if operation in {Operation.NEW, Operation.DESTROY}:
            return LogRecord(operation, number, key)
        attribute, _space, value = rest.partition(" ")
        value = value.strip(" ")
        if not _ATTRIBUTE.fullmatch(attribute) or (operation is Operation.SET and not value.isprintable()):
            self._damage(key, number, "its attribute is missing or invalid")
            return None
        if operation is Operation.SET and not value:
            self._damage(key, number, f"{attribute} has no value")
            return None
        return LogRecord(operation, number, key, attribute, value)

    def _take(self, record: LogRecord) -> None:
        if record.operation is Operation.BEGIN:
            if self._open is not None:
                self.report(
                    record.line, f"the transaction of line {self._opened} has no end: its changes are kept"
                )
                self._apply_all(self._open)
            self._open, self._opened = [], record.line
        elif record.operation is Operation.END:
            if self._open is None:
                self.report(record.line, "the end of a transaction that has no beginning", Severity.WARNING)
            self._apply_all(self._open or [])
            self._open = None
        elif self._open is not None:
            self._open.append(record)
        else:
            self._apply(record)

    def _apply_all(self, records: Iterable[LogRecord]) -> None:
        for record in records:
            self._apply(record)

    def _apply(self, record: LogRecord) -> None:
        if record.operation is Operation.DESTROY:
            self.ads.pop(record.key, None)
        elif record.operation is not Operation.SEQUENCE and (ad := self._ad(record.key, record.line)):
            if record.operation is Operation.SET:
                ad.attributes[record.attribute.lower()] = (f"{record.attribute} {record.text}", record.line)
            elif record.operation is Operation.DELETE:
                ad.attributes.pop(record.attribute.lower(), None)

    def _ad(self, key: str, line: int) -> LoggedAd | None:
        """Return the ad of a key, a new one if the record that made it was damaged; None beyond the most ads."""
        ad = self.ads.get(key)
        if ad is None and len(self.ads) >= MAX_ADS:
            self.report(line, f"more than {MAX_ADS} ads: further ones are left out")
        elif ad is None:
            ad = self.ads[key] = LoggedAd(line)
        return ad

    def _damage(self, key: str, line: int, what: str) -> None:
        problem = self.report(line, f"{_UNREADABLE}: {what}")
        if (ad := self._ad(key, line)) is not None:
            ad.damage = problem


def numbered_lines(read_line: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Number pieces of lines: a line that is too long for one piece is one item, of which the rest is left out."""
    number, unfinished = 1, False
    for piece in read_line:
        if not unfinished:
            yield number, piece
        unfinished = not piece.endswith(b"\n")
        number += not unfinished
