"""The order ``submitters``: accounts, weights and the pie of one cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Feedback,
    Mask,
    OrderContext,
    OrderResult,
    QueuedRequest,
    RequestOrder,
    evaluate_table,
)
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.rows import check_name, from_row, to_row
from negotiator_fairshare.accounts.settings import AccountSettings
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.groups.settings import ROOT_GROUP
from negotiator_fairshare.pie.depth_first import DepthFirst
from negotiator_fairshare.pie.job_priorities import JobPriorities, by_priority
from negotiator_fairshare.pie.order import FairShareOrder
from negotiator_fairshare.pie.shares import ShareAccount
from negotiator_fairshare.pie.submitters import SlotUse, slot_weights, submitter_ads, submitters_of_jobs
from negotiator_fairshare.pie.trace import PieRecord, RejectionRecord
from negotiator_fairshare.settings import FairShareSettings

#: The row of the state that has the time of the last update; accounts have the key ``account:NAME``.
_CLOCK = "clock"
_ACCOUNT = "account:"


@attrs.frozen
class FairShareRecord:
    """What happened: the pies, and the rejections in their order."""

    pies: tuple[PieRecord, ...]
    rejections: tuple[RejectionRecord, ...]


@attrs.define(eq=False)
class SubmitterOrder(RequestOrder):
    """Submitters by effective priority, each within its share of the pool."""

    accounts: Accounts
    pie: FairShareOrder

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        """Return the order of a cycle; the accounts are brought up to its time."""
        settings = context.settings or FairShareSettings()
        own, env = settings.accounts, context.cycle.environment
        now = int(context.cycle.now)
        weights = slot_weights(
            *(context.slots, settings.SLOT_WEIGHT.tree, env),
            use_weights=settings.NEGOTIATOR_USE_SLOT_WEIGHTS,
            force_default=settings.FORCE_NEGOTIATOR_SLOT_WEIGHT,
        )
        discounted = settings.NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES
        in_use = SlotUse.of(context.slots, env, discount_suspended=discounted)
        use = UseCounter(own.group_of)
        for name, weight in zip(in_use.users, weights[in_use.counted].tolist(), strict=True):
            if name:
                use.add(name, weight)
        submitters = submitter_ads(context.submitters)
        if not len(context.submitters):  # a pool of files
            submitters = submitters_of_jobs(context.requests)
        elif settings.USE_GLOBAL_JOB_PRIOS:
            submitters = by_priority(submitters, context.submitters)
        accounts = _read(context.rows, now)
        accounts = accounts.updated(now, own).recounted(use)
        accounts = accounts.seen([ROOT_GROUP, *(each.name for each in submitters)], own)
        queues: dict[tuple[str, str], list[QueuedRequest]] = {}
        for queued in context.requests:
            queues.setdefault((queued.request.submitter, queued.request.schedd), []).append(queued)
        counted = _counted(context, settings)
        pie = FairShareOrder(
            submitters=submitters,
            queues=queues,
            accounts=_Reader(accounts, use, settings.accounts),
            use=use,
            weights=weights,
            total=_sum(weights[counted]),
            counted=int(np.count_nonzero(counted)),
            free=int(np.count_nonzero(settings.NEGOTIATOR_CONSIDER_PREEMPTION | ~in_use.claimed)),
            settings=settings.pie,
            priorities=JobPriorities(context.jobs),
            depth_first=DepthFirst(context.slots, env) if settings.NEGOTIATOR_DEPTH_FIRST else None,
        )
        return cls(accounts, pie)

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        return self.pie.next()

    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of a turn."""
        self.pie.feedback(feedback)

    def ended(self) -> OrderResult:
        """Return the accounts after the cycle, and what happened."""
        accounts = self.accounts.recounted(self.pie.use)
        rows: dict[str, Mapping[str, Any]] = {_CLOCK: {"last_update": accounts.last_update}}
        for name, record in accounts.records.items():
            if _is_valid(name):
                rows[_ACCOUNT + name] = to_row(name, record)
        happened = FairShareRecord(tuple(self.pie.pies), tuple(self.pie.rejections))
        return OrderResult(rows, happened)


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


def check_row(key: str, row: Mapping[str, Any]) -> None:
    """Check a row that an earlier process left.

    :raises ValueError: it is damaged.
    """
    if key.startswith(_ACCOUNT):
        from_row(row)
    elif key != _CLOCK or type(row.get("last_update")) is not int:
        raise ValueError("expected an account, or the time of the last update")


def _read(rows: Mapping[str, Mapping[str, Any]], now: int) -> Accounts:
    """Return the accounts that the last cycle left."""
    records = dict(from_row(row) for key, row in rows.items() if key.startswith(_ACCOUNT))
    return Accounts(records=records, last_update=rows.get(_CLOCK, {}).get("last_update", now))


def _is_valid(name: str) -> bool:
    """True if a name can be stored: those of slot ads may be anything."""
    try:
        check_name(name)
    except ValueError:
        return False
    return True


def _counted(context: OrderContext, settings: FairShareSettings) -> Mask:
    """Return which slots are divided, (S,)."""
    constraint = settings.NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT
    if constraint is None:
        return np.ones(len(context.slots), np.bool_)
    return evaluate_table(constraint.tree, context.slots, env=context.cycle.environment).is_true()


def _sum(weights: NDArray[np.float64]) -> float:
    """Add one weight after the other, as condor_negotiator does."""
    return float(np.cumsum(weights)[-1]) if len(weights) else 0.0
