"""``Accountantnew.log``, the accounts of condor_negotiator: read and written as HTCondor's ClassAd log, a table of ads by key as a sequence of changes.

Each line has the number of an operation and its operands, separated by single spaces. The log has the ads
``Accountant.`` (the stamp), ``Customer.NAME`` (accounts) and ``Resource.NAME@ADDRESS`` (slots in use). A damaged row is set aside, the others
are read.

Source: HTCondor's classad_log, and files that condor_negotiator 25.14.1 wrote.
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import attrs

from negotiator.plugin import PoolError, Problem, Severity, Source, open_regular, parse, printable
from negotiator_fairshare.accounts.account import AccountRecord, ResourceRecord
from negotiator_fairshare.accounts.accounts import Accounts, canonical, numbers_of, record_of
from negotiator_fairshare.accounts.state_rows import check_name, check_others, checked_text

MAX_LINE = 100_000  # bytes
MAX_ADS = 1_000_000
MAX_PROBLEMS = 100

_OPERATION = re.compile(r"(10[1-7])(?: (.*))?", re.DOTALL)
_KEY = re.compile(r"[^\s\x00-\x1f\x7f]{1,1100}")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_UNREADABLE = "not a record of a ClassAd log"
CUSTOMER, RESOURCE, STAMP = "Customer.", "Resource.", "Accountant."
MAX_BYTES = 100_000_000
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_MAX_DIGITS = 400  # more than the largest number has
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SET_ASIDE = "set aside; correct the line, or set the values again"


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


@attrs.frozen
class ImportedAccounts:
    """The accounts of a log, and its problems; ``set_aside`` are the names of accounts with damaged rows."""

    accounts: Accounts
    problems: tuple[Problem, ...] = ()
    set_aside: tuple[str, ...] = ()


def read_log(path: Path) -> ImportedAccounts:
    """Read a log of accounts. Only its first 100 MB are read.

    :raises PoolError: the file cannot be read at all.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            return parse_log(file, printable(str(path)))
    except OSError as error:
        raise PoolError(f"{printable(str(path))}: the accounts can't be read: {error.strerror}") from error


def parse_log(file: BinaryIO, name: str) -> ImportedAccounts:
    """Read a log of accounts from an open file of a name."""
    table = LogTable(name)
    table.replay(numbered_lines(_pieces(file, table)))
    return _LogReader(table).imported()


def _pieces(file: BinaryIO, table: LogTable) -> Iterator[bytes]:
    left = MAX_BYTES
    while piece := file.readline(MAX_LINE + 1):
        left -= len(piece)
        if left < 0:
            table.report(0, f"longer than {MAX_BYTES} bytes: the rest is left out")
            return
        yield piece


@attrs.define(eq=False)
class _LogReader:
    table: LogTable
    set_aside: list[str] = attrs.field(factory=list)

    def imported(self) -> ImportedAccounts:
        records: dict[str, AccountRecord] = {}
        resources: dict[str, ResourceRecord] = {}
        stamp: LoggedAd | None = None
        for key, ad in self.table.ads.items():
            if key.startswith(CUSTOMER):
                self._add(key.removeprefix(CUSTOMER), ad, records)
            elif key.startswith(RESOURCE):
                self._add_resource(key.removeprefix(RESOURCE), ad, resources)
            elif key == STAMP:
                stamp = ad
            else:
                self.table.report(
                    ad.line, f"{key[:200]} is not the key of an account: left out", Severity.WARNING
                )
        last_update = self._last_update(stamp, records)
        accounts = Accounts(records=records, resources=resources, last_update=last_update)
        if self.table.more_problems:
            self.table.problems.append(
                Problem(
                    Severity.ERROR,
                    self.table.problems[-1].source,
                    f"{self.table.more_problems} more problems",
                )
            )
        return ImportedAccounts(accounts, tuple(self.table.problems), tuple(self.set_aside))

    def _add(self, name: str, ad: LoggedAd, records: dict[str, AccountRecord]) -> None:
        if ad.damage is not None:
            self.set_aside.append(name)
            return
        line = ad.line
        try:
            check_name(name)
            numbers: dict[str, object] = {}
            others: dict[str, str] = {}
            for attribute, text, line in _attributes(ad):  # noqa: B007 - the line is reported below
                if (known := canonical(attribute)) is not None:
                    numbers[known] = _number(known, text)
                else:
                    others[attribute] = checked_text(attribute, text)
                    parse(text)
            check_others(others)
            records[name] = record_of(numbers, others)
        except ValueError as error:
            self.table.report(line, f"account {name[:200]}: {error}", hint=_SET_ASIDE)
            self.set_aside.append(name)

    def _add_resource(self, key: str, ad: LoggedAd, resources: dict[str, ResourceRecord]) -> None:
        if ad.damage is not None:
            return
        texts = {attribute.lower(): (attribute, text) for attribute, text, _line in _attributes(ad)}
        try:
            resources[key] = ResourceRecord(
                user=_string("RemoteUser", texts.pop("remoteuser", ("", '""'))[1]),
                weight=float(_number("SlotWeight", texts.pop("slotweight", ("", "1"))[1])),
                start_time=int(_number("StartTime", texts.pop("starttime", ("", "0"))[1])),
                concurrency_limits=_string(
                    "MatchedConcurrencyLimits", texts.pop("matchedconcurrencylimits", ("", '""'))[1]
                ),
                others={attribute: checked_text(attribute, text) for attribute, text in texts.values()},
            )
        except ValueError as error:
            self.table.report(ad.line, f"slot {key[:200]}: {error}", hint="set aside; it is counted anew")

    def _last_update(self, stamp: LoggedAd | None, records: dict[str, AccountRecord]) -> int:
        """Return the stamp; if it is damaged, the last use of all accounts, since 0 would charge all time since 1970."""
        if stamp is not None and stamp.damage is None and "lastupdatetime" in stamp.attributes:
            text, line = stamp.attributes["lastupdatetime"]
            try:
                number = _number("LastUpdateTime", text.partition(" ")[2])
                return int(number)
            except ValueError as error:
                self.table.report(line, str(error))
        latest = max((record.last_usage for record in records.values()), default=0)
        if records:
            message = "no time of the last update: the last use of all accounts is taken"
            self.table.report(stamp.line if stamp else 0, message, Severity.WARNING)
        return latest


def _attributes(ad: LoggedAd) -> Iterator[tuple[str, str, int]]:
    """Iterate over the attributes of an ad: name, text and line."""
    for both, line in ad.attributes.values():
        attribute, _space, text = both.partition(" ")
        yield attribute, text, line


def _number(name: str, text: str) -> int | float:
    if len(text) > _MAX_DIGITS or not (found := _NUMBER.fullmatch(text)):
        raise ValueError(f"{name} must be a number")
    value = int(text) if found[1] is None and found[2] is None else float(text)
    if not -(2.0**62) <= value <= 2.0**62 and name in {"LastUpdateTime", "StartTime", "SlotWeight"}:
        raise ValueError(f"{name} is out of range")
    return value


def _string(name: str, text: str) -> str:
    found = _STRING.fullmatch(text)
    if found is None:
        raise ValueError(f"{name} must be a string")
    return re.sub(r"\\(.)", r"\1", found[1])


def log_text(accounts: Accounts, created: int) -> tuple[bytes, tuple[str, ...]]:
    """Return the log of accounts, UTF-8, and the names that it cannot contain: those with white space.

    :param created: the time of the file, in seconds since the epoch.
    """
    lines = [
        f"107 1 CreationTimestamp {created}",
        *_lines("Accountant.", {"LastUpdateTime": str(accounts.last_update)}),
    ]
    left_out = []
    for name, record in accounts.records.items():
        if fits(name):
            lines += _lines(f"Customer.{name}", _account(record))
        else:
            left_out.append(name)
    for key, resource in accounts.resources.items():
        if fits(key):
            lines += _lines(f"Resource.{key}", _resource(resource))
    return "".join(f"{line}\n" for line in lines).encode(), tuple(left_out)


def fits(name: str) -> bool:
    """Whether a name can be the key of an ad: the log separates its words by white space."""
    return bool(name) and name.isprintable() and not any(each.isspace() for each in name)


def number_text(value: float) -> str:
    """Return a number as the log has it: integers as such, all others with six decimals."""
    return str(value) if isinstance(value, int) else f"{value:.6f}"


def _lines(key: str, attributes: dict[str, str]) -> Iterator[str]:
    yield f"101 {key} * *"
    for name, text in attributes.items():
        yield f"103 {key} {name} {text}"


def _account(record: AccountRecord) -> dict[str, str]:
    return {name: number_text(value) for name, value in numbers_of(record).items()} | dict(record.others)


def _resource(record: ResourceRecord) -> dict[str, str]:
    texts = {"SlotWeight": f"{record.weight:.6f}", "StartTime": str(record.start_time)}
    if record.user:
        texts = {"RemoteUser": _quoted(record.user), **texts}
    if record.concurrency_limits:
        texts["MatchedConcurrencyLimits"] = _quoted(record.concurrency_limits)
    return texts | dict(record.others)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if each.isprintable() else "?" for each in escaped) + '"'
