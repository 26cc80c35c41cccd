"""The selection of usage rows by the switches of qquota.

A row is shown if its rule may match the selection in each scope, and its counter is selected by the values of the expanded filters. A
selected name may be a name, a wildcard or, among users and hosts, a group. Source: qquota(1), which compares wildcards in both directions;
the details are those of Grid Engine 8.1.9, as its answers show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import attrs

from negotiator_quotasets.complexes import Complexes, has_wildcards, matcher, queue_matches
from negotiator_quotasets.language import GROUP, SCOPES, NameFilter
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.qquota.usage_rows import NONE, UsageRow

ALL = "*"
ANY = (ALL,)
_NO_FILTER = NameFilter()


@attrs.frozen
class ScopeMatcher:
    """The comparison in one scope that has no groups: projects, parallel environments or queues.

    :param fold: returns a name for comparison.
    :param matches: whether a pattern matches a name, both folded.
    :param is_optional: whether a job may lack the name, so that a filter that excludes everything matches such a job.
    """

    fold: Callable[[str], str] = str
    matches: Callable[[str, str], bool] = lambda pattern, name: bool(matcher(pattern)(name))
    is_optional: bool = False

    def may_match(self, wanted: NameFilter, selected: str) -> bool:
        """True if the filter of a rule may match a selected name, which is folded."""
        names, excluded = map(self.fold, wanted.names), [self.fold(each) for each in wanted.excluded]
        if self.excludes(excluded, selected):
            return False
        return not wanted.names or self.includes(names, selected)

    def includes(self, names: Iterable[str], selected: str) -> bool:
        """True if one of the included names matches the selected name, or is matched by it."""
        return any(self.matches(name, selected) or self.matches(selected, name) for name in names)

    def excludes(self, names: Sequence[str], selected: str) -> bool:
        """True if the whole selection is excluded."""
        if selected == ALL:
            return ALL in names and not self.is_optional
        return self.includes(names, selected)

    def selects(self, selected: str, value: str | None) -> bool:
        """True if a counter is selected, by its value of an expanded filter; None if it has none."""
        return value is None or self.matches(selected, value)


@attrs.frozen
class GroupMatcher(ScopeMatcher):
    """The comparison in a scope with groups: users or hosts.

    :param groups: the members of each group, folded; the names of groups begin with ``@``.
    :param filters_members: whether a selected group selects the counters of its members only, as user sets do. A host
        group selects all counters of a matching rule, unless the group is empty.
    :param first_decides: whether, of the exclusions that a selected wildcard covers, the first decides, as of users. Of hosts an
        equal one does, wherever it is.
    """

    groups: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    filters_members: bool = False
    first_decides: bool = False

    def includes(self, names: Iterable[str], selected: str) -> bool:
        """True if one of the included names may match the selected name."""
        return any(self._overlap(name, selected) for name in names)

    def excludes(self, names: Sequence[str], selected: str) -> bool:
        """True if one of the excluded names matches the selected name.

        A selected wildcard that covers a narrower exclusion also selects names that are not excluded.
        """
        wild = has_wildcards(selected)
        if selected in names and not (wild and self.first_decides):
            return True
        for name in names:
            if wild and self.matches(selected, name):
                return selected == name
            if self._overlap(name, selected):
                return True
        return False

    def selects(self, selected: str, value: str | None) -> bool:
        """True if a counter is selected; an unknown group, or a wildcard of groups, selects all counters."""
        if not selected.startswith(GROUP):
            return super().selects(selected, value)
        members = self.groups.get(selected)
        if members is None:
            return True
        return value in members if self.filters_members else bool(members)

    def _overlap(self, name: str, selected: str) -> bool:
        if self.matches(name, selected) or (has_wildcards(selected) and self.matches(selected, name)):
            return True
        if selected.startswith(GROUP) == name.startswith(GROUP):
            return False
        group, member = (name, selected) if name.startswith(GROUP) else (selected, name)
        return any(
            self.matches(member, each)
            for found, members in self.groups.items()
            if self.matches(group, found)
            for each in members
        )


def scope_matchers(usersets: Mapping[str, Sequence[str]], hosts: Hosts) -> Mapping[str, ScopeMatcher]:
    """Return the comparison in each scope."""
    users = {f"{GROUP}{name}": frozenset(members) for name, members in usersets.items()}

    def folded_host(name: str) -> str:
        return hosts.canonical(name).lower()

    return {
        "users": GroupMatcher(groups=users, filters_members=True, first_decides=True),
        "projects": ScopeMatcher(is_optional=True),
        "pes": ScopeMatcher(is_optional=True),
        "queues": ScopeMatcher(lambda name: name.removeprefix("root."), _queue_matches),
        "hosts": GroupMatcher(
            folded_host,
            groups={name: frozenset(map(folded_host, members)) for name, members in hosts.groups().items()},
        ),
    }


def _queue_matches(pattern: str, queue: str) -> bool:
    """True if a name or a wildcard matches a queue, by its path or its leaf's name."""
    return bool(matcher(pattern)(queue)) or queue_matches(pattern, queue)


@attrs.frozen
class RowSelection:
    """The names and wildcards that are selected in each scope, and resources by name or shortcut, empty for all."""

    users: Sequence[str] = ANY
    projects: Sequence[str] = ANY
    pes: Sequence[str] = ANY
    queues: Sequence[str] = ANY
    hosts: Sequence[str] = ANY
    resources: Sequence[str] = ()

    def select(
        self, rows: Iterable[UsageRow], matchers: Mapping[str, ScopeMatcher], complexes: Complexes
    ) -> Iterator[UsageRow]:
        """Yield the selected rows; rows of one rule must be consecutive.

        The rows of a rule are in Grid Engine's order: first all rows of the first user that is selected, among them
        first those of the first project, and so on.
        """
        resources = {found.name for found in map(complexes.find, self.resources) if found}
        for _, of_rule in groupby(rows, key=lambda row: row.rule):
            found = list(of_rule)
            ranking = _Ranking(self, matchers, found[0].filters)
            ranked = [(ranking.rank(row), row) for row in found]
            selected = [(rank, row) for rank, row in ranked if rank is not None]
            for _, row in sorted(selected, key=itemgetter(0)):
                if not self.resources or row.complex.name in resources:
                    yield row


class _Ranking:
    """The positions of the selected names that the filters of one rule may match."""

    def __init__(
        self, selection: RowSelection, matchers: Mapping[str, ScopeMatcher], filters: Mapping[str, NameFilter]
    ) -> None:
        self._matchers = matchers
        self._possible: dict[str, list[tuple[int, str]]] = {}
        for scope in SCOPES:
            matcher, wanted = matchers[scope], filters.get(scope, _NO_FILTER)
            names = enumerate(map(matcher.fold, getattr(selection, scope)))
            self._possible[scope] = [each for each in names if matcher.may_match(wanted, each[1])]
        self._cache: dict[tuple[str, str | None], int | None] = {}

    def rank(self, row: UsageRow) -> tuple[int, ...] | None:
        """Return the first position of each scope that selects a row; None if it is not selected."""
        ranks: list[int] = []
        for scope in SCOPES:
            position = (
                self._first(scope) if row.used is None else self._first_of(scope, row.values.get(scope))
            )
            if position is None:
                return None
            ranks.append(position)
        return tuple(ranks)

    def _first(self, scope: str) -> int | None:
        """Return the first position for a limit without counters."""
        return next((position for position, _ in self._possible[scope]), None)

    def _first_of(self, scope: str, value: str | None) -> int | None:
        """Return the first position that selects a counter."""
        if (scope, value) not in self._cache:
            matcher = self._matchers[scope]
            folded = None if value is None or value == NONE else matcher.fold(value)
            positions = (at for at, name in self._possible[scope] if matcher.selects(name, folded))
            self._cache[scope, value] = next(positions, None)
        return self._cache[scope, value]
