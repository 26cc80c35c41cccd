"""Which rows of usage somebody wants to see: the switches of qquota.

Source: qquota(1). A row is shown where its rule could be for what was selected, and where the values of its expanded filters
are among it. What is selected are names and wildcards; a group of users stands for its members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from negotiator_quotasets.complexes import Complexes
from negotiator_quotasets.language.model import SCOPES, Filter
from negotiator_quotasets.names import GROUP, Hosts, queue_matches
from negotiator_quotasets.patterns import matcher
from negotiator_quotasets.usage import NONE, Row

ANY = ("*",)
#: Jobs may be without these: then a filter of exclusions alone is for them.
_OPTIONAL = frozenset({"projects", "pes"})
_SIGNS = frozenset("*?[")  # of a wildcard
#: The members of a group, by the scope and its name with ``@``; nothing for another name.
Members = Callable[[str, str], Sequence[str]]


@attrs.frozen
class Selection:
    """What to show: of each scope names and wildcards, and resources by name or shortcut; all where nothing is said."""

    users: Sequence[str] = ANY
    projects: Sequence[str] = ANY
    pes: Sequence[str] = ANY
    queues: Sequence[str] = ANY
    hosts: Sequence[str] = ANY
    resources: Sequence[str] = ()

    def wants(self, row: Row, members: Members, complexes: Complexes) -> bool:
        """Whether a row is to be shown; for many rows, see ``chosen``."""
        return any(self.chosen([row], members, complexes))

    def chosen(self, rows: Iterable[Row], members: Members, complexes: Complexes) -> Iterator[Row]:
        """Give the rows that are to be shown; those of one rule are to come together, for they are decided together."""
        resources = {found.name for found in map(complexes.find, self.resources) if found}
        known = _Members(members)
        each_user = _Choice(self, known)
        # A group stands for what each of its members has used by himself, not for what users have used together.
        users = [user for user in self.users if not _is_group(user)]
        together = _Choice(attrs.evolve(self, users=users), known) if users else None
        for row in rows:
            choice = each_user if "users" in row.values else together
            if choice and choice.has(row) and (not self.resources or row.complex.name in resources):
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

    def __init__(self, selection: Selection, members: _Members) -> None:
        self._members = members
        self._selected: dict[str, Sequence[str]] = {
            scope: [_folded(scope, each) for each in getattr(selection, scope)] for scope in SCOPES
        }
        self._named = {scope: frozenset(selected) for scope, selected in self._selected.items()}
        self._wild = {
            scope: [each for each in selected if scope == "queues" or _SIGNS & {*each}]
            for scope, selected in self._selected.items()
        }
        self._filters: Mapping[str, Filter] = {}
        self._known: dict[tuple[str, str | None], bool] = {}
        self._grouped: dict[str, frozenset[str]] = {}

    def has(self, row: Row) -> bool:
        """Whether all filters of a row are for something that is selected."""
        if row.filters is not self._filters:  # rows of one rule come together
            self._filters, self._known, self._grouped = row.filters, {}, {}
        return all(
            self._is_for(scope, wanted, row.values.get(scope)) for scope, wanted in row.filters.items()
        )

    def _is_for(self, scope: str, wanted: Filter, value: str | None) -> bool:
        known = self._known.get((scope, value))
        if known is None:
            if value is None:
                known = any(_could_be(scope, wanted, each, self._members) for each in self._selected[scope])
            else:
                known = self._has_value(scope, wanted, _folded(scope, value))
            self._known[scope, value] = known
        return known

    def _has_value(self, scope: str, wanted: Filter, value: str) -> bool:
        if value == NONE:
            return "*" in self._named[scope]
        if value in self._named[scope] or value in self._of_groups(scope, wanted):
            return True
        return any(_matches(scope, each, value) for each in self._wild[scope])

    def _of_groups(self, scope: str, wanted: Filter) -> frozenset[str]:
        """The members of all groups that are selected; a group of hosts is to be one that the rule itself is for."""
        if scope not in self._grouped:
            groups = [
                each
                for each in self._named[scope]
                if _is_group(each) and (scope != "hosts" or _could_be(scope, wanted, each, self._members))
            ]
            self._grouped[scope] = frozenset().union(*(self._members.of(scope, each) for each in groups))
        return self._grouped[scope]


def _could_be(scope: str, wanted: Filter, selected: str, members: _Members) -> bool:
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
