"""Accounting groups in a cycle: the rounds of groups, each turn of which divides the pie among a group's submitters; and their charges.

On the ledger each group has the weight of slots that it uses, those below it included, and its quota.

Source: HTCondor manual, "Group Accounting"; condor_negotiator 25.14, NEGOTIATOR_STRICT_ENFORCE_QUOTA. In mode enforce the
rounds of groups decide, and the ledger counts; with the switch ``group_overrun: fixed`` it refuses as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Charge, CounterKey, Cycle, Environment, Mode, Quota, Request, Table
from negotiator_fairshare.accounts.account import MILLIONTHS, from_millionths
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.groups.knobs import GroupConfiguration
from negotiator_fairshare.groups.limits import QuotaConstraint
from negotiator_fairshare.groups.quotas import GroupQuotas, assign_quotas
from negotiator_fairshare.groups.records import GroupTurn, RoundRecord
from negotiator_fairshare.groups.rounds import (
    GroupDemand,
    NegotiationRounds,
    SubmitterDemand,
    demand_of_groups,
)
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.groups.tree import GroupNode
from negotiator_fairshare.pie.order import FairShareOrder
from negotiator_fairshare.pie.shares import GroupLimit
from negotiator_fairshare.pie.slot_weights import WeightScale
from negotiator_fairshare.pie.submitter_turn import Turns
from negotiator_fairshare.pie.submitters import SubmitterAd
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


@attrs.frozen
class GroupsRecord:
    """What happened to the groups of one cycle.

    ``total`` is the weight that was divided, ``demand`` and ``usage`` those of each group when the cycle began.
    """

    total: float
    quotas: GroupQuotas
    demand: Mapping[str, GroupDemand]
    usage: Mapping[str, float]
    rounds: tuple[RoundRecord, ...]


@attrs.define(eq=False)
class GroupTurns:
    """The turns of accounting groups in one cycle.

    ``last_served`` is when each group was served last: the time of a cycle, in seconds since the epoch.
    """

    configuration: GroupConfiguration
    total: float
    quotas: GroupQuotas
    demand: Mapping[str, GroupDemand]
    usage: Mapping[str, float]
    last_served: Mapping[str, int]
    rounds: NegotiationRounds

    @classmethod
    def of(
        cls,
        configuration: GroupConfiguration,
        total: float,
        submitters: Sequence[SubmitterAd],
        use: UseCounter,
        last_served: Mapping[str, int],
        env: Environment,
    ) -> Self:
        """Return the turns of a cycle in which a weight is divided.

        :param total: without slot weights, the number of slots, where a partitionable slot counts as many as it has Cpus.
        """
        settings, tree = configuration.settings, configuration.tree
        ads = [
            SubmitterDemand(each.name, each.idle, each.running, each.weighted_idle, each.weighted_running)
            for each in submitters
        ]
        demand = demand_of_groups(tree, ads, weighted=settings.weighted_demand)
        quotas = assign_quotas(tree, total, oversubscription=settings.oversubscription)
        usage = {name: use.weighted(name) for name in tree.nodes}
        rounds = NegotiationRounds(settings, tree, quotas, demand, usage, last_served=last_served, env=env)
        return cls(configuration, total, quotas, demand, usage, last_served, rounds)

    def __call__(self, order: FairShareOrder) -> Turns:
        """Divide the pie among the submitters of each group at its turn."""
        while (turn := self.rounds.next_turn()) is not None:
            submitters = [order.submitters[index] for index in turn.submitters]
            left = yield from order.divide_among(submitters, _limit(turn))
            keys = {each.place for each in left}
            done = {
                index
                for index, each in zip(turn.submitters, submitters, strict=True)
                if each.place not in keys
            }
            usage = {name: order.cycle.use.weighted(name) for name in self.configuration.tree.nodes}
            self.rounds.end_turn(usage=usage, done=done)

    def attributes_of(self, user: str, use: UseCounter) -> dict[str, str | float]:
        """Return what requests of a user have of its group: the quota of this cycle, and the use now."""
        group = self.configuration.tree.group_of(user)
        return {
            "SubmitterGroup": group,
            "SubmitterGroupResourcesInUse": use.weighted(group),
            "SubmitterGroupQuota": self.rounds.assigned[group],
        }

    @property
    def record(self) -> GroupsRecord:
        """The rounds that have ended."""
        return GroupsRecord(self.total, self.quotas, self.demand, self.usage, self.rounds.records)

    @property
    def constraints(self) -> Sequence[QuotaConstraint]:
        """The quotas that bounded turns, in order."""
        return [each for record in self.rounds.records for each in record.constraints]

    def served(self, now: int) -> dict[str, int]:
        """Return when each group of the tree was served last, this cycle included."""
        names = self.configuration.tree.nodes
        before = {name: self.last_served[name] for name in names if name in self.last_served}
        return before | dict.fromkeys(sorted(self.rounds.served), now)


def _limit(turn: GroupTurn) -> GroupLimit:
    return GroupLimit(turn.group, turn.limit, turn.computed_limit, turn.autoregroup)
