"""The levels of one user, group and queue, laid out for single matches."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.ledger import RefusedCharge
from negotiator_limits.levels import APPLICATIONS, Label, LimitLevel
from negotiator_limits.overdraft_counters import NO_SETS, CounterPlaces, OverdraftCounters


@attrs.frozen
class Denial:
    """The first limit that a match would exceed: what the match needs, what is used, and the most."""

    label: Label
    needed: int
    used: int
    limit: int

    def __str__(self) -> str:
        """A sentence with the limit, the numbers and the line of the configuration."""
        return self.label.sentence(self.needed, self.used, self.limit)


class SingleMatchLimits:
    """What single matches are charged, and what limits them: places of counters, which never change.

    ``limited`` are the sums that are limited, resource by resource, and ``spans`` has the resources, with the part of
    ``limited`` that is theirs. ``sets`` are the running applications of each level.
    """

    def __init__(self, levels: tuple[LimitLevel, ...], books: OverdraftCounters) -> None:
        self.levels = levels
        self.paths = frozenset(level.path for level in levels)
        self.sets = books.set_spots((level.applications, level.most_applications) for level in levels)
        resources = dict.fromkeys(name for level in levels for name in level.limited)
        rows = [(name, level) for name in resources for level in levels if level.most(name) is not None]
        self.limited = books.spots((level.key(name), level.most(name)) for name, level in rows)
        self.spans: list[tuple[str, slice]] = []
        for name in resources:
            at = [position for position, (resource, _) in enumerate(rows) if resource == name]
            self.spans.append((name, slice(at[0], at[-1] + 1)))
        self._books = books
        self._spots: dict[tuple[str, ...], CounterPlaces] = {}

    def sums(self, usage: Mapping[str, int]) -> tuple[CounterPlaces, list[int]]:
        """Where an amount of each resource is counted, level by level, and the amounts there."""
        names = tuple(usage)
        spots = self._spots.get(names)
        if spots is None:
            rows = [(level.key(name), level.most(name)) for level in self.levels for name in names]
            spots = self._spots[names] = self._books.spots(rows)
        return spots, [*usage.values()] * len(self.levels)

    def fresh(self, running: set[str]) -> CounterPlaces:
        """The sets that an application is to be put into.

        :param running: the queues in which it runs already.
        """
        if self.paths <= running:
            return NO_SETS
        return self.sets if running.isdisjoint(self.paths) else self.sets.only(self._fresh(running))

    def _fresh(self, running: set[str]) -> list[int]:
        return [position for position, level in enumerate(self.levels) if level.path not in running]

    def ending(self, running: set[str]) -> CounterPlaces:
        """The sets that an application leaves when it ends in the leaf."""
        if self.paths <= running:
            return self.sets
        return self.sets.only(position for position, level in enumerate(self.levels) if level.path in running)

    def denial(self, refused: RefusedCharge, usage: Mapping[str, int], running: set[str]) -> Denial:
        """Name the limit that refused.

        :param running: the queues in which the application runs already.
        """
        if refused.of_keys:
            label = self.levels[self._fresh(running)[refused.position]].label(APPLICATIONS)
        else:
            level, resource = divmod(refused.position, len(usage))
            label = self.levels[level].label(tuple(usage)[resource])
        return Denial(label, refused.needed, refused.used, refused.limit)
