"""What becomes of the idle jobs of a pool on one slot."""

from __future__ import annotations

import attrs

from negotiator.explain.job.conditions import Condition, Lever
from negotiator.records import Reason


@attrs.frozen
class JobRemedy:
    """Conditions that would all have to change, and the jobs that the slot would then be open to."""

    conditions: tuple[Condition, ...]
    jobs: int


@attrs.frozen
class RefusedJobs:
    """How many idle jobs are refused for one reason."""

    reason: Reason
    jobs: int


@attrs.frozen
class SlotAlone:
    """What becomes of each idle job on one slot when no other idle job competes with it, under the present use of the pool.

    ``jobs`` take part, in ``classes`` of alike jobs; ``fitting`` is how many of them no condition rejects, and ``possible`` how many of
    these no quota refuses. ``discarded`` is why the slot takes no part in cycles, empty if it does. ``conditions`` reject jobs, those
    with most jobs first; ``remedies`` are the fewest that would have to change, for the most jobs first. ``quotas`` refuse
    fitting jobs, and ``no_part`` is why idle jobs take no part. ``ids`` has the schedd and id of each possible job.
    """

    jobs: int = 0
    classes: int = 0
    fitting: int = 0
    possible: int = 0
    discarded: tuple[Reason, ...] = ()
    conditions: tuple[Condition, ...] = ()
    remedies: tuple[JobRemedy, ...] = ()
    quotas: tuple[RefusedJobs, ...] = ()
    no_part: tuple[RefusedJobs, ...] = ()
    ids: frozenset[tuple[str, str]] = attrs.field(default=frozenset(), repr=False)

    @property
    def decisive(self) -> Reason | None:
        """Why no idle job gets the slot, the reason of most of them; None if one could, or if no idle job takes part."""
        if self.discarded:
            return self.discarded[0]
        if self.possible or not self.jobs:
            return None
        found = self.quotas or sorted(self.conditions, key=_weight)
        return found[0].reason if found else None


def _weight(condition: Condition) -> tuple[bool, int, int]:
    """Sort by what decides: that the slot is in use, then the condition that rejects most jobs."""
    return condition.lever is not Lever.TIME, -condition.rejected, -condition.alone


@attrs.frozen
class SlotOutcome:
    """What a cycle with all idle jobs decides about a slot.

    ``job`` and ``user`` get it, empty if none does. Of the jobs that could run there, ``elsewhere`` get other slots, and the
    ``waiting`` get none, with the reasons of most of them first.
    """

    job: str = ""
    user: str = ""
    elsewhere: int = 0
    waiting: tuple[RefusedJobs, ...] = ()
