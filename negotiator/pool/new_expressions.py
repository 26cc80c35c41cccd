"""Parses the values that ads with the same names add to a pool, as far as their owners' budgets have room.

The ads of a text are parsed in the order of its lines, whatever names they have: so the values of an attribute have the
order in which they were written, and so have the reasons of a cycle. Owners are charged in this order too.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from negotiator.classad import ParseError
from negotiator.classad.tables import ABSENT
from negotiator.pool.parsed_ad import AlikeAds
from negotiator.pool.reading_budget import OWNER_VALUES, alike_owners, cost_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.tables import AlikeRows, IndexArray
    from negotiator.pool.ad_matching import AdSpan, MatchingAds
    from negotiator.pool.reading_budget import AdOwner, ReadingBudget

NEW = -1
"""The code of a value that is neither a constant nor known."""


class AlikeValues:
    """The values of ads that match a pattern; those whose code is ``NEW`` are to be parsed.

    ``texts`` has the line of each ad for each attribute, by its index, that may have such a value. Who pays for the ads is
    found when first needed.
    """

    __slots__ = ("_ads", "_budget", "_file", "_known", "_lines", "_owners", "_rows", "_tell_owner")

    def __init__(
        self,
        ads: MatchingAds,
        rows: AlikeRows,
        texts: Mapping[int, Sequence[str]],
        file: str,
        budget: ReadingBudget,
    ) -> None:
        self._ads = ads
        self._rows = rows
        self._file = file
        self._budget = budget
        self._owners: list[AdOwner] = []
        new = {line: rows.codes[line] == NEW for line in texts}
        self._lines = {line: texts[line] for line, places in new.items() if bool(places.any())}
        self._tell_owner = [line for line in self._lines if rows.layout.attributes[line] in OWNER_VALUES]
        self._known: NDArray[np.bool_] = ~np.logical_or.reduce([np.zeros(len(rows), np.bool_), *new.values()])

    def waiting(self) -> Iterator[_WaitingAds]:
        """Yield the ads with values that are to be parsed, those with the same ones together."""
        places = np.flatnonzero(~self._known).tolist()
        new = [
            [lines[place] if code == NEW else "" for place, code in zip(places, codes, strict=True)]
            for lines, codes in (
                (lines, self._rows.codes[line][places].tolist()) for line, lines in self._lines.items()
            )
        ]
        alike: dict[tuple[str, ...], list[int]] = {}
        for key, place in zip(zip(*new, strict=True), places, strict=bool(new)):
            alike.setdefault(key, []).append(place)
        return (_WaitingAds(self._ads.lines[each[0]], self, each) for each in alike.values())

    def below(self, waiting: _WaitingAds) -> _WaitingAds | None:
        """Return the ads that wait below the first one of these; None if there are none."""
        places = waiting.places[1:]
        return _WaitingAds(self._ads.lines[places[0]], self, places) if places else None

    def span(self, place: int) -> AdSpan:
        """Return where an ad is."""
        return self._ads.span(place)

    def known(self) -> AlikeAds | None:
        """Return the ads whose values are all known; None if there are none."""
        places: IndexArray = np.flatnonzero(self._known)
        if not len(places):
            return None
        rows = self._rows.take(places) if len(places) < len(self._rows) else self._rows
        return AlikeAds(rows, np.array(self._ads.lines, np.int64)[places])

    def resolve(self, places: Sequence[int]) -> bool:
        """Set the codes of the new values of ads that have the same ones; return whether that was possible for the first ad.

        It is not if a value is faulty, if its owner's budget has no room for it, or if it tells who the owner is.
        """
        codes, place = self._rows.codes, places[0]
        if any(codes[index][place] == NEW for index in self._tell_owner):
            return False
        unknown = {index: lines[place] for index, lines in self._lines.items() if codes[index][place] == NEW}
        dictionary = self._rows.dictionary
        found = {line: dictionary.code_of_line(line) for line in unknown.values()}
        new = [line for line, code in found.items() if code == NEW]
        if new:
            parsed = self._parse(place, new)
            if parsed is None:
                return False
            found.update(parsed)
        for index, line in unknown.items():
            codes[index][places] = found[line]
        self._known[places] = True
        return True

    def _parse(self, place: int, lines: Sequence[str]) -> dict[str, int] | None:
        """Return the codes of the values in these lines; None if one is faulty, or the owner's budget has no room."""
        dictionary = self._rows.dictionary
        cost = cost_of_lines(lines, dictionary)
        owner = None if self._budget.is_free(cost) else self._owner(place)
        if owner is not None and not self._budget.has_room(owner, cost):
            return None
        try:
            codes = {line: dictionary.parsed_code(line) for line in lines}
        except ParseError:
            return None
        if owner is not None:
            self._budget.charge(owner, cost)
        return codes

    def _owner(self, place: int) -> AdOwner:
        if not self._owners:
            codes = list(self._rows.codes)
            for line in self._lines:
                codes[line] = np.where(codes[line] == NEW, ABSENT, codes[line])
            self._owners = alike_owners(attrs.evolve(self._rows, codes=tuple(codes)), self._file)
        return self._owners[place]


class _WaitingAds(NamedTuple):
    """Ads with the same values that are to be parsed, by line, and the number of the first line of the first ad."""

    line: int
    values: AlikeValues
    places: list[int]


class WaitingAds:
    """The ads of a text that have values to be parsed, by line."""

    __slots__ = ("_waiting",)

    def __init__(self, values: Sequence[AlikeValues]) -> None:
        self._waiting = [ads for each in values for ads in each.waiting()]
        heapify(self._waiting)

    def parse_above(self, line: int) -> Iterator[AdSpan]:
        """Parse the values of the ads above a line; yield each ad for which this is not possible, before those below it."""
        waiting = self._waiting
        while waiting and waiting[0].line < line:
            ads = heappop(waiting)
            if not ads.values.resolve(ads.places):
                yield ads.values.span(ads.places[0])
                if rest := ads.values.below(ads):
                    heappush(waiting, rest)
