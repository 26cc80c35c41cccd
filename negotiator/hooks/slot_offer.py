"""The slots that an order offers to requests, and the running jobs that a match may end (preemption).

Source: HTCondor manual, "Negotiation" and PREEMPTION_REQUIREMENTS, PREEMPTION_RANK; YuniKorn's documentation, "Preemption".
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Expr, Table, parse
from negotiator.hooks.records import Mask
from negotiator.records import Source

#: All slots are equal.
NO_RANK: Expr = parse("0")
#: The state of each slot for one request, a value of ``Preemption`` each.
PreemptionStates: TypeAlias = NDArray[np.int8]


class Preemption(enum.IntEnum):
    """What a match with a slot ends; larger values are preferred."""

    GUARANTEE = 0  # a job of a queue above its guaranteed resources, for one below its own
    PRIORITY = 1  # a job of a user whom the pool's policy lets others preempt
    RANK = 2  # a job that the slot likes less
    NONE = 3  # nothing: the slot is free


@attrs.frozen(eq=False)
class JointPreemption:
    """How one match of a partitionable slot ends the jobs of several of its dynamic slots.

    ``slots`` (S,) are the dynamic slots whose jobs may be ended so. ``exclusive``: no request gets one of them by itself. Without
    ``PreemptionVictims`` those that the slot likes least come first (``CurrentRank``), those that it likes as much as the request only
    if ``PreemptionRules.requirements`` are true of them. ``tried_once``: those that one request could have ended are not tried for
    another one in the same cycle. ``remote_user`` is the RemoteUser that ranks see on the partitionable slot.
    """

    slots: Mask
    exclusive: bool = False
    tried_once: bool = False
    remote_user: str = ""


@attrs.frozen(eq=False)
class PreemptionRules:
    """Which running jobs matches may end.

    ``users`` (S,) is the user of each slot, a str, empty if it has none. A slot that prefers the request (its Rank of
    the request is above its CurrentRank) is taken from any user; another one only from other submitters, if ``requirements`` is
    the boolean true and the slot likes the request as much as its job. In the expressions MY is the slot and TARGET the
    request; ``requirements`` None allows all. ``rank`` sorts slots that are equal in all else. ``queues`` (S,) are the queues
    of the running jobs, a str each, for the record. A turn with ``PreemptionVictims`` is subject to these alone.
    ``free_without_user``: a slot without a user is free, whatever its State says. ``joint`` None: each match ends one job at most.
    """

    users: NDArray[np.object_]
    requirements: Expr | None = None
    rank: Expr = NO_RANK
    queues: NDArray[np.object_] | None = None
    free_without_user: bool = False
    joint: JointPreemption | None = None


@attrs.frozen(eq=False)
class SharedBudget:
    """What the jobs of one holder that a match ends may hold together: ``codes`` (S,) number the holder of each slot.

    ``amounts`` (S,) are what the jobs hold, and ``left`` (H,) the budget of each holder.
    """

    codes: NDArray[np.int64]
    amounts: NDArray[np.float64]
    left: NDArray[np.float64]


@attrs.frozen(eq=False)
class PreemptionVictims:
    """The slots whose jobs one turn may end, a mask (S,): no other slot is a candidate of the turn, not even a free one.

    A slot that prefers its job to the request keeps it: its startd would refuse the claim. ``rule`` names the setting that
    allows the turn to end jobs, ``text`` says why it applies, with the ``numbers`` that were compared, and ``source`` is its place.
    A match with a partitionable slot ends ``most`` jobs of its dynamic slots at most, within all ``budgets``.
    """

    slots: Mask
    rule: str
    text: str
    source: Source | None = None
    numbers: Mapping[str, int | float | str] = attrs.field(factory=dict)
    most: int = 1
    budgets: Sequence[SharedBudget] = ()


@attrs.frozen(eq=False)
class WithheldSlots:
    """Slots that no request gets in this cycle, a mask (S,), and why: ``rule`` names the setting."""

    slots: Mask
    rule: str
    code: str
    text: str


@attrs.frozen(eq=False)
class SlotOffer:
    """The slots as an order offers them.

    ``slots`` (S,) are those of the ``OrderContext``, in their order, with attributes that the order adds. Without
    ``preemption`` slots that are in use are withheld by the cycle.
    """

    slots: Table
    withheld: Sequence[WithheldSlots] = ()
    preemption: PreemptionRules | None = None
