"""The contract of the station *order*: allocators, their turns and the feedback, and what an allocator is made of.

Each turn goes ``next`` -> match -> charge -> ``feedback``, until ``next`` returns None. An allocator may give the same
request several turns, each with an allowance: that is how fair share spins, floors and ceilings are built. An order may give several requests
at once (``RequestOrder.run``): most turns need nothing but the best slots, and are then served many at a time.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Table
from negotiator.hooks.charges import Quota
from negotiator.hooks.claims_in_use import ClaimsInUse
from negotiator.hooks.records import Cycle, Mask, Request
from negotiator.hooks.slot_offer import PreemptionStates, PreemptionVictims, SlotOffer
from negotiator.hooks.turn_time import TurnTime, UnlimitedTime
from negotiator.queues import PartitionConfig, QueueConfig, QueueTree
from negotiator.records import Reason

#: Rows of a table, (K,).
RowNumbers: TypeAlias = NDArray[np.intp]
#: What each slot counts for, (S,).
Weights: TypeAlias = NDArray[np.float64]


@attrs.frozen(eq=False)
class ClaimedAllowance:
    """How much of the slots that run jobs one turn may take, in the weights of slots.

    ``used`` counts all slots of the turn so far, ``used_before`` those granted before the candidates of the request were
    listed. A slot of weight w is a candidate if ``used_before + w <= limit``, or if ``used_before <= 0`` and the limit is
    positive, and is granted if a free one of its weight would be, or if ``used + w <= limit``, likewise: condor_negotiator
    tests the one when it lists candidates, the others when it takes one. A slot that prefers the request to its job is a
    candidate regardless of the limits, and granted so if it is the first of those listed.
    ``only_by_rank``: no other slots are granted, free ones neither. ``victims`` restrict the turn to some slots, whatever
    their Rank and whose job they run.
    """

    limit: float
    used: float = 0.0
    used_before: float = 0.0
    only_by_rank: bool = False
    victims: PreemptionVictims | None = None


@attrs.frozen(eq=False)
class SlotAllowance:
    """How much of the pool one turn may take, in the weights of slots, (S,).

    A free slot of weight w is granted if ``used + w <= limit``, or if ``used <= 0`` and the limit is positive: the first
    slot is rounded up. ``used`` counts the free slots of the turn, earlier requests included. Slots that run jobs are
    granted by ``claimed``; None grants none of them. The turn ends before the next grant if all slots of the turn have
    reached ``stop``.

    Of a slot that several jobs share each job takes a part: ``weigh`` returns, for a table of such slots before and after one
    job, what the job weighs on each, (D,); None: as much as the slot. Without a second table it returns what the slots weigh.
    """

    weights: Weights
    limit: float
    stop: float
    used: float = 0.0
    claimed: ClaimedAllowance | None = None
    weigh: Callable[[Table, Table | None], Weights] | None = None

    @property
    def used_in_all(self) -> float:
        """The weight of all slots of the turn."""
        return self.used if self.claimed is None else self.claimed.used


@attrs.frozen(eq=False)
class CandidateRecheck:
    """When a turn discards the candidates that an earlier job left, and lists them anew.

    The best candidate left is tested before it is used. ``anew`` replaces the turn if that candidate is preempted by priority
    and ``PreemptionRules.requirements`` are no longer true of it, or if no candidate is left (both with ``requirements``), or
    if it is preempted and its ``PreemptionRules.rank`` changed (with ``rank``). ``anew`` is None in a turn that lists candidates.
    ``changing`` are the attributes of the request that change with each match, in lower case: if the expressions read one of them,
    only one job is matched in a turn.
    """

    requirements: bool
    rank: bool
    changing: frozenset[str] = frozenset()
    anew: QueuedRequest | None = None


@attrs.frozen(eq=False)
class QueuedRequest:
    """A request at its turn.

    ``number`` identifies the request in its cycle: all its turns have the same. ``rows`` (M,) are the rows of its jobs
    in the table of admitted jobs, in the schedd's order; an ad that represents several jobs
    (``_condor_RESOURCE_COUNT``, as schedds send it) has its row as often. At most the first ``allowance`` of these
    jobs are matched now, with slots that ``slots`` allows; None allows all free slots. ``ads`` are the rows of the ads of all
    its jobs, also of those beyond ``rows``, each once. ``kind`` is equal for requests of one autocluster of a schedd
    (``AutoClusterId``; without it, of jobs that are alike in all that decisions read) in one queue. ``scores`` (S,) sort the
    slots of this turn before the job's Rank, the largest first, instead of ``SlotRanks.before``. ``attributes`` replace
    those of the job's ad while it is matched; charges are those of the job without them. With ``recheck`` the candidates of a
    request are kept for the requests after it; the feedback has the turn that was matched, perhaps that which lists them anew.
    """

    number: int
    request: Request
    rows: RowNumbers
    allowance: int
    ads: RowNumbers
    slots: SlotAllowance | None = None
    kind: int = 0
    scores: Weights | None = None
    attributes: Mapping[str, Any] = attrs.field(factory=dict)
    recheck: CandidateRecheck | None = None

    @property
    def is_plain(self) -> bool:
        """True if the turn is for all jobs, and nothing distinguishes it from the request as it was queued."""
        return self.allowance >= len(self.rows) and not (
            self.slots or self.scores is not None or self.attributes or self.recheck
        )

    @property
    def replaced_names(self) -> frozenset[str]:
        """The names of ``attributes``, in lower case."""
        return _in_lower_case(tuple(self.attributes))

    def allowed(self) -> Request:
        """Return the request of the jobs that may be matched now."""
        if self.allowance >= len(self.rows):
            return self.request
        return attrs.evolve(self.request, applications=self.request.applications[: self.allowance])

    @cached_property
    def ad(self) -> Ad:
        """The ad of the job, with the attributes that the order adds; few turns read it."""
        return self.request.ad.replaced(self.attributes) if self.attributes else self.request.ad

    def matched(self) -> Request:
        """Return the request of the jobs that may be matched now, with the attributes that the order adds."""
        return attrs.evolve(self.allowed(), ad=self.ad) if self.attributes else self.allowed()

    def without(self, copies: RowNumbers, allowance: int) -> QueuedRequest | None:
        """Return the request of the other jobs with a new allowance; None without other jobs.

        :param copies: the numbers of the jobs that are served, places in ``rows``.
        """
        if len(copies) == len(self.rows):
            return None
        if not len(copies):
            return QueuedRequest(self.number, self.request, self.rows, allowance, self.ads, kind=self.kind)
        left = np.ones(len(self.rows), np.bool_)
        left[copies] = False
        names = tuple(self.request.applications[copy] for copy in np.flatnonzero(left).tolist())
        rest = attrs.evolve(self.request, applications=names, count=self.request.count - len(copies))
        ads = self.ads_without(copies)
        return QueuedRequest(self.number, rest, self.rows[left], allowance, ads, kind=self.kind)

    def ads_without(self, copies: RowNumbers) -> RowNumbers:
        """Return the rows of the ads of the other jobs; an ad that stands for several jobs is left as long as one is."""
        if not len(copies):
            return self.ads
        left = np.ones(len(self.rows), np.bool_)
        left[copies] = False
        served = np.isin(self.ads, self.rows[~left])
        if left.any():
            served &= ~np.isin(self.ads, self.rows[left])
        return self.ads[~served]


@lru_cache(maxsize=256)
def _in_lower_case(names: tuple[str, ...]) -> frozenset[str]:
    """Return the names of attributes, in lower case: each turn is asked several times, and all turns have the same ones."""
    return frozenset(map(str.lower, names))


class StopCause(enum.StrEnum):
    """Why a request got no more slots at its turn."""

    SERVED = "served"  # every job has its slot
    ALLOWANCE = "allowance"  # the allowance is used up
    NO_SLOTS = "no_slots"  # every candidate slot is granted, or there was none
    QUOTA = "quota"  # quotas refuse the remaining candidates
    FAILURE = "failure"  # a plugin failed, so that nothing was granted
    TIME = "time"  # its submitter or schedd has no time left in this cycle (TurnTime): nothing was matched


@attrs.frozen(eq=False)
class Feedback:
    """The outcome of one turn.

    ``slots`` (G,) are the rows of the granted slots, for weights; ``copies`` (G,) the numbers of the jobs that got
    them; ``left`` the number of jobs of the request without a slot; ``denied`` the reasons that took slots away.
    ``candidate_slots`` (S,) are the slots that no rule removed, before quotas and the allowance. ``too_heavy`` counts
    those that weigh more than the allowance left; ``protected`` the slots whose jobs the requirements of preemption protect.
    ``withdrawn`` counts the slots that no request may have any more: granted ones, and those without a claim id left.
    ``weights`` (G,) are those of the matches, None if they are those of the slots; a slot that several jobs share is in
    ``slots`` once for each. ``preemptions`` (G,) are values of ``Preemption``, None if all slots were free. ``ended`` (E,) are the
    slots whose jobs the matches end: those of the matches, and dynamic slots of a partitionable one.
    """

    queued: QueuedRequest
    slots: RowNumbers
    copies: RowNumbers
    left: int
    cause: StopCause
    denied: tuple[Reason, ...]
    too_heavy: int = 0
    withdrawn: int = 0
    candidate_slots: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    weights: Weights | None = None
    protected: int = 0
    preemptions: PreemptionStates | None = None
    ended: RowNumbers = attrs.field(factory=lambda: np.zeros(0, np.intp))

    @property
    def candidates(self) -> int:
        """The number of candidate slots."""
        return int(np.count_nonzero(self.candidate_slots))


@attrs.frozen(eq=False)
class RequestRun:
    """Requests that have their turns one after the other, as long as each of their jobs gets a slot, or none of them does.

    None gets one if no slot is a candidate, or if each candidate weighs more than is left of ``slots``; a request that gets fewer
    slots than it has jobs, or none for another reason, has a turn by itself. Each is allowed all of its jobs
    (``QueuedRequest.is_plain``), with the slots that ``slots`` allows at the first turn: with each match the weight of its slot is added
    to what was used. ``replaced_names`` are the attributes that the order adds at each turn, in lower case: if the requests are matched
    by one of them, they have a turn each.
    """

    requests: Sequence[QueuedRequest]
    slots: SlotAllowance | None = None
    replaced_names: frozenset[str] = frozenset()


@attrs.frozen(eq=False)
class ServedRun:
    """The first requests of a run, those that were served; the others had no turn.

    ``slots`` has the rows of the granted slots of each request, (G,), empty if it got none; ``withdrawn``, ``too_heavy`` and ``protected``
    are those of ``Feedback``. ``candidate_slots`` (S,) are those of the last of the turns.
    """

    slots: Sequence[RowNumbers]
    withdrawn: Sequence[int]
    too_heavy: Sequence[int]
    protected: Sequence[int]
    candidate_slots: Mask


@attrs.frozen(eq=False)
class QuotaRefusal:
    """A quota that refuses another job of a request now, on some slots, (S,), or on all slots (None)."""

    quota: Quota
    slots: Mask | None = None


#: Returns the quotas with a code that refuse another job of a request now, in the order in which their plugins declare
#: them. It costs little for a request whose charges are the same on every slot.
QuotaQuery: TypeAlias = Callable[[QueuedRequest, str], Sequence[QuotaRefusal]]


def _no_refusals(queued: QueuedRequest, code: str) -> Sequence[QuotaRefusal]:
    del queued, code
    return ()


#: Plain data (JSON objects) that an allocator keeps from cycle to cycle, by key.
OrderRows: TypeAlias = Mapping[str, Mapping[str, Any]]


@attrs.frozen
class OrderCounts:
    """How an allocator divided the pool: in how many pies, each for the submitters of one group, and in how many spins in all.

    ``share_limited`` are the submitters that used up their share in some spin, each once.
    """

    pies: int = 0
    spins: int = 0
    share_limited: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ShareUse:
    """What one holder of a share, such as a submitter or a queue, was entitled to in a cycle, and what it used.

    ``entitled``, ``used_before`` (when the cycle began) and ``used`` (when it ended) are in the ``unit`` of the allocator; ``priority`` is what
    orders the turns. ``granted`` counts its matches.
    """

    holder: str
    entitled: float
    used_before: float
    used: float
    granted: int
    priority: float = 0.0
    unit: str = "slots"


@attrs.frozen
class OrderResult:
    """What an allocator leaves at the end of its cycle.

    ``rows`` replace those of the cycle before, and the next cycle gets them as ``OrderContext.rows``; None leaves them as
    they are. They are stored in one transaction with the matches. ``record`` describes the decisions; the result of the
    cycle has it. ``counts`` are for the statistics of the cycle. ``shares`` are for people who ask who gets what, in the order of their
    first turns.
    """

    rows: OrderRows | None = None
    record: object = None
    counts: OrderCounts = OrderCounts()
    shares: tuple[ShareUse, ...] = ()


@attrs.frozen
class WaitReason:
    """Why a request had no turn in a cycle, or its allowance ended.

    ``rule`` names the setting or the part of the order, ``code`` is for programs, ``text`` is a sentence for people, and
    ``numbers`` are the finite values that were compared (``used``, ``limit``).
    """

    rule: str
    code: str
    text: str
    numbers: Mapping[str, float] = attrs.field(factory=dict)


class RequestOrder(ABC):
    """An allocator: it decides which request has the next turn, and how much of the pool it may take."""

    @abstractmethod
    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn; None ends the cycle."""

    @abstractmethod
    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of the turn that ``next`` returned last."""

    def run(self) -> RequestRun | None:
        """Return the requests of the next turns, if they follow each other whatever slots they get; None: ask for one by ``next``.

        Called before each ``next``, so that requests which need nothing else are served many at a time. If the first request cannot be
        served so, ``next`` is called instead of ``served``.
        """
        return None

    def served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        """Learn the outcome of a run, of one request at least; return these requests as they were at their turns."""
        raise NotImplementedError

    def offer(self) -> SlotOffer | None:
        """Return the slots of the cycle; called once, before the first turn. None offers all that are free."""
        return None

    def wait_reason(self, queued: QueuedRequest) -> WaitReason | None:
        """Return why a request had no turn, or why its allowance ended, although slots are left; None if it is not known.

        Called after the last turn, once for each such request.
        """
        del queued
        return None

    def ended(self) -> OrderResult:
        """Return what the allocator leaves; called once, after the last turn."""
        return OrderResult()


@attrs.frozen(eq=False)
class OrderContext:
    """What an allocator of one cycle is made of.

    ``requests`` come in the order of ``queued_requests``; their rows are rows of ``jobs``, the admitted jobs. ``slots``
    (S,) are those that take part in the cycle, claimed ones included; ``submitters`` the submitter ads that do.
    ``queues`` are the current queues, and ``partition`` their configuration. ``in_use`` are the jobs in use, those that are
    charged alike together; ``slot_amounts`` returns what each slot has of each resource, (S,), in the units of
        queues.yaml. ``refusals`` may be called at any time before the cycle ends. ``time`` tells which submitters have no time
    left: a request of one of them is not matched (``StopCause.TIME``), and nobody has a turn once the time of the cycle is over.
    """

    requests: Sequence[QueuedRequest]
    slots: Table
    submitters: Table
    jobs: Table
    cycle: Cycle
    settings: Any = None  # of the plugin that orders
    rows: OrderRows = attrs.field(factory=dict)  # that the last cycle under this order left
    queues: QueueTree = attrs.field(factory=lambda: QueueTree({}))
    in_use: Sequence[ClaimsInUse] = ()
    slot_amounts: Callable[[], Mapping[str, Weights]] = dict
    partition: PartitionConfig = attrs.field(
        factory=lambda: PartitionConfig("default", QueueConfig("root", leaf=False))
    )
    refusals: QuotaQuery = _no_refusals
    time: TurnTime = attrs.field(factory=UnlimitedTime)


#: Makes the allocator of a cycle.
OrderMaker: TypeAlias = Callable[[OrderContext], RequestOrder]
