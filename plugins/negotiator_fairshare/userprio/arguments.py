"""The command line of condor_userprio: what to show, or the one change to make.

Source: condor_userprio 25.14.1. Its options are long words after one hyphen, and may be abbreviated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, tzinfo

import attrs

from negotiator.plugin import AccountChangeKind, Expr, InvalidCallError, NegotiatorError, parse
from negotiator_fairshare.accounts.changes import AccountChange
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.userprio.autoformat import AutoFormat
from negotiator_fairshare.userprio.columns import ColumnSet
from negotiator_fairshare.userprio.report import UserprioReport
from negotiator_fairshare.userprio.selection import constrained, rolled_up, with_names
from negotiator_fairshare.userprio.table import UserprioView

DAY = 86_400

#: The options in the order in which HTCondor compares them, with their least abbreviation and number of operands.
_OPTIONS = (
    ("setprio", 1, 2),
    ("setfactor", 1, 2),
    ("setfloor", 1, 2),
    ("setceiling", 1, 2),
    ("duration", 1, 1),
    ("cancelceilinglease", 1, 1),
    ("cancelfloorlease", 1, 1),
    ("cancelfactorlease", 1, 1),
    ("setbegin", 1, 2),
    ("setaccum", 1, 2),
    ("setlast", 1, 2),
    ("resetusage", 1, 1),
    ("delete", 3, 1),
    ("resetall", 1, 0),
    ("long", 1, 0),
    ("constraint", 1, 1),
    ("legacy", 3, 0),
    ("modular", 3, 0),
    ("hierarchical", 2, 0),
    ("flat", 2, 0),
    ("grouprollup", 1, 0),
    ("grouporder", 1, 0),
    ("quotas", 1, 0),
    ("surplus", 1, 0),
    ("sortkey", 2, 0),
    ("all", 1, 0),
    ("most", 2, 0),
    ("groupid", 1, 0),
    ("order", 1, 0),
    ("activefrom", 1, 3),
    ("allusers", 1, 0),
    ("usage", 2, 0),
    ("priority", 4, 0),
    ("getreslist", 6, 1),
)
#: Options of condor_userprio that name a daemon or format ads.
_OTHERS = frozenset(
    [
        "name",
        "pool",
        "debug",
        "inputfile",
        "collector",
        "negotiator",
    ]
)
_COLUMNS = {
    "quotas": ColumnSet.QUOTAS,
    "surplus": ColumnSet.SURPLUS,
    "sortkey": ColumnSet.SORT_KEY,
    "all": ColumnSet.ALL,
    "most": ColumnSet.MOST,
    "groupid": ColumnSet.GROUP_ID,
    "order": ColumnSet.GROUP_ORDER,
    "usage": ColumnSet.USAGE,
    "priority": ColumnSet.PRIORITIES,
}
_CONSTRAINT = "constraint"
_RESOURCES = "getreslist"
_AUTOFORMAT = "autoformat"
_AUTOFORMAT_WORD = re.compile(r"-{1,2}(?:af|autof(?:o(?:r(?:m(?:a(?:t)?)?)?)?)?)(?::(.*))?", re.DOTALL)
_CHANGES = {str(kind): kind for kind in AccountChangeKind}


@attrs.frozen(kw_only=True)
class UserprioArguments:
    """What to show, unless ``change`` is the change to make.

    ``resources_of`` is the full name of the submitter whose slots are to be shown, and nothing else.
    ``names`` are submitters, full (``user@domain``) or by user alone; none means all. ``long`` shows ads, one for each
    entry if ``modular``; ``autoformat`` shows lines of expressions instead. Entries are shown if all ``constraints`` are
    true for their ads. With ``rollup``, groups have the sums of the groups below them.
    """

    view: UserprioView = attrs.field(factory=UserprioView)
    long: bool = False
    modular: bool = False
    autoformat: AutoFormat | None = None
    constraints: tuple[Expr, ...] = ()
    rollup: bool = False
    names: tuple[str, ...] = ()
    change: AccountChange | None = None
    resources_of: str = ""

    def selected(self, report: UserprioReport) -> UserprioReport:
        """Return the report with the entries that are to be shown."""
        if self.rollup:
            report = rolled_up(report)
        return constrained(with_names(report, self.names), self.constraints)


@attrs.define
class _ReadWords:
    """The words of a command line: the options with their operands, the last ones of each, and all that may be repeated."""

    options: dict[str, list[str]] = attrs.field(factory=dict)
    names: list[str] = attrs.field(factory=list)
    constraints: list[Expr] = attrs.field(factory=list)
    autoformat: AutoFormat | None = None

    def add(self, option: str, operands: list[str]) -> None:
        """Add an option; without an option, names."""
        if not option:
            self.names += operands
            return
        self.options[option] = operands
        if option == _CONSTRAINT:
            self.constraints.append(_constraint(operands[0]))
        elif option == _AUTOFORMAT:
            letters, *expressions = operands
            self.autoformat = AutoFormat.of(letters, expressions).appended_to(self.autoformat)


def read_arguments(words: Sequence[str], now: int, zone: tzinfo | None = UTC) -> UserprioArguments:
    """Read the words of a command line.

    :param now: the current time, in seconds since the epoch; entries not used for a day are not shown by default.
    :param zone: of dates; None is the local one.
    :raises InvalidCallError: an option is unknown, or lacks an operand, or contradicts another one.
    """
    read = _ReadWords()
    for option, operands in _split(words):
        read.add(option, operands)
    given, names = read.options, read.names
    changes = [option for option in given if option in _CHANGES]
    if len(changes) > 1:
        raise InvalidCallError(f"-{changes[0]} and -{changes[1]}: make one change at a time")
    if changes:
        return UserprioArguments(change=_change(changes[0], given, names))
    if _RESOURCES in given:
        return UserprioArguments(view=UserprioView(zone=zone), resources_of=_resources_of(given, names))
    if "duration" in given:
        raise InvalidCallError("-duration is the time of a lease: add -setfactor, -setceiling or -setfloor")
    return UserprioArguments(
        view=_view(given, -1 if names or "allusers" in given else _active_since(given, now, zone), zone),
        long="long" in given,
        modular="modular" in given,
        autoformat=read.autoformat,
        constraints=tuple(read.constraints),
        rollup="grouprollup" in given,
        names=tuple(names),
    )


def _view(given: Collection[str], active_since: int, zone: tzinfo | None) -> UserprioView:
    flat = "flat" in given or "grouporder" in given
    if "hierarchical" in given and flat:
        other = "flat" if "flat" in given else "grouporder"
        raise InvalidCallError(f"-hierarchical and -{other} contradict each other")
    columns = ColumnSet(0)
    for option in given:
        columns |= _COLUMNS.get(option, ColumnSet(0))
    return UserprioView(
        columns=columns or ColumnSet.MOST,
        active_since=active_since,
        hierarchical=True if "hierarchical" in given else False if flat else None,
        groups_first="grouporder" in given,
        keeps_quotas="quotas" in given or "surplus" in given,
        zone=zone,
    )


def _split(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Iterate over the options with their operands; names have an empty option."""
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            if not word[:1].isalpha() and word != ROOT_GROUP:
                raise InvalidCallError(f"invalid name {word!r}: the name of a submitter begins with a letter")
            yield "", [word]
            continue
        if (formatted := _AUTOFORMAT_WORD.fullmatch(word)) is not None:
            count = next((place for place, each in enumerate(left) if each.startswith("-")), len(left))
            if not count:
                raise InvalidCallError(f"{word} needs at least one attribute or expression")
            yield _AUTOFORMAT, [formatted[1] or "", *left[:count]]
            left = left[count:]
            continue
        option, count = _option(word)
        if len(left) < count:
            raise InvalidCallError(f"-{option} needs {count} operand{'s' * (count > 1)}")
        yield option, left[:count]
        left = left[count:]


def _option(word: str) -> tuple[str, int]:
    exact = word.startswith("--")
    text = word.lstrip("-")
    for name, least, count in _OPTIONS:
        if text == name or (not exact and len(text) >= least and name.startswith(text)):
            return name, count
    if text.partition(":")[0] in _OTHERS:
        raise InvalidCallError(
            f"{word} is not supported: write the ads with -long, and use it with condor_userprio -inputfile"
        )
    known = ", ".join([*(f"-{name}" for name, _least, _count in _OPTIONS), "-autoformat"])
    raise InvalidCallError(f"unknown option {word!r}: there are {known}")


def _constraint(text: str) -> Expr:
    try:
        return parse(text)
    except NegotiatorError as error:
        raise InvalidCallError(f"-constraint: invalid expression {text!r}: {error}") from error


def _change(option: str, given: dict[str, list[str]], names: Sequence[str]) -> AccountChange:
    if extra := [each for each in given if each not in {option, "duration"}] or list(names):
        raise InvalidCallError(f"-{option} makes a change and shows nothing: remove {extra[0]}")
    name, *value = [*given[option], ""] if option == "resetall" else given[option]
    if name and option != "resetall":
        _full_name(option, name)
    try:
        number = _number(value[0]) if value else None
        duration = _seconds(given["duration"][0]) if "duration" in given else 0
        return AccountChange(_CHANGES[option], name, number, duration)
    except ValueError as error:
        raise InvalidCallError(str(error)) from error


def _resources_of(given: dict[str, list[str]], names: Sequence[str]) -> str:
    (name,) = given[_RESOURCES]
    if extra := [f"-{each}" for each in given if each != _RESOURCES] or list(names):
        raise InvalidCallError(f"-{_RESOURCES} shows the slots of one submitter: remove {extra[0]}")
    return _full_name(_RESOURCES, name)


def _full_name(option: str, name: str) -> str:
    if "@" not in name:
        raise InvalidCallError(f"-{option} needs the full name of a submitter, user@domain, not {name!r}")
    return name


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number")
    return value


def _seconds(text: str) -> int:
    value = _number(text)
    if value <= 0 or value != int(value):
        raise ValueError("-duration needs a positive number of seconds")
    return int(value)


def _active_since(given: dict[str, list[str]], now: int, zone: tzinfo | None) -> int:
    if "activefrom" not in given:
        return now - DAY
    try:
        month, day, year = map(int, given["activefrom"])
        year += 2000 if year < 50 else 1900 if year < 100 else 0
        moment = datetime(year, month, day, tzinfo=zone) if zone else datetime(year, month, day).astimezone()
        return int(moment.timestamp())
    except (ValueError, OverflowError) as error:
        raise InvalidCallError(f"-activefrom needs month, day and year: {error}") from error
