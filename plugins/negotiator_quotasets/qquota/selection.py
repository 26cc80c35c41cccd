"""Which rows of usage somebody wants to see: the switches of qquota.

Source: qquota(1). A row is shown where its rule could be for what was selected, and where the values of its expanded filters
are among it. What is selected are names and wildcards; a group of users stands for its members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import attrs

from negotiator_quotasets.complexes import Complexes, matcher
from negotiator_quotasets.language import GROUP, SCOPES, NameFilter
from negotiator_quotasets.matching import Hosts, queue_matches
from negotiator_quotasets.qquota.usage_rows import NONE, UsageRow

ANY = ("*",)
#: Jobs may be without these: then a filter of exclusions alone is for them.
_OPTIONAL = frozenset({"projects", "pes"})
_SIGNS = frozenset("*?[")  # of a wildcard
_FOR_ALL = NameFilter()
#: The members of a group, by the scope and its name with ``@``; nothing for another name.
Members = Callable[[str, str], Sequence[str]]


@attrs.frozen
class RowSelection:
    """What to show: of each scope names and wildcards, and resources by name or shortcut; all where nothing is said."""

    users: Sequence[str] = ANY
    projects: Sequence[str] = ANY
    pes: Sequence[str] = ANY
    queues: Sequence[str] = ANY
    hosts: Sequence[str] = ANY
    resources: Sequence[str] = ()

    def wants(self, row: UsageRow, members: Members, complexes: Complexes) -> bool:
        """Whether a row is to be shown; for many rows, see ``chosen``."""
        return any(self.chosen([row], members, complexes))

    def chosen(self, rows: Iterable[UsageRow], members: Members, complexes: Complexes) -> Iterator[UsageRow]:
        """Give the rows that are to be shown; those of one rule are to come together, for they are decided together.

        Those of a rule come as Grid Engine has them: first all of the first user that is selected, of these all of the
        first project, and so on; each once.
        """
        resources = {found.name for found in map(complexes.find, self.resources) if found}
        choice = _Choice(self, _Members(members))
        for _, of_rule in groupby(rows, key=lambda row: row.rule):
            found = [(choice.place(row), row) for row in of_rule]
            shown = [(place, row) for place, row in found if place is not None]
            for _, row in sorted(shown, key=itemgetter(0)):
                if not self.resources or row.complex.name in resources:
                    yield row


class _Members:
    """The members of groups, looked up once."""

    def __init__(self, find: Members) -> None:
        self._find = find
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def of(self, scope: str, name: str) -> frozenset[str]:
        """Those of a group; nothing for another name."""
        if not _is_group(name):
            return frozenset()
        if (scope, name) not in self._known:
            self._known[scope, name] = frozenset(_folded(scope, each) for each in self._find(scope, name))
        return self._known[scope, name]


class _Choice:
    """What is selected, made ready for many rows."""

    def __init__(self, selection: RowSelection, members: _Members) -> None:
        self._members = members
        self._selected: dict[str, Sequence[str]] = {
            scope: [_folded(scope, each) for each in getattr(selection, scope)] for scope in SCOPES
        }
        self._places = {scope: _places(selected) for scope, selected in self._selected.items()}
        self._wild = {
            scope: [each for each in selected if scope == "queues" or _SIGNS & {*each}]
            for scope, selected in self._places.items()
        }
        self._filters: Mapping[str, NameFilter] = {}
        self._known: dict[tuple[str, str | None], int | None] = {}
        self._grouped: dict[str, Mapping[str, int]] = {}

    def place(self, row: UsageRow) -> tuple[int, ...] | None:
        """Which of the selected users, projects, ... is the first that a row is for; None where one is for nothing."""
        if row.filters is not self._filters:  # rows of one rule come together
            self._filters, self._known, self._grouped = row.filters, {}, {}
        found: list[int] = []
        for scope in SCOPES:
            place = self._first(scope, row.filters.get(scope, _FOR_ALL), row.values.get(scope))
            if place is None:
                return None
            found.append(place)
        return tuple(found)

    def _first(self, scope: str, wanted: NameFilter, value: str | None) -> int | None:
        if (scope, value) not in self._known:
            self._known[scope, value] = (
                self._could_be(scope, wanted)
                if value is None
                else self._has_value(scope, wanted, _folded(scope, value))
            )
        return self._known[scope, value]

    def _could_be(self, scope: str, wanted: NameFilter) -> int | None:
        """The first that a filter is for.

        A group of users stands for what each of its members has used by himself, not for what users have used together.
        """
        for name, place in self._places[scope].items():
            if scope == "users" and _is_group(name):
                continue
            if _could_be(scope, wanted, name, self._members):
                return place
        return None

    def _has_value(self, scope: str, wanted: NameFilter, value: str) -> int | None:
        places = self._places[scope]
        if value == NONE:
            return places.get("*")
        found = [places[each] for each in self._wild[scope] if _matches(scope, each, value)]
        found += [each[value] for each in (places, self._of_groups(scope, wanted)) if value in each]
        return min(found, default=None)

    def _of_groups(self, scope: str, wanted: NameFilter) -> Mapping[str, int]:
        """The members of all groups that are selected; a group of hosts is to be one that the rule itself is for."""
        if scope not in self._grouped:
            found: dict[str, int] = {}
            for name, place in self._places[scope].items():
                if _is_group(name) and (scope != "hosts" or _could_be(scope, wanted, name, self._members)):
                    for member in self._members.of(scope, name):
                        found.setdefault(member, place)
            self._grouped[scope] = found
        return self._grouped[scope]


def _places(names: Iterable[str]) -> Mapping[str, int]:
    """Each name, and where it stands for the first time."""
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _could_be(scope: str, wanted: NameFilter, selected: str, members: _Members) -> bool:
    """Whether a filter is for something that is selected."""
    if selected == "*" and not wanted.names and scope in _OPTIONAL:
        return True
    names = [_folded(scope, name) for name in wanted.names]
    excluded = [_folded(scope, name) for name in wanted.excluded]
    if any(_matches(scope, name, selected) or selected in members.of(scope, name) for name in excluded):
        return False
    return not names or any(
        _matches(scope, name, selected)
        or _matches(scope, selected, name)
        or any(_matches(scope, selected, member) for member in members.of(scope, name))
        for name in names
    )


def _matches(scope: str, name: str, value: str) -> bool:
    """Whether a name or a wildcard is for another one; a queue is known by its path, and by its leaf's name."""
    return bool(matcher(name)(value)) or (scope == "queues" and queue_matches(name, value))


def _folded(scope: str, name: str) -> str:
    """A name as it is compared: those of hosts have no case, and all queues are below one root."""
    if scope == "hosts":
        return name.lower()
    return name.removeprefix("root.") if scope == "queues" else name


def _is_group(name: str) -> bool:
    return name.startswith(GROUP)


def members_of(usersets: Mapping[str, Sequence[str]], hosts: Hosts) -> Members:
    """The members of groups of users and of hosts."""

    def members(scope: str, name: str) -> Sequence[str]:
        if not _is_group(name):
            return ()
        if scope == "users":
            matches = matcher(name[1:])
            return [user for userset, users in usersets.items() if matches(userset) for user in users]
        if scope == "hosts":
            return [hosts.names[row] for row in hosts.named(name).nonzero()[0].tolist()]
        return ()

    return members
