"""Negotiation rounds: which group negotiates next, and with which limit.

Source: HTCondor 25.14, as recorded. A round allocates the pool to the groups, orders them, and gives each a turn (with
``GROUP_QUOTA_ROUND_ROBIN_RATE`` several, in steps). If groups did not use what they were allocated, a further round offers
it to the others.

An allocator drives the rounds. ``ads`` are its submitter ads, and ``pie`` shares the limit among some of them::

    groups = read_groups(knobs)
    settings, tree = groups.settings, groups.tree
    demand = demand_of_groups(tree, ads, weighted=settings.weighted_demand)
    quotas = assign_quotas(tree, total, oversubscription=settings.oversubscription)
    rounds = NegotiationRounds(settings, tree, quotas, demand, usage)
    while (turn := rounds.next_turn()) is not None:
        result = pie([ads[index] for index in turn.submitters], turn.limit)
        rounds.end_turn(usage=result.usage_by_group, done=result.indexes_done)
    explain(rounds.records)

If ``tree.is_flat`` there are no groups: call the pie once, without a limit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

import attrs

from negotiator.plugin import Environment, InvalidCallError
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.groups.demand import GroupDemand
from negotiator_fairshare.groups.limits import (
    QuotaConstraint,
    cut,
    enforce_quotas,
    limit_of_turn,
    shortfall,
)
from negotiator_fairshare.groups.order import order_groups
from negotiator_fairshare.groups.quotas import GroupQuotas
from negotiator_fairshare.groups.records import GroupTurn, RoundRecord, SkipReason
from negotiator_fairshare.groups.settings import GroupSettings
from negotiator_fairshare.groups.surplus import Allocation, GroupAllocation, allocate
from negotiator_fairshare.groups.tree import GroupNode, GroupTree


class NegotiationRounds:
    """The rounds of one cycle, driven turn by turn; see the example of this module.

    :param usage: the weight that each group of the tree uses when the cycle begins, without the groups below it; missing
        groups use nothing. Without slot weights, the number of slots.
    :param last_served: of earlier cycles, see ``served``; needed only without slot weights.
    :param env: the time and random numbers of the sort expression.
    """

    def __init__(
        self,
        settings: GroupSettings,
        tree: GroupTree,
        quotas: GroupQuotas,
        demand: Mapping[str, GroupDemand],
        usage: Mapping[str, float],
        *,
        last_served: Mapping[str, float] | None = None,
        env: Environment | None = None,
    ) -> None:
        self._settings = settings
        self._tree = tree
        self._quotas = quotas
        self._requested = {name: demand[name].requested for name in tree.nodes}
        self._submitters = {name: demand[name].submitters for name in tree.nodes}
        self._usage = {name: usage.get(name, 0.0) for name in tree.nodes}
        self._last_served = last_served or {}
        self._env = env
        self._turn: GroupTurn | None = None
        self._turns = self._run()
        self._records: list[RoundRecord] = []
        self._served: frozenset[str] = frozenset()

    @property
    def records(self) -> tuple[RoundRecord, ...]:
        """The rounds that have ended."""
        return tuple(self._records)

    @property
    def assigned(self) -> Mapping[str, float]:
        """The quota of each group in this round; with autoregroup, that of the root is the whole pool (``autoregroup_quota``)."""
        return self._quotas.assigned

    @property
    def served(self) -> frozenset[str]:
        """The groups whose last service is now, for ``last_served`` of later cycles, once all rounds have ended.

        They got a whole slot in turn or want nothing.
        """
        return self._served

    def next_turn(self) -> GroupTurn | None:
        """Return the next turn, None if all rounds have ended.

        :raises InvalidCallError: the turn before has not ended.
        """
        if self._turn is not None:
            raise InvalidCallError(f"the turn of group {self._turn.group} has not ended: call end_turn first")
        self._turn = next(self._turns, None)
        return self._turn

    def end_turn(self, *, usage: Mapping[str, float], done: Collection[int] = ()) -> None:
        """Record what a turn changed.

        :param usage: the weight in use now of at least the groups whose use changed. With autoregroup these can be
            others than the group of the turn.
        :param done: the indexes of submitter ads that leave the group's list for the rest of the cycle.
        :raises InvalidCallError: there is no turn, or a group is unknown.
        """
        if self._turn is None:
            raise InvalidCallError("no turn to end: call next_turn first")
        unknown = sorted(usage.keys() - self._usage.keys())
        if unknown:
            raise InvalidCallError(f"the use of unknown groups: {', '.join(unknown)}")
        self._usage.update(usage)
        group = self._turn.group
        self._submitters[group] = tuple(each for each in self._submitters[group] if each not in done)
        self._turn = None

    def _run(self) -> Iterator[GroupTurn]:
        for _ in range(self._settings.max_rounds):
            current = self._begin()
            yield from self._turns_of(current)
            record = current.record(self._usage)
            self._records.append(record)
            self._bound_requests(record)
            wanting_nothing = {name for name, requested in self._requested.items() if requested <= 0}
            self._served = current.allocation.served | wanting_nothing
            if record.used >= record.allocated:
                return

    def _begin(self) -> _Round:
        """Allocate and order."""
        settings = self._settings
        allocation = allocate(
            self._tree,
            self._quotas,
            self._requested,
            slot_weights=settings.slot_weights,
            last_served=self._last_served,
        )
        if settings.any_autoregroups:
            allocation = self._regrouped(allocation)
        largest = max(
            shortfall(group, self._usage[name], surplus_accepted=settings.any_accepts_surplus)
            for name, group in allocation.groups.items()
        )
        order = order_groups(
            settings.sort_expression,
            allocation.groups,
            self._usage,
            root_last=settings.any_autoregroups,
            env=self._env,
        )
        return _Round(allocation, order, largest, dict(self._usage))

    def _regrouped(self, allocation: Allocation) -> Allocation:
        """Return the allocation with the whole pool for the root."""
        root = self._tree.root.name
        total = self._quotas.subtree[root]
        whole = attrs.evolve(allocation.groups[root], quota=total, allocated=total)
        if self._settings.quirks.autoregroup_quota is Compatible.EXACT:
            self._quotas = attrs.evolve(self._quotas, assigned={**self._quotas.assigned, root: total})
        return attrs.evolve(allocation, groups={**allocation.groups, root: whole})

    def _turns_of(self, current: _Round) -> Iterator[GroupTurn]:
        """Yield the turns of one round."""
        progress = 0.0
        while True:
            progress = min(progress + self._settings.round_robin_rate, current.largest)
            current.steps.append(progress)
            for name, _ in current.order:
                reason = self._reason_to_skip(name, current)
                if reason is not None:
                    current.skipped[name] = reason
                    continue
                turn, constraints = self._turn_of(self._tree.nodes[name], current, progress)
                current.turns.append(turn)
                current.constraints.extend(constraints)
                yield turn
            if progress >= current.largest:
                return

    def _reason_to_skip(self, name: str, current: _Round) -> SkipReason | None:
        allocated = current.allocation.groups[name].allocated
        if allocated <= 0:
            return SkipReason.NOTHING_ALLOCATED
        if not self._settings.consider_preemption and current.usage_before[name] >= allocated:
            return SkipReason.AT_QUOTA
        return None if self._submitters[name] else SkipReason.NO_SUBMITTERS

    def _turn_of(
        self, node: GroupNode, current: _Round, progress: float
    ) -> tuple[GroupTurn, tuple[QuotaConstraint, ...]]:
        before = current.usage_before[node.name]
        quirks = self._settings.quirks
        allocation = current.allocation.groups[node.name]
        limit = limit_of_turn(allocation, before, progress, current.largest, quirks)
        if not self._settings.slot_weights and not math.isnan(limit):
            limit = float(math.floor(limit))
        constraints: tuple[QuotaConstraint, ...] = ()
        if self._settings.strict:
            limit, constraints = enforce_quotas(self._tree, self._quotas, node, limit, before, self._usage)
        regroups = self._settings.any_autoregroups and node is self._tree.root
        turn = GroupTurn(
            node.name,
            cut(limit, quirks),
            limit,
            self._submitters[node.name],
            autoregroup=regroups,
        )
        return turn, constraints

    def _bound_requests(self, record: RoundRecord) -> None:
        """Let groups that did not fill their allocation request no more than they use, in all further rounds."""
        for name, group in record.allocations.items():
            if self._usage[name] < group.allocated:
                self._requested[name] = self._usage[name]


@attrs.define
class _Round:
    """A round in progress."""

    allocation: Allocation
    order: Collection[tuple[str, float]]
    largest: float
    usage_before: Mapping[str, float]
    steps: list[float] = attrs.field(factory=list)
    turns: list[GroupTurn] = attrs.field(factory=list)
    skipped: dict[str, SkipReason] = attrs.field(factory=dict)
    constraints: list[QuotaConstraint] = attrs.field(factory=list)

    def record(self, usage: Mapping[str, float]) -> RoundRecord:
        """Return the record of the round, given the use after it."""
        groups: Mapping[str, GroupAllocation] = self.allocation.groups
        return RoundRecord(
            allocations=groups,
            surplus=self.allocation.surplus,
            largest_shortfall=self.largest,
            steps=tuple(self.steps),
            order=tuple(self.order),
            turns=tuple(self.turns),
            skipped=self.skipped,
            constraints=tuple(self.constraints),
            allocated=sum(group.allocated for group in groups.values()),
            used=sum(min(usage[name], group.allocated) for name, group in groups.items()),
        )
