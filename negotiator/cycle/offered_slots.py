"""The slots of a cycle as they are matched: those that the order offers, those that schedds hold, and how many claim ids of each are left.

NegotiatorRequirements are what a slot requires of jobs in the negotiator alone, in place of its Requirements. A schedd holds a
claimed partitionable slot, and divides what is left of it among its own jobs. A match needs a claim id of its slot, or the schedd could
not claim it; the ids themselves are secrets, which the runtime holds. Source: condor_negotiator 25.14.1, which keeps the slot's own
Requirements as SavedRequirements, offers a claimed slot to the jobs of the schedd in RemoteScheddName, and knows a slot by its name and
the address of its startd; HTCondor manual, NEGOTIATOR_MATCH_EXPRS.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator import __version__
from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Expr, Table, bind, evaluate_table, parse
from negotiator.cycle.divisible_slots import DivisibleSlots
from negotiator.cycle.jobs import names, texts
from negotiator.cycle.numbering import Numbers, combined
from negotiator.hooks.answers import Attributed
from negotiator.hooks.order_type import RequestOrderType
from negotiator.hooks.records import Mask
from negotiator.hooks.slot_offer import PreemptionRules, SlotOffer, WithheldSlots
from negotiator.ledger import Rows
from negotiator.records import CORE, Provenance, Reason, Station, Verdict

_OWN, _FOR_NEGOTIATOR, _SAVED = "Requirements", "NegotiatorRequirements", "SavedRequirements"
_PARTITIONABLE = bind(parse('MY.PartitionableSlot =?= true && MY.State == "Claimed"'))
#: Slots of machines that are switched off, which the collector still shows.
_OFFLINE = bind(parse("MY.Offline =?= true"))
#: Slots that schedds do not claim.
_UNCLAIMED = bind(parse("MY.WantClaiming =?= false"))
#: Slots whose ad stays in the list after a match (HTCondor manual, WantAdRevaluate).
_STAYS = bind(parse("MY.WantAdRevaluate =?= true"))
#: So many rows are used up one by one.
_FEW = 8
_ADDRESSES = ("MyAddress", "StartdIpAddr")


def slots_to_match(slots: Table, bundle: Bundle) -> Table:
    """Return the slots as they are matched."""
    slots = _with_negotiator_requirements(slots)
    if not bundle.match_expressions or not len(slots):
        return slots
    all_alike = np.zeros(len(slots), np.int64)
    return slots.with_attributes(
        {name: (all_alike, [tree]) for name, tree in bundle.match_expressions.items()}
    )


def _with_negotiator_requirements(slots: Table) -> Table:
    """Return the slots with their NegotiatorRequirements as Requirements; those without stay as they are."""
    if _FOR_NEGOTIATOR.lower() not in slots.names():
        return slots
    codes, first = slots.group([_OWN, _FOR_NEGOTIATOR, _SAVED])
    required: list[Expr | None] = []
    saved: list[Expr | None] = []
    for row in first.tolist():  # one slot of each kind
        ad = slots.ad(row)
        own, replacing = ad.get(_OWN), ad.get(_FOR_NEGOTIATOR)
        required.append(own if replacing is None else replacing)
        saved.append(ad.get(_SAVED) if replacing is None else own)
    return slots.with_attributes({_OWN: (codes, required), _SAVED: (codes, saved)})


@attrs.frozen(eq=False)
class OfferedSlots:
    """The slots of a cycle; ``plugin`` has the name and the version of the plugin of its order."""

    slots: Table
    withheld: Sequence[tuple[Mask, Reason]] = ()
    preemption: PreemptionRules | None = None
    plugin: tuple[str, str] = (CORE, __version__)

    @classmethod
    def of(
        cls, offer: SlotOffer | None, slots: Table, chosen: Attributed[RequestOrderType] | None
    ) -> OfferedSlots:
        """Return the slots of an offer; all slots without one."""
        plugin = (CORE, __version__) if chosen is None else (chosen.plugin, chosen.version)
        if offer is None:
            return cls(slots, plugin=plugin)
        withheld = tuple((each.slots, _reason(each, plugin)) for each in offer.withheld)
        return cls(offer.slots, withheld, offer.preemption, plugin)


def _reason(withheld: WithheldSlots, plugin: tuple[str, str]) -> Reason:
    where = Provenance(Station.MATCH, *plugin, withheld.rule)
    return Reason(Verdict.WAITING, withheld.code, withheld.text, where)


@attrs.frozen(eq=False)
class ClaimedPartitionable:
    """The rows of such slots, (P,), and the schedds that hold them, in lower case; empty if any may match one."""

    rows: Rows
    schedds: NDArray[np.object_]
    slots: int  # of the cycle

    @classmethod
    def of(cls, slots: Table, env: Environment) -> Self:
        """Find the claimed partitionable slots."""
        rows = np.flatnonzero(evaluate_table(_PARTITIONABLE, slots, env=env).is_true())
        return cls(rows, names(slots.take(rows), "RemoteScheddName"), len(slots))

    def of_others(self, schedd: str) -> Mask:
        """Return the slots that another schedd holds, (N,)."""
        found = np.zeros(self.slots, np.bool_)
        found[self.rows[(self.schedds != "") & (self.schedds != schedd.lower())]] = True
        return found


@attrs.define(eq=False)
class ClaimIds:
    """The claim ids of the slots of one cycle.

    Two ads of one name and one address are one slot. ``needed`` (N,) are the slots that schedds claim, ``stays`` (N,)
    those that may be matched again. One claim id of those in ``shared`` (N,) serves all matches of a turn. ``offline`` (N,) are
    the slots of machines that are switched off: they are matched without a claim, so that somebody wakes the machine.
    """

    needed: Mask
    offline: Mask
    stays: Mask
    shared: Mask
    _identities: Numbers  # (N,)
    _left: NDArray[np.int64]  # by identity

    @classmethod
    def of(
        cls,
        slots: Table,
        env: Environment,
        counts: NDArray[np.int64] | None = None,
        divisible: DivisibleSlots | None = None,
    ) -> ClaimIds:
        """Count the claim ids of slots.

        :param counts: how many each slot has; None if it is not known, so that each slot has one.
        :param divisible: the slots that several matches share.
        """
        names = texts(slots, "Name").codes
        nameless = np.where(names < 0, np.arange(len(slots)), -1)
        identities, number = combined(names, nameless, *(texts(slots, name).codes for name in _ADDRESSES))
        offline = evaluate_table(_OFFLINE, slots, env=env).is_true()
        needed = ~(evaluate_table(_UNCLAIMED, slots, env=env).is_true() | offline)
        left = np.zeros(number, np.int64)
        # Twins share what either has.
        np.maximum.at(left, identities, np.ones(len(slots), np.int64) if counts is None else counts)
        stays = evaluate_table(_STAYS, slots, env=env).is_true().copy()
        shared = np.zeros(len(slots), np.bool_)
        if divisible is not None:
            shared[divisible.filled] = stays[divisible.policies] = True
            if counts is None:
                needed = needed.copy()
                needed[divisible.policies] = False
        return cls(needed, offline, stays, shared, identities, left)

    @cached_property
    def _any_shared(self) -> bool:
        return bool(self.shared.any())

    @cached_property
    def any_stays(self) -> bool:
        """True if some slot may be matched again."""
        return bool(self.stays.any())

    @property
    def claimable(self) -> Mask:
        """The slots of which a claim id is left, (N,)."""
        return self._left[self._identities] > 0

    def missing(self, rows: Rows) -> Rows:
        """Return the places in a list of slots for which no claim id is left, after those before them in the list."""
        identities = self._identities[rows]
        if len({*identities.tolist()}) == len(rows) and (self._left[identities] > 0).all():
            return np.zeros(0, np.intp)  # nearly always
        first_of_slot = np.unique(rows, return_index=True)[1]
        repeated = self.shared[rows]
        repeated[first_of_slot] = False
        if repeated.any():
            once = np.flatnonzero(~repeated)
            return once[self.missing(rows[once])]
        order = np.argsort(identities, kind="stable")
        ordered = identities[order]
        first = np.searchsorted(ordered, ordered)  # of each identity
        earlier = np.empty(len(rows), np.int64)
        earlier[order] = np.arange(len(rows)) - first
        return np.flatnonzero(self.needed[rows] & (earlier >= self._left[identities]))

    def use(self, rows: Rows) -> None:
        """Use one claim id for each match."""
        if len(rows) < _FEW and not self._any_shared:
            for row in rows.tolist():
                if self.needed[row]:
                    self._left[self._identities[row]] -= 1
            return
        shared = self.shared[rows]
        rows = np.concatenate((rows[~shared], np.unique(rows[shared])))
        np.subtract.at(self._left, self._identities[rows[self.needed[rows]]], 1)
