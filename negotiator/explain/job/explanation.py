"""What becomes of a job when it is considered alone."""

from __future__ import annotations

import attrs

from negotiator.cycle.result import DiscardedAds, Removal
from negotiator.explain.first_end import FirstEnd
from negotiator.explain.job.conditions import Condition, Remedy
from negotiator.records import Reason


@attrs.frozen
class JobAlone:
    """What becomes of an idle job that no other idle job competes with, under the present use of the pool.

    ``slot`` is the one that it would get; empty if it gets none. ``candidates`` is how many it could get, of ``slots`` that take part;
    ``undivided`` of them are partitionable slots that give one match a cycle.
    ``decisive`` is why it gets none (None if it gets one), and ``causes`` why its schedd or submitter was discarded, if that is why. ``conditions`` reject slots, in the order of the cycle; ``together`` are the
    fewest of them that leave no slot, ``remedies`` the fewest that would have to change, for the most slots first. ``quotas`` refused
    the candidates that were left. ``discarded`` are the slots that took no part. ``first_end`` is of the jobs on slots that nothing but
    their use keeps from this one.
    """

    slots: int
    slot: str = ""
    candidates: int = 0
    undivided: int = 0
    queue: str = ""
    decisive: Reason | None = None
    causes: tuple[Reason, ...] = ()
    conditions: tuple[Condition, ...] = ()
    together: tuple[Condition, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    quotas: tuple[Removal, ...] = ()
    discarded: tuple[DiscardedAds, ...] = ()
    first_end: FirstEnd | None = None


@attrs.frozen
class SlotForJob:
    """What keeps an idle job from one slot when no other job competes with it.

    ``reasons`` reject the slot, in the order of the cycle; ``quotas`` refuse the job on the slots that nothing rejects. ``chosen`` is the slot that
    it would get instead or indeed, empty if it gets none.
    """

    reasons: tuple[Reason, ...]
    quotas: tuple[Reason, ...] = ()
    chosen: str = ""
