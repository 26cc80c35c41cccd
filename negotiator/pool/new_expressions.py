"""Parses the values that ads with the same names add to a pool, as far as their owners' budgets have room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from negotiator.classad import ParseError
from negotiator.classad.tables import ABSENT
from negotiator.pool.line_cost import cost_of_lines
from negotiator.pool.reading_budget import OWNER_VALUES, alike_owners

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from negotiator.classad.tables import AlikeRows, IndexArray
    from negotiator.pool.reading_budget import AdOwner, ReadingBudget

NEW = -1
"""The code of a value that is neither a constant nor known."""


def parse_new_values(
    rows: AlikeRows, lines: Mapping[int, Sequence[str]], file: str, budget: ReadingBudget
) -> IndexArray:
    """Parse the values of ads whose code is ``NEW``, and set their codes; return the places of all ads without any left.

    ``lines`` has the line of each ad for each attribute, by its index, that has such a value in any ad. Left are ads with
    faults, ads that the budget has no room for, and those in which the value tells who pays for the ad.
    """
    known = np.ones(len(rows), np.bool_)
    for index in lines:
        known &= rows.codes[index] != NEW
    waiting = np.flatnonzero(~known).tolist()
    if waiting:
        values = _NewValues(rows, lines, file, budget)
        known[waiting] = [values.resolve(place) for place in waiting]
    return np.flatnonzero(known)


class _NewValues:
    """The values of ads that are to be parsed, by attribute; those who pay for the ads are found when first needed."""

    def __init__(
        self, rows: AlikeRows, lines: Mapping[int, Sequence[str]], file: str, budget: ReadingBudget
    ) -> None:
        self._rows = rows
        self._dictionary = rows.dictionary
        self._lines = lines
        self._file = file
        self._budget = budget
        self._owners: list[AdOwner] = []
        attributes = rows.layout.attributes
        self._tell_owner = [index for index in lines if attributes[index] in OWNER_VALUES]

    def resolve(self, place: int) -> bool:
        """Set the codes of the new values of an ad; return whether that was possible."""
        codes = self._rows.codes
        if any(codes[index][place] == NEW for index in self._tell_owner):
            return False
        unknown = {index: lines[place] for index, lines in self._lines.items() if codes[index][place] == NEW}
        found = {line: self._dictionary.code_of_line(line) for line in unknown.values()}
        new = [line for line, code in found.items() if code == NEW]
        if new:
            parsed = self._parse(place, new)
            if parsed is None:
                return False
            found.update(parsed)
        for index, line in unknown.items():
            codes[index][place] = found[line]
        return True

    def _parse(self, place: int, lines: Sequence[str]) -> dict[str, int] | None:
        """Return the codes of the values in these lines; None if one is faulty, or the owner's budget has no room."""
        cost = cost_of_lines(lines, self._dictionary)
        owner = None if self._budget.is_free(cost) else self._owner(place)
        if owner is not None and not self._budget.has_room(owner, cost):
            return None
        try:
            codes = {line: self._dictionary.parsed_code(line) for line in lines}
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
