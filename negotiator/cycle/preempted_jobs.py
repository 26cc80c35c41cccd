"""The jobs that matches end, for the record: whose they are, and why."""

from __future__ import annotations

from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.hooks.order import SlotAllowance
from negotiator.hooks.records import EndedSlot, PreemptedJob
from negotiator.hooks.slot_offer import Preemption, PreemptionRules
from negotiator.ledger import Rows
from negotiator.records import Provenance, Station


def ended_job(
    offered: OfferedSlots, allowance: SlotAllowance | None, granted: GrantedSlots, place: int
) -> PreemptedJob | None:
    """Return the job, or the jobs, that a match of a turn ends; None if the slot was free.

    :param place: the number of the match in its turn.
    """
    rules, states = offered.preemption, granted.preemptions
    if rules is None or states is None or states[place] == Preemption.NONE:
        return None
    row, by = int(granted.rows[place]), Preemption(int(states[place])).name.lower()
    dynamic = None if granted.enlarged is None else granted.enlarged.jobs_of(row)
    rows = [row] if dynamic is None or not len(dynamic) else dynamic.tolist()
    user = ", ".join(dict.fromkeys(str(rules.users[each]) for each in rows))
    slots = () if dynamic is None else _slots(offered, rules, dynamic)
    victims = None if allowance is None or allowance.claimed is None else allowance.claimed.victims
    if victims is None:
        return PreemptedJob(user, by, slots=slots)
    queues = [] if rules.queues is None else [str(rules.queues[each]) for each in rows]
    return PreemptedJob(
        *(user, by, ", ".join(dict.fromkeys(queues))),
        text=victims.text,
        numbers=victims.numbers,
        provenance=Provenance(Station.ORDER, *offered.plugin, victims.rule, victims.source),
        slots=slots,
    )


def _slots(offered: OfferedSlots, rules: PreemptionRules, rows: Rows) -> tuple[EndedSlot, ...]:
    """Return the dynamic slots in some rows, in the order in which they were chosen."""
    return tuple(
        EndedSlot(ad.string("Name") or "", str(rules.users[row]), ad.string("JobId") or "")
        for row, ad in zip(rows.tolist(), offered.slots.take(rows).ads, strict=True)
    )
