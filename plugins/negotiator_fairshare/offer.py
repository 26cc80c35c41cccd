"""The slots of a cycle as fair share offers them: attributes of their users' accounts, and the rules of preemption.

Source: HTCondor manual, "Machine ClassAd Attributes" (RemoteUserPrio, ...) and PREEMPTION_REQUIREMENTS; the behaviour of
condor_negotiator 25.14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Environment,
    Expr,
    Kind,
    LiteralValue,
    Mask,
    PreemptionRules,
    SlotOffer,
    Table,
    WithheldSlots,
    bind,
    evaluate_table,
    parse,
)
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.settings import AccountSettings
from negotiator_fairshare.accounts.use import GrowingUse, UseCounter
from negotiator_fairshare.pie.slot_weights import SlotUse
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.shutdown import shutting_down

#: Whose job a match would end: a job that is already replacing another one counts.
_USER = bind(
    parse("MY.PreemptingAccountingGroup ?: (MY.PreemptingUser ?: (MY.AccountingGroup ?: MY.RemoteUser))")
)
_RETIRES = bind(parse("MY.RetirementTimeRemaining > 0"))
_DIVISIBLE = bind(parse("MY.PartitionableSlot"))
_CLAIMED_WHOLE = 'MY.PartitionableSlot =?= true && MY.State == "Claimed"'
_NOT_WANTED = bind(parse(f"{_CLAIMED_WHOLE} && MY.WantMatching =?= false"))
_ELSEWHERE_OR_NOT_WANTED = bind(
    parse(f"{_CLAIMED_WHOLE} && (MY.WantMatching =?= false || MY.WorkingCM =!= undefined)")
)


@attrs.frozen(eq=False)
class SlotUsers:
    """The users whose jobs matches may end: ``names`` (S,), an empty name for none, and the ``rows`` with one, (U,)."""

    names: NDArray[np.object_]
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, slots: Table, env: Environment) -> SlotUsers:
        """Read the users of slots."""
        column = evaluate_table(_USER, slots, env=env)
        names = np.full(len(slots), "", np.object_)
        rows = np.flatnonzero(np.broadcast_to(column.where(Kind.STRING), (len(slots),)))
        names[rows] = column.values(rows)
        return cls(names, rows[names[rows] != ""])


@attrs.frozen(eq=False)
class SlotUserAccounts:
    """What slots show of the accounts of their users, and of the quotas of groups."""

    accounts: Accounts
    use: UseCounter
    settings: AccountSettings
    quotas: Mapping[str, float]
    growing: GrowingUse

    def add_to(self, slots: Table, users: SlotUsers) -> Table:
        """Return the slots with the accounts of their users."""
        if not len(users.rows):
            return slots
        numbers: dict[str, int] = {}
        codes = np.zeros(len(slots), np.int64)  # the first value is that of slots without a user
        codes[users.rows] = [
            numbers.setdefault(user, len(numbers) + 1) for user in users.names[users.rows].tolist()
        ]
        readers: dict[str, Callable[[str], Expr | LiteralValue | None]] = {
            "RemoteUserPrio": lambda user: _single(self.accounts.effective_priority(user, self.settings)),
            "RemoteUserFloor": lambda user: self.accounts.get(user).floor,
            "RemoteUserResourcesInUse": self._used,
        }
        if self.quotas:
            readers |= {
                "RemoteGroup": self._group,
                "RemoteGroupQuota": lambda user: self.quotas.get(self._group(user)),
                "RemoteGroupResourcesInUse": lambda user: self._used(self._group(user)),
            }
        return slots.with_attributes(
            {name: (codes, [None, *map(read, numbers)]) for name, read in readers.items()}
        )

    def _group(self, user: str) -> str:
        return self.settings.group_of(user)

    def _used(self, name: str) -> Expr | float:
        """Return the use of a user or group, or the attribute of requests that has it."""
        return self.growing.expression(name) or self.use.weighted(name)


def slot_offer(
    slots: Table, in_use: SlotUse, accounts: SlotUserAccounts, settings: FairShareSettings, env: Environment
) -> SlotOffer:
    """Return the slots that are offered in a cycle."""
    withheld = tuple(_withheld(slots, in_use, settings, env))
    if not settings.NEGOTIATOR_CONSIDER_PREEMPTION:
        return SlotOffer(slots, withheld)
    users = SlotUsers.of(slots, env)
    # condor_negotiator looks for a user, not at the State.
    rules = PreemptionRules(
        *(users.names, settings.preemption_requirements, settings.preemption_rank),
        free_without_user=True,
    )
    return SlotOffer(accounts.add_to(slots, users), withheld, rules)


def _withheld(
    slots: Table, in_use: SlotUse, settings: FairShareSettings, env: Environment
) -> Iterator[WithheldSlots]:
    yield WithheldSlots(
        *(
            shutting_down(slots, settings.NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD, env),
            "NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD",
        ),
        *("shutdown", "the slot will shut down soon"),
    )
    elsewhere = _ELSEWHERE_OR_NOT_WANTED if not settings.MATCH_WORKING_CM_SLOTS else _NOT_WANTED
    yield WithheldSlots(
        *(evaluate_table(elsewhere, slots, env=env).is_true(), "MATCH_WORKING_CM_SLOTS", "claimed_elsewhere"),
        "the partitionable slot is claimed, and another manager matches the rest of it, or none does",
    )
    if not settings.NEGOTIATOR_CONSIDER_PREEMPTION:
        claimed: Mask = in_use.claimed & ~evaluate_table(_DIVISIBLE, slots, env=env).is_true()
        yield WithheldSlots(
            *(claimed, "NEGOTIATOR_CONSIDER_PREEMPTION", "in_use"),
            "the slot runs a job, and the pool preempts none",
        )
    elif not settings.NEGOTIATOR_CONSIDER_EARLY_PREEMPTION:
        yield WithheldSlots(
            *(evaluate_table(_RETIRES, slots, env=env).is_true(), "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION"),
            *("retirement", "the retirement time of the slot's job is not over"),
        )


def _single(priority: float) -> float:
    """Round to single precision, in which condor_negotiator stores the priority of a slot's user."""
    with np.errstate(over="ignore"):
        return float(np.float32(priority))
