"""The order ``submitters``: accounts, weights and the pie of one cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Environment,
    Feedback,
    Mask,
    OrderContext,
    OrderResult,
    Preemption,
    QueuedRequest,
    RequestOrder,
    RequestRun,
    ServedRun,
    SlotOffer,
    Table,
    WaitReason,
    bind,
    evaluate_table,
    parse,
)
from negotiator_fairshare import cycle_figures
from negotiator_fairshare.accounts.account import ResourceRecord, stored
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.settings import AccountSettings
from negotiator_fairshare.accounts.state_rows import (
    accounts_of,
    group_rows,
    last_served_of,
    quotas_of,
    resource_rows,
    resources_of,
    rows_of,
)
from negotiator_fairshare.accounts.use import GrowingUse, NegotiatorUse, UseCounter, sums_of
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.cycle_figures import CycleFigures
from negotiator_fairshare.group_turns import GroupsRecord, GroupTurns
from negotiator_fairshare.offer import PendingMatches, SlotUserAccounts, names_as_written, slot_offer
from negotiator_fairshare.pie.cycle import PieCycle, no_attributes, queues_of
from negotiator_fairshare.pie.order import FairShareOrder, single_call
from negotiator_fairshare.pie.settings import USE_OF_SLOTS, PieQuirks
from negotiator_fairshare.pie.shares import LARGEST, ShareAccount
from negotiator_fairshare.pie.slot_weights import PoolSize, SlotUse, counted_weights, slot_keys
from negotiator_fairshare.pie.submitters import (
    DepthFirst,
    JobPriorities,
    SubmitterAd,
    by_priority,
    submitter_ads,
    submitters_of_jobs,
)
from negotiator_fairshare.pie.trace import PieRecord, RejectionRecord, counts_of, shares_of
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.submitter_reasons import SubmitterReasons

_MATCHED = bind(parse('MY.State == "Matched"'))


@attrs.frozen
class FairShareRecord:
    """What happened: the pies, the rejections in their order, and the rounds of accounting groups if there are any."""

    pies: tuple[PieRecord, ...]
    rejections: tuple[RejectionRecord, ...]
    groups: GroupsRecord | None = None


@attrs.define(eq=False)
class SubmitterOrder(RequestOrder):
    """Submitters by effective priority, each within its share of the pool."""

    accounts: Accounts
    pie: FairShareOrder
    slots: SlotOffer
    in_use: SlotUse
    resources: dict[str, ResourceRecord]  # the slots in use, by key
    name_of: Callable[[str], str]
    size: PoolSize  # of the slots that this negotiator divides
    now: int
    groups: GroupTurns | None = None
    #: Of each turn: the submitter, the rows of the slots of its matches, and their weights.
    _granted: list[tuple[str, NDArray[np.intp], list[float]]] = attrs.field(factory=list, init=False)
    _preempting: set[int] = attrs.field(factory=set, init=False)  # rows of slots whose claims matches end

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        """Return the order of a cycle; the accounts are brought up to its time."""
        settings = context.settings or FairShareSettings()
        own, env = settings.accounts, context.cycle.environment
        now = int(context.cycle.now)
        accounts = accounts_of(context.rows, now)
        scale = settings.weight_scale(env)
        weights = scale.of(context.slots)
        discounted = settings.NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES
        pool, others = accounts.pool, () if accounts.pool is None else accounts.pool.others(now)
        counted = None if pool is None else pool.owned(context.slots, env)
        in_use = SlotUse.of(context.slots, env, discount_suspended=discounted, own=counted)
        use = in_use.counter(weights, own.group_of, sums_of(others))
        submitters = _submitters(context, settings)
        name_of = names_as_written((each.name for each in submitters), accounts.records)
        owned = None if pool is None else pool.owned
        pending = PendingMatches.of(context, scale, name_of, env, owned)
        waiting = pending.count(use, scale, env, now, discount_suspended=discounted)
        before = _MatchedBefore.of(context)
        for record in before.records.values():
            use.add(record.user, record.weight)
        resources = before.records | in_use.records(context.slots, weights, now) | waiting
        accounts = accounts.updated(now, own).recounted(use)
        accounts = accounts.seen([*own.groups, *(each.name for each in submitters)], own)
        size = _size(context.slots, weights, counted, settings, env)
        if len(pending.left_out):
            size = size.plus(settings.pool_size(pending.left_out, scale.of(pending.left_out), env))
        own_size = size
        for each in others:
            size = size.plus(PoolSize(each.slots, each.weight, each.of_groups))
        groups = None
        if settings.groups_negotiate:
            groups = GroupTurns.of(
                *(settings.groups, size.of_groups, submitters, use, last_served_of(context.rows), env),
            )
        quotas: Mapping[str, float] = quotas_of(context.rows)  # of the cycle before
        if settings.offer_quirks.remote_group_quota is Compatible.FIXED:
            quotas = {} if groups is None else groups.quotas.assigned
        growing = GrowingUse()
        if settings.reads_any(USE_OF_SLOTS):
            growing = GrowingUse.of(
                name for each in submitters for name in (each.name, own.group_of(each.name))
            )
        of_slots = SlotUserAccounts(accounts, use, own, quotas, growing)
        offer = slot_offer(context.slots, in_use, of_slots, settings, env, before.slots)
        trimmed = np.zeros(len(weights), np.bool_)
        for withheld in offer.withheld:
            trimmed |= withheld.slots
        cycle = PieCycle(
            queues=queues_of(context.requests),
            use=use,
            weights=weights,
            min_slot_weight=_least(counted_weights(context.slots, weights, env), settings.pie.quirks),
            weigh=scale.of_part,
            free=int(np.count_nonzero(~trimmed)),
            any_claimed=offer.preemption is not None and bool((offer.preemption.users != "").any()),
            settings=settings.pie,
            priorities=JobPriorities(context.jobs),
            quotas=context.refusals,
            group_attributes=no_attributes if groups is None else partial(groups.attributes_of, use=use),
            growing=growing,
            depth_first=DepthFirst(context.slots, env) if settings.NEGOTIATOR_DEPTH_FIRST else None,
            time=context.time,
        )
        pie = FairShareOrder(
            submitters=submitters,
            accounts=_Reader(accounts, use, own),
            total=size.weight,
            counted=size.slots,
            cycle=cycle,
            calls=groups or single_call,
        )
        return cls(accounts, pie, offer, in_use, resources, name_of, own_size, now, groups)

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        return self.pie.next()

    def run(self) -> RequestRun | None:
        """Return the requests of the next turns."""
        return self.pie.run()

    def served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        """Learn the outcome of a run."""
        turns = self.pie.served(run)
        name, weights = self.name_of(turns[0].request.submitter), self.pie.cycle.weights
        self._granted += [(name, rows, weights[rows].tolist()) for rows in run.slots if len(rows)]
        return turns

    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of a turn."""
        self.pie.feedback(feedback)
        if len(feedback.slots):
            weights = self.pie.cycle.weights[feedback.slots] if feedback.weights is None else feedback.weights
            self._granted.append(
                (self.name_of(feedback.queued.request.submitter), feedback.slots, weights.tolist())
            )
        if feedback.preemptions is not None:
            self._preempting.update(feedback.slots[feedback.preemptions != Preemption.NONE].tolist())

    def offer(self) -> SlotOffer:
        """Return the slots of the cycle."""
        return self.slots

    def wait_reason(self, queued: QueuedRequest) -> WaitReason | None:
        """Return why a request had no turn, or why its allowance ended."""
        return self._reasons.reason(queued)

    @cached_property
    def _reasons(self) -> SubmitterReasons:
        return SubmitterReasons.of(self.pie, self.groups)

    def ended(self) -> OrderResult:
        """Return the accounts after the cycle, and what happened."""
        size = self.size
        cycle = NegotiatorUse(
            charged_until=self.now,
            slots=size.slots,
            weight=stored(size.weight),
            of_groups=stored(size.of_groups),
        )
        accounts = self.accounts.recounted(self.pie.cycle.use).left_by(cycle)
        rows = rows_of(accounts) | resource_rows(self.resources | self._matched(), self.now)
        if self.groups is not None:
            served = self.groups.served(self.now)
            rows |= group_rows(self.groups.rounds.assigned, served)
        groups = None if self.groups is None else self.groups.record
        rows[cycle_figures.KEY] = CycleFigures.of(self.pie.pies, groups, self._preempted_use()).to_row()
        happened = FairShareRecord(tuple(self.pie.pies), tuple(self.pie.cycle.rejections), groups)
        shares = shares_of(self.pie.pies, self.pie.cycle.use.weighted)
        return OrderResult(rows, happened, counts_of(self.pie.pies), shares)

    def _matched(self) -> dict[str, ResourceRecord]:
        """Return the records of the slots of matches, by key."""
        if not self._granted:
            return {}
        keys = slot_keys(self.slots.slots.take(np.concatenate([rows for _, rows, _ in self._granted])))
        owners = ((name, weight) for name, _, weights in self._granted for weight in weights)
        return {
            key: ResourceRecord(name, stored(weight), self.now)
            for key, (name, weight) in zip(keys, owners, strict=True)
        }

    def _preempted_use(self) -> UseCounter:
        """Return what the claims use that matches of the cycle end."""
        use = UseCounter(self.pie.cycle.use.group_of)
        if self._preempting:
            rows, weights = np.flatnonzero(self.in_use.counted), self.pie.cycle.weights
            for row, user in zip(rows.tolist(), self.in_use.users, strict=True):
                if user and row in self._preempting:
                    use.add(user, float(weights[row]))
        return use


@attrs.frozen
class _Reader:
    """Reads the accounts of one cycle for the pie, with their usage now."""

    accounts: Accounts
    use: UseCounter
    settings: AccountSettings

    def __call__(self, name: str) -> ShareAccount:
        record = self.accounts.get(name)
        return ShareAccount(
            priority=self.accounts.effective_priority(name, self.settings),
            factor=self.accounts.factor(name, self.settings),
            usage=self.use.weighted(name),
            ceiling=record.ceiling,
            floor=record.floor,
        )


@attrs.frozen(eq=False)
class _MatchedBefore:
    """The slots in state Matched that the records of an imported log have, (S,), and these records by key.

    Their matches were made before this program took over. They count as its own until the slots show their claims, or leave the state.
    """

    slots: Mask
    records: dict[str, ResourceRecord]

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        found: Mask = evaluate_table(_MATCHED, context.slots, env=context.cycle.environment).is_true().copy()
        rows = np.flatnonzero(found)
        if not len(rows):
            return cls(found, {})
        known, keys = resources_of(context.rows), slot_keys(context.slots.take(rows))
        found[rows] = [key in known for key in keys]
        return cls(found, {key: known[key] for key in keys if key in known})


def _size(
    slots: Table,
    weights: NDArray[np.float64],
    counted: Mask | None,
    settings: FairShareSettings,
    env: Environment,
) -> PoolSize:
    """Return the size of the slots that this negotiator counts."""
    if counted is None or counted.all():
        return settings.pool_size(slots, weights, env)
    return settings.pool_size(slots.take(np.flatnonzero(counted)), weights[counted], env)


def _least(weights: NDArray[np.float64], quirks: PieQuirks) -> float:
    """Return the least weight of all slots; without slots, the largest number with the quirk ``empty_pool``, else 0."""
    if not len(weights) and quirks.empty_pool is Compatible.FIXED:
        return 0.0
    return float(weights.min(initial=LARGEST))


def _submitters(context: OrderContext, settings: FairShareSettings) -> tuple[SubmitterAd, ...]:
    """Return the submitters of a cycle; a pool of files has no submitter ads."""
    if not len(context.submitters):
        return submitters_of_jobs(context.requests)
    submitters = submitter_ads(context.submitters, context.requests)
    return by_priority(submitters, context.submitters) if settings.USE_GLOBAL_JOB_PRIOS else submitters
