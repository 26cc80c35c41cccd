"""Parses the values that ads with the same names add to a pool, as far as their owners' budgets have room.

The ads of a text are parsed in the order of its lines, whatever names they have: so the values of an attribute have the
order in which they were written, and so have the reasons of a cycle. Owners are charged in this order too.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from negotiator.classad import ParseError
from negotiator.classad.tables import ABSENT
from negotiator.pool.line_cost import cost_of_lines
from negotiator.pool.parsed_ad import AlikeAds
from negotiator.pool.reading_budget import OWNER_VALUES, alike_owners

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    def waiting(self) -> list[_WaitingAd]:
        """Return the ads with a value that is to be parsed."""
        places = np.flatnonzero(~self._known).tolist()
        return [_WaitingAd(self._ads.lines[place], self, place) for place in places]

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

    def resolve(self, place: int) -> bool:
        """Set the codes of the new values of an ad; return whether that was possible.

        It is not if a value is faulty, if its owner's budget has no room for it, or if it tells who the owner is.
        """
        codes = self._rows.codes
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
            codes[index][place] = found[line]
        self._known[place] = True
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
            codes = tuple([np.where(codes == NEW, ABSENT, codes) for codes in self._rows.codes])
            self._owners = alike_owners(attrs.evolve(self._rows, codes=codes), self._file)
        return self._owners[place]


class _WaitingAd(NamedTuple):
    """An ad with values that are to be parsed, and the number of its first line."""

    line: int
    values: AlikeValues
    place: int


class WaitingAds:
    """The ads of a text that have values to be parsed, by line."""

    __slots__ = ("_waiting",)

    def __init__(self, values: Sequence[AlikeValues]) -> None:
        waiting = [ad for each in values for ad in each.waiting()]
        self._waiting = sorted(waiting, key=itemgetter(0), reverse=True)

    def parse_above(self, line: int) -> list[AdSpan]:
        """Parse the values of the ads above a line; return the ads for which this is not possible."""
        waiting, others = self._waiting, []
        while waiting and waiting[-1].line < line:
            ad = waiting.pop()
            if not ad.values.resolve(ad.place):
                others.append(ad.values.span(ad.place))
        return others
