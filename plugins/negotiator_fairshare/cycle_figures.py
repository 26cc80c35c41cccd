"""What the last cycle leaves for ``negotiator userprio``: shares of submitters, and quotas and demand of groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import attrs

from negotiator_fairshare.accounts import state_rows
from negotiator_fairshare.group_turns import GroupsRecord
from negotiator_fairshare.groups.figures import GroupFigures, configured_figures
from negotiator_fairshare.groups.tree import GroupTree
from negotiator_fairshare.pie.trace import PieRecord

KEY: Final = "figures"
"""The key of its row in the state."""

_LARGEST = 3.4028234663852886e38  # numbers of other sizes are cut to it, as single precision does


@attrs.frozen
class CycleFigures:
    """``shares`` has the share and the limit of each submitter at its first turn; ``groups`` what groups had.

    Numbers of a group: effective quota, subtree quota, sort key, requested.
    """

    shares: Mapping[str, tuple[float, float]] = attrs.field(factory=dict)
    groups: Mapping[str, tuple[float, float, float, float]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, pies: Iterable[PieRecord], record: GroupsRecord | None) -> Self:
        """Return the figures of a cycle."""
        shares: dict[str, tuple[float, float]] = {}
        for pie in pies:
            for spin in pie.spins:
                for turn in spin.turns:
                    shares.setdefault(turn.submitter, (_finite(turn.share), _finite(turn.limit)))
        return cls(shares, {} if record is None else _groups(record))

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
        return cls(shares, groups)

    def to_row(self) -> dict[str, Any]:
        """Return the row of the figures."""
        return {
            "shares": {name: list(each) for name, each in self.shares.items()},
            "groups": {name: list(each) for name, each in self.groups.items()},
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
