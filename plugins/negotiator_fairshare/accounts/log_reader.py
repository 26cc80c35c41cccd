"""Import ``Accountantnew.log``, the accounts of condor_negotiator; a damaged row is set aside, the others are read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import attrs

from negotiator.plugin import PoolError, Problem, Severity, open_regular, parse, printable
from negotiator_fairshare.accounts.account import AccountRecord, ResourceRecord
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.attributes import canonical, record_of
from negotiator_fairshare.accounts.log_records import MAX_LINE, LoggedAd, LogTable, numbered_lines
from negotiator_fairshare.accounts.rows import check_name, check_others, checked_text

CUSTOMER, RESOURCE, STAMP = "Customer.", "Resource.", "Accountant."
MAX_BYTES = 100_000_000

_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_MAX_DIGITS = 400  # more than the largest number has
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SET_ASIDE = "set aside; correct the line, or set the values again"


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
