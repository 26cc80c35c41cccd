"""The slots of a cycle as fair share offers them: attributes of their users' accounts, and the rules of preemption.

Source: HTCondor manual, "Machine ClassAd Attributes" (RemoteUserPrio, ...) and PREEMPTION_REQUIREMENTS; the behaviour of
condor_negotiator 25.14.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Environment,
    Expr,
    JointPreemption,
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
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.pie.slot_weights import SlotUse
from negotiator_fairshare.settings import FairShareSettings
from negotiator_fairshare.shutdown import shutting_down

#: Whose job a match would end, the first of these.
_USERS = ("PreemptingAccountingGroup", "PreemptingUser", "AccountingGroup", "RemoteUser")
_TOTAL_SLOTS = bind(parse("MY.TotalSlots"))
_RETIRES = bind(parse("MY.RetirementTimeRemaining > 0"))
_DIVISIBLE = bind(parse("MY.PartitionableSlot"))
#: Their partitionable slot shows what they hold, so that a match with it may end several of them.
_DYNAMIC = bind(parse("MY.DynamicSlot =?= true && MY.PslotRollupInformation =?= true"))
#: As condor_negotiator writes it into the ad of a partitionable slot of which it ends several jobs.
_SEVERAL_USERS = "various_dSlot_users"
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
    def of(cls, slots: Table, env: Environment, prefix: str = "") -> SlotUsers:
        """Read the users of slots, or of another slot of the machine by the prefix of its attributes."""
        column = evaluate_table(_user(prefix), slots, env=env)
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

    def add_to(self, slots: Table, users: SlotUsers, prefix: str = "") -> Table:
        """Return the slots with the accounts of their users, or of the users of another slot, by the prefix of its attributes."""
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
        if prefix:
            del readers["RemoteUserFloor"]  # as condor_negotiator
        return slots.with_attributes(
            {f"{prefix}{name}": (codes, [None, *map(read, numbers)]) for name, read in readers.items()}
        )

    def add_of_machine(self, slots: Table, prefix: str, env: Environment) -> Table:
        """Return slots with the accounts of the users of all slots of their machine, as far as their ads name these users.

        :param prefix: of the names of slots, before their number.
        """
        attribute = re.compile(f"({re.escape(prefix)}([1-9][0-9]{{0,8}})_)({'|'.join(_USERS)})".lower())
        found = {match[1]: int(match[2]) for name in slots.names() if (match := attribute.fullmatch(name))}
        total = evaluate_table(_TOTAL_SLOTS, slots, env=env).numbers(0.0)
        for own, number in sorted(found.items(), key=itemgetter(1)):
            users = SlotUsers.of(slots, env, own)
            rows = users.rows[total[users.rows] >= number]
            slots = self.add_to(slots, SlotUsers(users.names, rows), own)
        return slots

    def _group(self, user: str) -> str:
        return self.settings.group_of(user)

    def _used(self, name: str) -> Expr | float:
        """Return the use of a user or group, or the attribute of requests that has it."""
        return self.growing.expression(name) or self.use.weighted(name)


def slot_offer(
    slots: Table,
    in_use: SlotUse,
    accounts: SlotUserAccounts,
    settings: FairShareSettings,
    env: Environment,
    matched: Mask,
) -> SlotOffer:
    """Return the slots that are offered in a cycle.

    :param matched: the slots that another negotiator matched before, (S,).
    """
    withheld = (*_withheld(slots, in_use, settings, env), *_matched_before(matched))
    if not settings.NEGOTIATOR_CONSIDER_PREEMPTION:
        return SlotOffer(slots, withheld)
    users = SlotUsers.of(slots, env)
    # condor_negotiator looks for a user, not at the State.
    rules = PreemptionRules(
        *(users.names, settings.preemption_requirements, settings.preemption_rank),
        free_without_user=True,
        joint=_joint(slots, settings, env),
    )
    offered = accounts.add_to(slots, users)
    if settings.NEGOTIATOR_CROSS_SLOT_PRIOS:
        offered = accounts.add_of_machine(offered, settings.STARTD_RESOURCE_PREFIX or "slot", env)
    return SlotOffer(offered, withheld, rules)


def _user(prefix: str) -> Expr:
    """Return the expression of the user of a slot; a job that is already replacing another one counts."""
    return bind(parse(" ?: ".join(f"MY.{prefix}{name}" for name in _USERS)))


def _joint(slots: Table, settings: FairShareSettings, env: Environment) -> JointPreemption | None:
    if not settings.ALLOW_PSLOT_PREEMPTION:
        return None
    return JointPreemption(
        np.array(evaluate_table(_DYNAMIC, slots, env=env).is_true()),
        exclusive=True,
        tried_once=settings.offer_quirks.dynamic_slots_tried_once is Compatible.EXACT,
        remote_user=_SEVERAL_USERS,
    )


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


def _matched_before(slots: Mask) -> Iterator[WithheldSlots]:
    if slots.any():
        text = (
            "the slot was matched before this negotiator took over, and the pool does not show its claim yet"
        )
        yield WithheldSlots(slots, "NEGOTIATOR_INFORM_STARTD", "slot_matched", text)


def _single(priority: float) -> float:
    """Round to single precision, in which condor_negotiator stores the priority of a slot's user."""
    with np.errstate(over="ignore"):
        return float(np.float32(priority))
