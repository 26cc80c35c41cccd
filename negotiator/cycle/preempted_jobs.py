"""The jobs that matches end, for the record: whose they are, and why."""

from __future__ import annotations

from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.hooks.order import SlotAllowance
from negotiator.hooks.records import PreemptedJob
from negotiator.hooks.slot_offer import Preemption, PreemptionStates
from negotiator.records import Provenance, Station


def ended_job(
    offered: OfferedSlots,
    allowance: SlotAllowance | None,
    states: PreemptionStates | None,
    place: int,
    slot: int,
) -> PreemptedJob | None:
    """Return the job that a match of a turn ends; None if the slot was free.

    :param states: what each match of the turn ends, (G,).
    :param place: the number of the match in its turn; ``slot`` is the row of its slot.
    """
    rules = offered.preemption
    if rules is None or states is None or states[place] == Preemption.NONE:
        return None
    user, by = str(rules.users[slot]), Preemption(int(states[place])).name.lower()
    victims = None if allowance is None or allowance.claimed is None else allowance.claimed.victims
    if victims is None:
        return PreemptedJob(user, by)
    return PreemptedJob(
        *(user, by, "" if rules.queues is None else str(rules.queues[slot])),
        text=victims.text,
        numbers=victims.numbers,
        provenance=Provenance(Station.ORDER, *offered.plugin, victims.rule, victims.source),
    )
