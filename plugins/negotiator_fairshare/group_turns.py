"""Accounting groups in a cycle: the rounds of groups, each turn of which divides the pie among a group's submitters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import attrs

from negotiator.plugin import Environment
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
from negotiator_fairshare.pie.order import FairShareOrder
from negotiator_fairshare.pie.shares import GroupLimit
from negotiator_fairshare.pie.submitter_turn import Turns
from negotiator_fairshare.pie.submitters import SubmitterAd


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
