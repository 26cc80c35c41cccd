"""The slots of a cycle as they are matched: those that the order offers, and those that schedds hold.

NegotiatorRequirements are what a slot requires of jobs in the negotiator alone, in place of its Requirements. A schedd holds a
claimed partitionable slot, and divides what is left of it among its own jobs. Source: condor_negotiator 25.14.1, which keeps the
slot's own Requirements as SavedRequirements, and offers such a slot to the jobs of the schedd in RemoteScheddName; HTCondor manual,
NEGOTIATOR_MATCH_EXPRS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator import __version__
from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Expr, Table, bind, evaluate_table, parse
from negotiator.cycle.jobs import names
from negotiator.hooks.answers import Attributed
from negotiator.hooks.order_type import RequestOrderType
from negotiator.hooks.records import Mask
from negotiator.hooks.slot_offer import PreemptionRules, SlotOffer, WithheldSlots
from negotiator.ledger import Rows
from negotiator.records import CORE, Provenance, Reason, Station, Verdict

_OWN, _FOR_NEGOTIATOR, _SAVED = "Requirements", "NegotiatorRequirements", "SavedRequirements"


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


_PARTITIONABLE = bind(parse('MY.PartitionableSlot =?= true && MY.State == "Claimed"'))


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
