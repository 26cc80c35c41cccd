"""What the last cycle leaves for those who show the accounts: shares of submitters, quotas and demand of groups, preempted use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import attrs

from negotiator_fairshare.accounts import state_rows
from negotiator_fairshare.accounts.use import Use, UseCounter, checked_use
from negotiator_fairshare.group_turns import GroupsRecord
from negotiator_fairshare.groups.records import GroupFigures, configured_figures
from negotiator_fairshare.groups.tree import GroupTree
from negotiator_fairshare.pie.trace import PieRecord

KEY: Final = "figures"
"""The key of its row in the state."""

_LARGEST = 3.4028234663852886e38  # numbers of other sizes are cut to it, as single precision does


@attrs.frozen
class CycleFigures:
    """``shares`` has each submitter's share and its part of the pie, use included; ``groups`` what groups had.

    They are those of the first spin of the last pie that the submitter took part in (``Matchmaker::negotiateWithGroup``).

    Numbers of a group: effective quota, subtree quota, sort key, requested. ``preempted`` is what users and groups have of the slots
    whose claims the matches of the cycle end. Until the next cycle the accounts have these slots for both users, as
    condor_negotiator charges them; those who show the use leave it out, so that it never exceeds the pool.
    """

    shares: Mapping[str, tuple[float, float]] = attrs.field(factory=dict)
    groups: Mapping[str, tuple[float, float, float, float]] = attrs.field(factory=dict)
    preempted: Mapping[str, Use] = attrs.field(factory=dict)

    @classmethod
    def of(cls, pies: Iterable[PieRecord], record: GroupsRecord | None, preempted: UseCounter) -> Self:
        """Return the figures of a cycle."""
        shares: dict[str, tuple[float, float]] = {}
        for pie in pies:
            for spin in pie.spins[:1]:
                for turn in spin.turns:
                    share = _finite(turn.share)
                    shares[turn.submitter] = (share, _finite(share * spin.slot_weight_total))
        use = {name: preempted.own(name) for name in sorted(preempted.names())}
        return cls(shares, {} if record is None else _groups(record), use)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the figures of a row.

        :raises ValueError: the row is damaged.
        """
        parts = [row.get("shares"), row.get("groups")]
        for part, size in zip(parts, (2, 4), strict=True):
            if not isinstance(part, dict) or not all(_are_numbers(each, size) for each in part.values()):
                raise ValueError("expected the shares and groups of a cycle")
        shares, groups = (
            {name: tuple(each) for name, each in part.items()} for part in parts if part is not None
        )
        preempted = row.get("preempted", {})
        if not isinstance(preempted, dict):
            raise ValueError("expected what preempted users had")  # noqa: TRY004 - the row is at fault, not the caller
        return cls(shares, groups, {name: checked_use(each) for name, each in preempted.items()})

    def to_row(self) -> dict[str, Any]:
        """Return the row of the figures."""
        preempted = {name: list(each) for name, each in self.preempted.items()}
        return {
            "shares": {name: list(each) for name, each in self.shares.items()},
            "groups": {name: list(each) for name, each in self.groups.items()},
            **({"preempted": preempted} if preempted else {}),
        }

    def figures(self, tree: GroupTree) -> dict[str, GroupFigures]:
        """Return the figures of the groups of a tree; those of the last cycle are 0 for a new group."""
        found = {}
        for name, node in tree.nodes.items():
            effective, subtree, sort_key, requested = self.groups.get(name, (0.0, 0.0, 0.0, 0.0))
            found[name] = attrs.evolve(
                configured_figures(node.group),
                effective_quota=effective,
                subtree_quota=subtree,
                sort_key=sort_key,
                requested=requested,
            )
        return found


def _groups(record: GroupsRecord) -> dict[str, tuple[float, float, float, float]]:
    keys = dict(record.rounds[-1].order) if record.rounds else {}
    quotas = dict(record.quotas.assigned)
    if record.rounds:  # with autoregroup, the root negotiated for the whole pool
        quotas |= {name: each.quota for name, each in record.rounds[-1].allocations.items()}
    return {
        name: (
            _finite(quotas[name]),
            _finite(record.quotas.subtree[name]),
            _finite(keys.get(name, 0.0)),
            _finite(demand.requested),
        )
        for name, demand in record.demand.items()
    }


def _finite(value: float) -> float:
    """Return a number that a row can have: weights and expressions are those of ads and of administrators."""
    return 0.0 if math.isnan(value) else float(max(-_LARGEST, min(_LARGEST, value)))


def _are_numbers(values: object, size: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == size
        and all(type(each) is float and abs(each) <= _LARGEST for each in values)
    )


def check_row(key: str, row: Mapping[str, Any]) -> None:
    """Check a row of fair share that an earlier process left.

    :raises ValueError: it is damaged.
    """
    if key == KEY:
        CycleFigures.from_row(row)
    else:
        state_rows.check_row(key, row)
