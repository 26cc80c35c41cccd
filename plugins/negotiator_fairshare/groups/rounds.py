"""Negotiation rounds: which group negotiates next, by its demand and ``GROUP_SORT_EXPR``, and with which limit.

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
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from negotiator.plugin import (
    Ad,
    ClassAdValue,
    Environment,
    Expr,
    InvalidCallError,
    Table,
    evaluate_table,
    parse,
    unparse_value,
)
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.groups.limits import (
    QuotaConstraint,
    cut,
    enforce_quotas,
    limit_of_turn,
    shortfall,
)
from negotiator_fairshare.groups.quotas import Allocation, GroupAllocation, GroupQuotas, allocate
from negotiator_fairshare.groups.records import GroupTurn, RoundRecord, SkipReason
from negotiator_fairshare.groups.settings import ROOT_GROUP, GroupSettings
from negotiator_fairshare.groups.tree import GroupNode, GroupTree

#: The key of a group for which the expression is not a number: the largest single-precision float.
NOT_A_NUMBER: Final = 3.4028234663852886e38


@attrs.frozen
class SubmitterDemand:
    """The demand of one submitter ad: its Name, IdleJobs, RunningJobs, WeightedIdleJobs and WeightedRunningJobs."""

    name: str
    idle: int
    running: int
    weighted_idle: float
    weighted_running: float


@attrs.frozen
class GroupDemand:
    """The demand of one group.

    ``requested`` is the weight that the group's submitters run and want. ``submitters`` are the indexes of the submitter
    ads that negotiate in the group; with autoregroup the root has those of other groups too.
    """

    requested: float = 0.0
    submitters: tuple[int, ...] = ()


def demand_of_groups(
    tree: GroupTree, submitters: Sequence[SubmitterDemand], *, weighted: bool
) -> Mapping[str, GroupDemand]:
    """Return the demand of every group of the tree."""
    requested = dict.fromkeys(tree.nodes, 0.0)
    members: dict[str, list[int]] = {name: [] for name in tree.nodes}
    for index, submitter in enumerate(submitters):
        node = tree.nodes[tree.group_of(submitter.name)]
        requested[node.name] += _demand(submitter, weighted=weighted)
        members[node.name].append(index)
        if node.group.autoregroup and node is not tree.root:
            members[tree.root.name].append(index)
    return {name: GroupDemand(requested[name], tuple(members[name])) for name in tree.nodes}


def _demand(submitter: SubmitterDemand, *, weighted: bool) -> float:
    if weighted:
        return submitter.weighted_idle + submitter.weighted_running
    return float(submitter.idle + submitter.running)


def order_groups(
    expression: Expr,
    allocations: Mapping[str, GroupAllocation],
    usage: Mapping[str, float],
    *,
    root_last: bool,
    env: Environment | None = None,
) -> Sequence[tuple[str, float]]:
    """Return the groups with their keys in ascending order of keys; equal keys in the order of ``allocations``.

    The expression reads AccountingGroup, GroupQuota, GroupResourcesAllocated and GroupResourcesInUse. Keys are compared in
    single precision, as recorded: 8 / (5 / 3) and 4 / (5 / 6) are equal.

    :param usage: the weight that each group uses now.
    :param root_last: the root comes last whatever its key.
    """
    ads = Table.from_ads(_ad(name, group, usage[name]) for name, group in allocations.items())
    column = evaluate_table(expression, ads, env=env)
    keys = np.array([_key(column.value(row)) for row in range(len(allocations))], np.float64)
    with np.errstate(over="ignore"):
        single = keys.astype(np.float32).tolist()
    ordered = sorted(zip(allocations, keys.tolist(), single, strict=True), key=lambda each: each[2])
    found = ((name, key) for name, key, _ in ordered)
    return sorted(found, key=lambda each: root_last and each[0] == ROOT_GROUP)


def _ad(name: str, group: GroupAllocation, usage: float) -> Ad:
    values: Mapping[str, ClassAdValue] = {
        "AccountingGroup": name,
        "GroupQuota": group.quota,
        "GroupResourcesAllocated": group.allocated,
        "GroupResourcesInUse": usage,
    }
    return Ad([(attribute, parse(unparse_value(value))) for attribute, value in values.items()])


def _key(value: ClassAdValue) -> float:
    key = float(value) if isinstance(value, bool | int | float) else NOT_A_NUMBER
    return NOT_A_NUMBER if math.isnan(key) else key  # NaN has no order


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
