"""Admission in closed form, for counters with one amount and one limit each, and groups that lie within groups.

In a group with room for n matches the first n candidates pass. Applied from the finest grouping to the coarsest, this
equals going row by row. The finer groups grant to the coarse one exactly the candidates that it would see one by one;
and once the coarse group is full it stays full, so that the candidates it refuses come after all that it grants, and
refusing them takes nothing from a finer group that an earlier candidate needed. With groups that cross (slots of a host,
slots of a rack that holds half of it) a refusal in one frees room in the other for a later candidate: those requests,
and amounts or limits that differ within a group, are left to ``rounds`` and to the exact ``loop``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.ledger.groups import CandidateGroups
from negotiator.ledger.keys import Ints, Mask
from negotiator.ledger.lines import ChargeLine


@attrs.define(eq=False)
class _Part:
    """The lines over the same groups: ``caps`` is the number of matches that each has room for, one integer or (C,)."""

    groups: CandidateGroups
    charged: Mask | None
    caps: int | Ints

    @property
    def codes(self) -> Ints:
        """The group of each candidate, -1 if it is not charged."""
        codes = self.groups.codes
        if codes is None:
            return np.zeros(1, np.int64) if self.charged is None else np.where(self.charged, 0, -1)
        return codes if self.charged is None else np.where(self.charged, codes, -1)


def admit_nested(lines: Sequence[ChargeLine], size: int, wanted: int) -> Mask | None:
    """Return the candidates that are granted, (C,); None if amounts, limits or groups need another way."""
    parts = _parts(lines)
    if parts is None:
        return None
    ordered = sorted(parts, key=_fineness)
    if not _nest(ordered):
        return None
    granted = np.ones(size, np.bool_)
    # A candidate passes a part if fewer than ``caps`` of its group passed before it. What a coarser part refuses later
    # is behind everything it grants, so that the counts of finer parts stay right for the candidates that matter.
    for part in ordered:
        inside = granted if part.charged is None else granted & part.charged
        full = part.groups.before(inside.astype(np.int64)) >= part.caps
        granted &= ~(full if part.charged is None else full & part.charged)
    granted[np.flatnonzero(granted)[wanted:]] = False
    return granted


def _parts(lines: Sequence[ChargeLine]) -> list[_Part] | None:
    """Return the lines by groups; None if a counter has several amounts or limits."""
    parts: dict[tuple[int, int], _Part] = {}
    for line in lines:
        if not isinstance(line.amount, int):
            return None
        # A limit for each row (a formula) is fine as long as all rows of one counter have the same.
        if not isinstance(line.room, int) and not line.groups.is_same_within(line.room, line.charged):
            return None
        # With one amount a limit is a number of matches: several limits on the same groups are their minimum.
        caps = line.room // line.amount
        part = parts.setdefault((id(line.groups), id(line.charged)), _Part(line.groups, line.charged, caps))
        part.caps = (
            min(part.caps, caps)
            if isinstance(part.caps, int) and isinstance(caps, int)
            else np.minimum(part.caps, caps)
        )
    return list(parts.values())


def _fineness(part: _Part) -> tuple[int, int]:
    """Sort finer groups first: more groups, or fewer candidates in them."""
    if part.groups.codes is None and part.charged is None:
        return 0, 0
    codes = part.codes
    seen = np.zeros(part.groups.bound, np.bool_)
    seen[codes[codes >= 0]] = True
    return -int(seen.sum()), int((codes >= 0).sum())


def _nest(parts: Sequence[_Part]) -> bool:
    """True if each group lies within one group of each coarser part, or outside of all its groups."""
    return all(
        (coarse.groups.codes is None and coarse.charged is None)
        or fine.groups.is_same_within(coarse.codes, fine.charged)
        for number, fine in enumerate(parts)
        for coarse in parts[number + 1 :]
    )
