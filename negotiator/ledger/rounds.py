"""Admission in rounds, for amounts that differ from slot to slot or groups that cross: exact, and still in columns.

Before each open candidate, the amounts charged have two bounds: those granted so far (lower), and those plus all open
candidates before it (upper). A candidate that fits above the upper bound is granted, independent of the others; one
that does not fit above the lower bound is refused. For the first open candidate both bounds are equal, so that each
round decides at least one, and usually most. When a round decides only a few, the exact loop finishes the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.groups import CandidateGroups
from negotiator.ledger.keys import LARGEST, Ints, Mask
from negotiator.ledger.lines import ChargeLine
from negotiator.ledger.loop import ChargeColumn, greedy

# A row costs about 2 µs in the loop, and a quarter of that in a round: a round must decide FEW rows and one in PART.
FEW = 128
PART = 8


@attrs.define(eq=False)
class _Open:
    """The open candidates, (n,); each line has its groups, its amounts, (n,), and the free amounts, (n,).

    Free is the room minus the amounts granted to earlier candidates.
    """

    rows: NDArray[np.intp]  # among all candidates
    lines: list[tuple[CandidateGroups, Ints, Ints]]

    def keep(self, mask: Mask) -> None:
        """Keep the candidates of a mask, (n,)."""
        if mask.all():
            return
        # Lines share groups: pick from each once, so that the sorted order of a group is computed once too.
        parts: dict[int, CandidateGroups] = {}
        for groups, _, _ in self.lines:
            if id(groups) not in parts:
                parts[id(groups)] = groups.pick(mask)
        self.lines = [(parts[id(groups)], amounts[mask], free[mask]) for groups, amounts, free in self.lines]
        self.rows = self.rows[mask]

    def possible(self) -> Mask:
        """Return those that fit above the lower bound: they are not refused yet."""
        fits = np.ones(len(self.rows), np.bool_)
        for _, amounts, free in self.lines:
            fits &= (amounts <= free) | (amounts == 0)
        return fits

    def certain(self) -> Mask:
        """Return those that fit above the upper bound: they are granted."""
        fits = np.ones(len(self.rows), np.bool_)
        for groups, amounts, free in self.lines:
            fits &= (amounts <= free - groups.before(amounts)) | (amounts == 0)
        return fits

    def grant(self, mask: Mask) -> None:
        """Subtract the amounts of granted candidates from the free amounts of later ones."""
        self.lines = [
            (groups, amounts, free - groups.before(np.where(mask, amounts, 0)))
            for groups, amounts, free in self.lines
        ]

    def is_countable(self) -> bool:
        """True if no sum of amounts can exceed 64 bits."""
        return all(int(amounts.max(initial=0)) * len(self.rows) <= LARGEST for _, amounts, _ in self.lines)

    def drop_slack(self) -> None:
        """Remove the lines that can no longer refuse a candidate."""
        count = len(self.rows)
        self.lines = [
            (groups, amounts, free)
            for groups, amounts, free in self.lines
            if int(amounts.max(initial=0)) * count > int(free.min(where=amounts > 0, initial=LARGEST))
        ]


def admit_rounds(lines: Sequence[ChargeLine], size: int, wanted: int) -> Mask:
    """Return the candidates that are granted, (C,)."""
    left = _Open(np.arange(size), _merged(lines, size))
    if wanted < size:  # the number of copies is one more charge: 1 for each candidate, at most ``wanted``
        left.lines.append((CandidateGroups(None), np.ones(size, np.int64), np.full(size, wanted)))
    left.keep(left.possible())
    granted = np.zeros(size, np.bool_)
    decided = size
    while len(left.rows) and left.is_countable() and decided >= FEW + len(left.rows) // PART:
        # Grant what fits in the worst case, subtract it from what is free, then drop what no longer fits.
        certain = left.certain()
        granted[left.rows[certain]] = True
        left.grant(certain)
        count = len(left.rows)
        left.keep(left.possible() & ~certain)
        decided = count - len(left.rows)
    granted[left.rows[_by_rows(left)]] = True
    return granted


def _merged(lines: Sequence[ChargeLine], size: int) -> list[tuple[CandidateGroups, Ints, Ints]]:
    """Merge the lines with the same groups and amounts. Where an amount is constant, matches are counted instead."""
    # Fewer lines make cheaper rounds: limits on the same groups and amounts (levels of queues) are their minimum.
    everyone = np.ones(size, np.bool_)
    merged: dict[tuple[int, int, int], tuple[CandidateGroups, Ints, Ints]] = {}
    for line in lines:
        if isinstance(line.amount, int):
            key = id(line.groups), id(line.charged), 0
            amounts, room = line.counts(everyone), line.room // line.amount
        else:
            key = id(line.groups), 0, id(line.amount)
            amounts, room = line.amount, line.room
        room = np.zeros(size, np.int64) + room
        if key in merged:
            np.minimum(merged[key][2], room, out=merged[key][2])
        else:
            merged[key] = line.groups, amounts, room
    return list(merged.values())


def _by_rows(left: _Open) -> Mask:
    """Return which of the open candidates are granted, row by row."""
    left.drop_slack()
    columns = [
        ChargeColumn(
            _numbers(groups, number, len(left.lines), len(left.rows)), amounts.tolist(), free.tolist()
        )
        for number, (groups, amounts, free) in enumerate(left.lines)
    ]
    return np.array(greedy(columns, len(left.rows), len(left.rows), shared=False), np.int64) < 0


def _numbers(groups: CandidateGroups, number: int, step: int, size: int) -> list[int]:
    """Return a number for the counter of each candidate that no other line uses."""
    return [number] * size if groups.codes is None else ((groups.codes + 1) * step + number).tolist()
