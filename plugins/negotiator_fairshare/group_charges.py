"""Accounting groups on the ledger: the weight of slots that each group uses, those below it included, and its quota.

Source: HTCondor manual, "Group Accounting"; condor_negotiator 25.14, NEGOTIATOR_STRICT_ENFORCE_QUOTA. In mode enforce the
rounds of groups decide, and the ledger counts; with the switch ``group_overrun: fixed`` it refuses as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Charge, CounterKey, Cycle, Mode, Quota, Request, Table
from negotiator_fairshare.accounts.account import MILLIONTHS, from_millionths
from negotiator_fairshare.groups.quotas import GroupQuotas, assign_quotas
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.groups.tree import GroupNode
from negotiator_fairshare.pie.slot_weights import WeightScale
from negotiator_fairshare.settings import FairShareSettings

#: A heavier slot is counted as this: sums stay within 64 bits.
_HEAVIEST = 2.0**20


@attrs.define(eq=False)
class GroupCharges:
    """The charges of requests over one table of slots in one cycle; those of a group are made once.

    ``amounts`` is the weight of each slot, (S,), or one for all.
    """

    settings: FairShareSettings
    scale: WeightScale
    amounts: int | NDArray[np.int64]
    quotas: GroupQuotas
    _charges: dict[str, tuple[Charge, ...]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, slots: Table, settings: FairShareSettings, cycle: Cycle) -> Self:
        """Weigh the slots; nobody pays for the evaluation."""
        env = attrs.evolve(cycle, payers=None).environment
        scale = settings.weight_scale(env)
        weights = scale.of(slots)
        groups = settings.groups
        total = settings.pool_size(slots, weights, env).of_groups
        quotas = assign_quotas(groups.tree, total, oversubscription=groups.settings.oversubscription)
        amounts = _millionths(weights)
        same = len(amounts) > 0 and bool((amounts == amounts[0]).all())
        return cls(settings, scale, int(amounts[0]) if same else amounts, quotas)

    def of_request(self, request: Request) -> tuple[Charge, ...]:
        """Return the charges of a request: on its submitter's group and on each group above."""
        group = self.settings.groups.tree.group_of(request.submitter)
        if group not in self._charges:
            self._charges[group] = tuple(self._of_group(group))
        return self._charges[group]

    def _of_group(self, group: str) -> Iterator[Charge]:
        tree = self.settings.groups.tree
        # A group that negotiates again takes what is left of the pool, whatever the quotas.
        bounded = self.settings.group_quotas_bound and not tree.nodes[group].group.autoregroup
        for node in tree.upwards(group):
            limit = self._limit(node) if bounded else None
            yield Charge((node.name,), self.amounts, limit, self._quota(node, limit))

    def _limit(self, node: GroupNode) -> int | None:
        """Return the quota of a group and all below it; None if it accepts surplus."""
        if node.group.accept_surplus:
            return None
        quota = node.group.quota if node.group.static else self.quotas.subtree[node.name]
        return int(np.floor(quota * MILLIONTHS + 0.5))

    def _quota(self, node: GroupNode, limit: int | None) -> Quota:
        return Quota(
            rule=f"quota of accounting group {node.name}",
            text=f"slots of accounting group {node.name}",
            code="group_quota",
            scale=MILLIONTHS,
            source=self.settings.groups.sources.get(node.name),
            mode=Mode.ENFORCE if limit is None else self.settings.accounting_group_mode,
            of_part=self._of_part,
        )

    def _of_part(self, before: Table, after: Table) -> NDArray[np.int64]:
        return _millionths(self.scale.of_part(before, after))


def group_usage(settings: FairShareSettings, sums: Mapping[CounterKey, int]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each group, breadth first: what it and the groups below it use, and its quota.

    ``quota`` is a weight; a dynamic one is ``fraction``, of the quota of the group above.

    :param sums: the amounts in use, in millionths, by group.
    """
    groups = settings.groups
    for node in groups.tree.nodes.values():
        group = node.group
        entry: dict[str, Any] = {"group": node.name, "used": from_millionths(sums.get((node.name,), 0))}
        if node.name != ROOT_GROUP:
            entry["quota" if group.static else "fraction"] = group.quota
            entry["accept_surplus"] = group.accept_surplus
            entry["mode"] = str(settings.accounting_group_mode)
        yield entry


def _millionths(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.rint(weights.clip(max=_HEAVIEST) * MILLIONTHS).astype(np.int64)
    return found
