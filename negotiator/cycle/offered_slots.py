"""The slots that the order of a cycle offers, checked, with the reasons of those that it withholds."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator import __version__
from negotiator.classad import Table
from negotiator.hooks.answers import Attributed
from negotiator.hooks.order_type import RequestOrderType
from negotiator.hooks.records import Mask
from negotiator.hooks.slot_offer import PreemptionRules, SlotOffer, WithheldSlots
from negotiator.records import CORE, Provenance, Reason, Station, Verdict


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
