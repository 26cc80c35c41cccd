"""The slots of a cycle as fair share offers them: attributes of their users' accounts, the rules of preemption, and matches that slots do not show yet.

Such matches of earlier cycles are use of their submitters, and part of what is divided. A schedd may show the job of a match as running before the
startd shows the claim: until then it counts as the match did. condor_negotiator forgets them when its next cycle begins, and waits for startds instead
(NEGOTIATOR_CYCLE_DELAY).

Source: HTCondor manual, "Machine ClassAd Attributes" (RemoteUserPrio, ...) and PREEMPTION_REQUIREMENTS; the behaviour of
condor_negotiator 25.14.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    ClaimsInUse,
    Environment,
    Expr,
    JointPreemption,
    Kind,
    LiteralValue,
    Mask,
    OrderContext,
    PreemptionRules,
    SlotOffer,
    Table,
    WithheldSlots,
    bind,
    evaluate_table,
    parse,
)
from negotiator_fairshare.accounts.account import ResourceRecord, stored
from negotiator_fairshare.accounts.accounts import Accounts
from negotiator_fairshare.accounts.settings import AccountSettings
from negotiator_fairshare.accounts.use import GrowingUse, UseCounter
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.pie.slot_weights import SlotUse, WeightScale, claimed_slots, slot_keys
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
class PendingMatches:
    """The matches, each a submitter as written and its weight, and their ``slots``, (M,).

    ``left_out`` has the slots of matches that take no part in the cycle.

    A slot weighs as much as in the cycle of its match, and is used once: if it shows a claim, which the match is to end, by the user
    of that claim, whether it takes part or not. Several matches of one slot have an equal part of it. A match whose slot the pool
    does not have is left out. A running job on a slot without a claim is such a match.
    """

    matches: tuple[tuple[str, float], ...]
    slots: Table
    left_out: Table

    @classmethod
    def of(
        cls,
        context: OrderContext,
        scale: WeightScale,
        name_of: Callable[[str], str],
        env: Environment,
        owned: Callable[[Table, Environment], Mask] | None = None,
    ) -> Self:
        """Read the matches of a cycle.

        :param name_of: returns the name of a submitter as written, of its name in lower case.
        :param owned: returns which slots this negotiator counts, (S,); None for all. The others count the matches of theirs.
        """
        rows: list[int] = []
        submitters: list[str] = []
        outside: set[int] = set()
        for claims, copies, is_shown in _of_matches(context.in_use, env):
            submitter = name_of(claims.request.submitter)
            if owned is not None:
                copies[copies] = owned(claims.slot_ads.take(claims.slot_rows[copies]), env)
            own = claims.slot_rows[copies & ~is_shown].tolist()
            rows += own
            submitters += [submitter] * len(own)
            outside.update(claims.slot_rows[copies & (claims.slots < 0)].tolist())
        if not rows and not outside:
            none = context.slots.take(np.zeros(0, np.intp))
            return cls((), none, none)
        ads = context.in_use[0].slot_ads
        slots = ads.take(np.array(rows, np.intp))
        weights, counts = scale.of(slots).tolist(), Counter(rows)
        shares = (weight / counts[row] for row, weight in zip(rows, weights, strict=True))
        matches = tuple(zip(submitters, shares, strict=True))
        return cls(matches, slots, ads.take(np.array(sorted(outside), np.intp)))

    def count(
        self, use: UseCounter, scale: WeightScale, env: Environment, now: int, *, discount_suspended: bool
    ) -> dict[str, ResourceRecord]:
        """Count the matches as use, and the claims of slots that take no part in the cycle; return their records, by key.

        :param now: when they are counted, in seconds since the epoch.
        :param discount_suspended: see ``SlotUse``.
        """
        shown = SlotUse.of(self.left_out, env, discount_suspended=discount_suspended)
        records = shown.records(self.left_out, scale.of(self.left_out), now)
        for each in records.values():
            use.add(each.user, each.weight)
        for key, (submitter, weight) in zip(slot_keys(self.slots), self.matches, strict=True):
            use.add(submitter, weight)
            records[key] = ResourceRecord(submitter, stored(weight), now)
        return records


def _of_matches(in_use: Sequence[ClaimsInUse], env: Environment) -> Iterator[tuple[ClaimsInUse, Mask, Mask]]:
    """Yield claims with the copies of them, (K,), that are matches on slots of the pool, and those whose slots show a claim.

    A running job is one only as long as its slot shows no claim.
    """
    shown = None
    for claims in in_use:
        shown = claimed_slots(claims.slot_ads, env) if shown is None else shown
        is_shown = shown[claims.slot_rows] if len(shown) else np.ones(len(claims.slots), np.bool_)
        copies = claims.slot_rows >= 0
        if not claims.pending:
            copies = copies & ~is_shown
        if copies.any():
            yield claims, copies, is_shown


def names_as_written(*names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that returns the first of some names that is equal in lower case; without one, its argument."""
    found: dict[str, str] = {}
    for each in names:
        for name in each:
            found.setdefault(name.lower(), name)
    return lambda folded: found.get(folded, folded)


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
