"""The selection of usage rows by the switches of qquota.

Source: qquota(1). A row is shown if its rule may match the selection in each scope, and its counter is selected by the
values of the expanded filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import attrs

from negotiator_quotasets.complexes import Complexes
from negotiator_quotasets.language import SCOPES, NameFilter
from negotiator_quotasets.qquota.filter_matching import ALL, ScopeMatcher
from negotiator_quotasets.qquota.usage_rows import NONE, UsageRow

ANY = (ALL,)
_NO_FILTER = NameFilter()


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
