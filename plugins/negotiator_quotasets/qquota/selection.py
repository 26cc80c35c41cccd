"""The selection of usage rows by the switches of qquota.

Source: qquota(1). A row is shown if its rule could apply to the selection, and if the values of its expanded filters
are selected. Selections are names and wildcards; a group of users selects its members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import attrs

from negotiator_quotasets.complexes import Complexes, has_wildcards, matcher
from negotiator_quotasets.language import GROUP, SCOPES, NameFilter
from negotiator_quotasets.matching import Hosts, queue_matches
from negotiator_quotasets.qquota.usage_rows import NONE, UsageRow

ANY = ("*",)
#: The scopes that a job may lack: a filter of exclusions alone matches such a job.
_OPTIONAL = frozenset({"projects", "pes"})
_NO_FILTER = NameFilter()
#: Returns the members of a group, by scope and name with ``@``; empty for other names.
Members = Callable[[str, str], Sequence[str]]


@attrs.frozen
class RowSelection:
    """The names and wildcards that are selected in each scope, and resources by name or shortcut, empty for all."""

    users: Sequence[str] = ANY
    projects: Sequence[str] = ANY
    pes: Sequence[str] = ANY
    queues: Sequence[str] = ANY
    hosts: Sequence[str] = ANY
    resources: Sequence[str] = ()

    def select(self, rows: Iterable[UsageRow], members: Members, complexes: Complexes) -> Iterator[UsageRow]:
        """Yield the selected rows; rows of one rule must be consecutive.

        The rows of a rule are in Grid Engine's order: first all rows of the first user that is selected, among them
        first those of the first project, and so on.
        """
        resources = {found.name for found in map(complexes.find, self.resources) if found}
        ranking = _Ranking(self, _Members(members))
        for _, of_rule in groupby(rows, key=lambda row: row.rule):
            ranked = [(ranking.rank(row), row) for row in of_rule]
            selected = [(rank, row) for rank, row in ranked if rank is not None]
            for _, row in sorted(selected, key=itemgetter(0)):
                if not self.resources or row.complex.name in resources:
                    yield row


class _Members:
    """The members of groups, each looked up once."""

    def __init__(self, find: Members) -> None:
        self._find = find
        self._cache: dict[tuple[str, str], frozenset[str]] = {}

    def of(self, scope: str, name: str) -> frozenset[str]:
        """Return the members of a group; empty for a name that is not a group."""
        if not _is_group(name):
            return frozenset()
        if (scope, name) not in self._cache:
            self._cache[scope, name] = frozenset(_folded(scope, each) for each in self._find(scope, name))
        return self._cache[scope, name]


class _Ranking:
    """The positions of a selection, prepared for many rows."""

    def __init__(self, selection: RowSelection, members: _Members) -> None:
        self._members = members
        self._positions = {
            scope: _positions(_folded(scope, each) for each in getattr(selection, scope)) for scope in SCOPES
        }
        # A queue is also selected by its leaf's name, so all names of queues are compared like wildcards.
        self._patterns = {
            scope: [each for each in names if scope == "queues" or has_wildcards(each)]
            for scope, names in self._positions.items()
        }
        self._filters: Mapping[str, NameFilter] = {}
        self._cache: dict[tuple[str, str | None], int | None] = {}
        self._of_groups: dict[str, Mapping[str, int]] = {}

    def rank(self, row: UsageRow) -> tuple[int, ...] | None:
        """Return the first selected position of each scope that the row is about; None if it is not selected."""
        if row.filters is not self._filters:  # the next rule
            self._filters, self._cache, self._of_groups = row.filters, {}, {}
        ranks: list[int] = []
        for scope in SCOPES:
            position = self._first(scope, row.filters.get(scope, _NO_FILTER), row.values.get(scope))
            if position is None:
                return None
            ranks.append(position)
        return tuple(ranks)

    def _first(self, scope: str, wanted: NameFilter, value: str | None) -> int | None:
        if (scope, value) not in self._cache:
            self._cache[scope, value] = (
                self._first_possible(scope, wanted)
                if value is None
                else self._first_of_value(scope, wanted, _folded(scope, value))
            )
        return self._cache[scope, value]

    def _first_possible(self, scope: str, wanted: NameFilter) -> int | None:
        """Return the first selected name that a filter may match.

        A group of users selects the counters of its members, not a counter that users share.
        """
        for name, position in self._positions[scope].items():
            if scope == "users" and _is_group(name):
                continue
            if _may_match(scope, wanted, name, self._members):
                return position
        return None

    def _first_of_value(self, scope: str, wanted: NameFilter, value: str) -> int | None:
        positions = self._positions[scope]
        if value == NONE:
            return positions.get("*")
        found = [positions[each] for each in self._patterns[scope] if _matches(scope, each, value)]
        found += [each[value] for each in (positions, self._group_members(scope, wanted)) if value in each]
        return min(found, default=None)

    def _group_members(self, scope: str, wanted: NameFilter) -> Mapping[str, int]:
        """Return the positions of the members of selected groups; of host groups, those that the rule may match."""
        if scope not in self._of_groups:
            found: dict[str, int] = {}
            for name, position in self._positions[scope].items():
                if _is_group(name) and (scope != "hosts" or _may_match(scope, wanted, name, self._members)):
                    for member in self._members.of(scope, name):
                        found.setdefault(member, position)
            self._of_groups[scope] = found
        return self._of_groups[scope]


def _positions(names: Iterable[str]) -> Mapping[str, int]:
    """Return each distinct name with its position."""
    return {name: position for position, name in enumerate(dict.fromkeys(names))}


def _may_match(scope: str, wanted: NameFilter, selected: str, members: _Members) -> bool:
    """True if a filter may match something that is selected."""
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
    """True if a name or a wildcard matches another name; a queue has its path and its leaf's name."""
    return bool(matcher(name)(value)) or (scope == "queues" and queue_matches(name, value))


def _folded(scope: str, name: str) -> str:
    """Return a name for comparison: hosts ignore case, and queues are below one root."""
    if scope == "hosts":
        return name.lower()
    return name.removeprefix("root.") if scope == "queues" else name


def _is_group(name: str) -> bool:
    return name.startswith(GROUP)


def members_of(usersets: Mapping[str, Sequence[str]], hosts: Hosts) -> Members:
    """Return the lookup of the members of user sets and host groups."""

    def members(scope: str, name: str) -> Sequence[str]:
        if not _is_group(name):
            return ()
        if scope == "users":
            matches = matcher(name[1:])
            return [user for userset, users in usersets.items() if matches(userset) for user in users]
        if scope == "hosts":
            return [hosts.names[row] for row in hosts.entry_mask(name).nonzero()[0].tolist()]
        return ()

    return members
