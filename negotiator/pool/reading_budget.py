"""What reading the ads of one user or host may cost, so that nobody's ads take the room or the time of others.

An attribute name that no ad had before takes memory for the rest of the cycle, as does a value; an expression takes time
to parse. Each ad has a free allowance, about what a plain ad needs. What exceeds it is charged to the user who submitted
the ad, or to the host that sent it. An ad that its owner's budget has no room for is set aside before it is parsed: its owner, and
the cost of its lines in long form, are found without parsing.
All figures are counts of names and characters, so the same files give the same ads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs

from negotiator.classad import UNDEFINED, Ad, ParseError
from negotiator.classad.syntax import Literal, fold, parse_old
from negotiator.pool.ad_kind import PoolAdKind, ad_kind, alike_kinds, string_value
from negotiator.pool.limits import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad import Expr
    from negotiator.classad.tables import AdDictionary, AlikeRows, Row


_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.DOTALL)
_LONGEST_MARK: Final = 2048
VALUE_BYTES: Final = 64
"""Overhead of a stored value."""
PLAIN_ATTRIBUTES: Final = 500
"""Attributes of an ad that cost nothing but their values; a partitionable slot of a big site has about as many."""
CELL_BYTES: Final = 16
"""Memory of a further attribute of one ad."""
LAYOUT_BYTES: Final = 100
"""Memory of a further attribute of a sequence of names that no ad had before."""
BUDGET_HINT: Final = "other users' and hosts' ads are read; see docs/security.md"
OWNER_MARKS: Final = frozenset(
    {
        "mytype",
        "owner",
        "user",
        "name",
        "machine",
        "schedname",
        "scheddname",
        "clusterid",
        "procid",
        "jobuniverse",
    }
    | {"globaljobid", "jobstatus", "qdate", "state", "activity", "slotid", "cpus", "totalslots", "slottype"}
    | {"idlejobs", "runningjobs", "totalidlejobs", "totalrunningjobs", "requirements", "memory", "start"}
    | {"epochadtype"}
)
"""The attributes that ``owner_of`` reads, in lower case."""
OWNER_VALUES: Final = frozenset({"mytype", "epochadtype", "procid", "owner", "user", "name", "machine"})
"""Those of them whose values matter; of the others only the presence does."""
_OF_USERS: Final = frozenset({PoolAdKind.JOB, PoolAdKind.SUBMITTER})


def cost_of_lines(lines: Iterable[str], dictionary: AdDictionary) -> AdCost:
    """Return the cost of lines of one ad: those that are remembered, or too long to be parsed, cost nothing."""
    names: set[str] = set()
    stored = parsed = 0
    for line in lines:
        if len(line) > MAX_LINE or dictionary.remembers(line):
            continue
        name, _, right = line.partition("=")
        name, text = name.strip(), right.strip()
        if dictionary.is_new_name(name):
            names.add(name)
        stored += VALUE_BYTES + width(line)
        if not _STRING.fullmatch(text) and not dictionary.is_parsed(text):
            parsed += len(text)
    return AdCost(len(names), stored, parsed)


def cost_of_row(row: Row, dictionary: AdDictionary) -> AdCost:
    """Return the cost of an ad's attributes beyond those of a plain ad."""
    many = max(0, len(row) - PLAIN_ATTRIBUTES)
    if not many:
        return AdCost()
    return AdCost(text=many * (CELL_BYTES if dictionary.has_layout(row) else CELL_BYTES + LAYOUT_BYTES))


def width(text: str) -> int:
    """Return the bytes that a text takes in memory, at most."""
    return len(text) if text.isascii() else 4 * len(text)


def owner_of_lines(row: Row, lines: Iterable[str], dictionary: AdDictionary, file: str) -> AdOwner:
    """Return who is charged for an ad, given the cells of some of its lines and the text of the others."""
    cells = dictionary.cells_named(row, OWNER_MARKS)
    found = [(fold(dictionary.name(cell)), dictionary.expr(cell)) for cell in cells]
    for line in lines:
        name, _, text = line.partition("=")
        name = fold(name.strip())
        if name in OWNER_MARKS:
            found.append((name, _parsed(text.strip())))
    return owner_of(Ad(found), file)


def _parsed(text: str) -> Expr:
    """Return the expression of a short text; undefined for all others, since only constants tell an owner."""
    try:
        return parse_old(text) if len(text) <= _LONGEST_MARK else Literal(UNDEFINED)
    except ParseError:
        return Literal(UNDEFINED)


class AdCost(NamedTuple):
    """The cost of one ad, beyond what the pool has stored already."""

    names: int = 0
    """Attribute names that no ad had before."""
    text: int = 0
    """Bytes of stored values, with an overhead for each."""
    parsed: int = 0
    """Characters of expressions to be parsed."""


FREE: Final = AdCost(names=0, text=8 << 10, parsed=256)
"""The allowance of each ad. Plain ads have some twenty values of their own, and the expressions of their class."""


@attrs.frozen
class ReadingLimits:
    """The budget of each user and of each host, for one reading of a pool."""

    names: int = 10_000
    text: int = 32 << 20
    parsed: int = 512 << 10
    all_user_names: int = 100_000
    """Names that the ads of all users together may add. The pool has room for more, so that slots always fit."""


class AdOwner(NamedTuple):
    """Who is charged for an ad: a user, a host, or a file if the ad names neither."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def owner_of(ad: Ad, file: str) -> AdOwner:
    """Return who is charged for an ad; it needs to have the attributes in ``OWNER_MARKS`` only.

    Jobs and submitters: the user. Slots, schedds and others: the host, whatever user they name.
    """
    user = string_value(ad, "Owner") or string_value(ad, "User")
    return _owner(ad_kind(ad), user, string_value(ad, "Name"), string_value(ad, "Machine"), file)


def alike_owners(rows: AlikeRows, file: str) -> list[AdOwner]:
    """Return who is charged for each of these ads, as ``owner_of`` does."""
    users, names = rows.first_strings("Owner", "User"), rows.strings("Name")
    machines = rows.strings("Machine")
    marks = list(zip(users, names, machines, strict=True))
    owners: dict[int, AdOwner] = {}
    for kind, places in alike_kinds(rows):
        # Most ads are of a few owners.
        own = [marks[place] for place in places.tolist()]
        found = {each: _owner(kind, each[0], each[1], each[2], file) for each in dict.fromkeys(own)}
        owners.update(zip(places.tolist(), map(found.__getitem__, own), strict=True))
    return [owners[place] for place in range(len(rows))]


def _owner(kind: PoolAdKind, user: str, name: str, machine: str, file: str) -> AdOwner:
    if kind is PoolAdKind.SUBMITTER:
        user = user or name
    if user and (kind in _OF_USERS or kind in (PoolAdKind.OTHER, PoolAdKind.UNKNOWN)):
        return AdOwner("user", user)
    if kind in _OF_USERS:
        return AdOwner("file", file)
    host = machine or name.rpartition("@")[2]
    return AdOwner("host", host.lower()) if host else AdOwner("file", file)


@attrs.define
class ReadingBudget:
    """The charges of one reading of a pool, by owner."""

    limits: ReadingLimits = attrs.field(factory=ReadingLimits)
    _charged: dict[AdOwner, AdCost] = attrs.field(factory=dict, init=False)
    _user_names: int = attrs.field(default=0, init=False)
    _trees: set[str] = attrs.field(factory=set, init=False)

    @property
    def charged(self) -> Mapping[AdOwner, AdCost]:
        """What each owner's ads cost beyond their allowances."""
        return self._charged

    @property
    def is_half_used(self) -> bool:
        """True if an owner, or all users together, have used half of the budget."""
        limits = self.limits
        most = (limits.names // 2, limits.text // 2, limits.parsed // 2)
        used = any(
            charged > half
            for each in self._charged.values()
            for charged, half in zip(each, most, strict=True)
        )
        return used or self._user_names > limits.all_user_names // 2

    def is_charged(self, tree: str) -> bool:
        """True if an equal tree, by its key, was charged before."""
        return tree in self._trees

    def add_charged(self, trees: Iterable[str]) -> None:
        """Remember trees that were charged, so that equal ones cost nothing."""
        self._trees.update(trees)

    @staticmethod
    def is_free(cost: AdCost) -> bool:
        """True if the cost is within the allowance of an ad."""
        return cost.names <= FREE.names and cost.text <= FREE.text and cost.parsed <= FREE.parsed

    def charge(self, owner: AdOwner, cost: AdCost) -> str:
        """Charge an ad to its owner; return why it does not fit, and charge nothing, if it does not; else ""."""
        before, after = self._with(owner, cost)
        over = self._exceeded(owner, before, after)
        if not over:
            self._charged[owner] = after
            self._user_names += after.names - before.names if owner.kind != "host" else 0
        return over

    def has_room(self, owner: AdOwner, cost: AdCost) -> bool:
        """True if an ad could be charged to its owner."""
        return not self._exceeded(owner, *self._with(owner, cost))

    def _with(self, owner: AdOwner, cost: AdCost) -> tuple[AdCost, AdCost]:
        """Return what an owner is charged before and after an ad."""
        before = self._charged.get(owner, AdCost())
        names = before.names + max(0, cost.names - FREE.names)
        text = before.text + max(0, cost.text - FREE.text)
        return before, AdCost(names, text, before.parsed + max(0, cost.parsed - FREE.parsed))

    def _exceeded(self, owner: AdOwner, before: AdCost, after: AdCost) -> str:
        limits = self.limits
        if after.names > limits.names:
            return f"the ads of {owner} have more than {limits.names} attribute names that no other ads have"
        if after.text > limits.text:
            return f"the values in the ads of {owner} take more than {limits.text} bytes"
        if after.parsed > limits.parsed:
            return f"the expressions in the ads of {owner} have more than {limits.parsed} characters"
        added = after.names - before.names
        if owner.kind != "host" and added and self._user_names + added > limits.all_user_names:
            return f"the ads of all users have more than {limits.all_user_names} different attribute names"
        return ""
