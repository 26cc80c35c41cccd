"""The records that plugins receive and return.

The guard adds the plugin's name and version to each record that is returned, so that no plugin can use another's. Masks
are boolean NumPy arrays with one element for each row of the table that the hook was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Environment, Payers
from negotiator.hooks.overruns import OverrunAction
from negotiator.hooks.plugin_output import inside_plugin
from negotiator.queues.model import read_only_amounts
from negotiator.records import Mode, Provenance, Reason, Source, Verdict

Mask: TypeAlias = NDArray[np.bool_]


_NO_AMOUNTS: Mapping[str, int] = MappingProxyType({})


def _fixed(names: Sequence[str]) -> Sequence[str]:
    """Return names as a sequence that can't be changed."""
    return tuple(names) if isinstance(names, list) else names


@attrs.frozen
class Cycle:
    """The cycle in which a hook is called.

    ``now`` is in seconds since the epoch: the only clock that a policy should read, so that a cycle can be replayed.
    ``payers`` are the allowances of steps that expressions evaluated in ``environment`` are charged to, if there are any.
    """

    number: int
    now: float
    digest: str  # of the policy bundle
    payers: Payers | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def environment(self) -> Environment:
        """The environment for evaluating expressions: the cycle's clock, and its number as the seed of random()."""
        return Environment(now=self.now, seed=self.number, payers=self.payers)


@attrs.frozen(kw_only=True)
class Gate:
    """One gate over the ads of one kind; ``discard`` is true for the ads to keep out of the cycle.

    ``outside``: the slots that it discards are not of this negotiator's pool (NEGOTIATOR_SLOT_CONSTRAINT). Requests of their claims
    are marked so, unless other negotiators share the limits of the pool.

    ``overruns`` and ``overrun_grace`` are what becomes of running jobs that it would deny, and after how many seconds; None for the
    bundle's.
    """

    rule: str
    discard: Mask
    code: str
    text: str
    verdict: Verdict = Verdict.DENIED
    source: Source | None = None
    mode: Mode = Mode.ENFORCE
    outside: bool = False
    overruns: OverrunAction | None = None
    overrun_grace: float | None = None


@attrs.frozen
class Request:
    """A resource request: jobs of one submitter that are equal in everything that policies read (an autocluster).

    ``ad`` has the significant attributes only: those that the ads, the bundle and ``negotiator_job_attributes`` of the
    plugins refer to. So nothing that a policy reads differs between the jobs of one request. In a hook it has those that
    the plugin itself declared; reading another one is an error. An answer about slots or charges is used for all requests with the
    same values of what the call read, so it must depend on nothing else.
    """

    submitter: str
    schedd: str
    _ad: Ad = attrs.field(alias="ad")
    count: int
    first_job: str  # "cluster.proc" of the first of the jobs
    queue: str = ""  # the path of the queue that its applications are placed in
    user: str = ""  # the owner of the applications, as queues.yaml names users
    group: str = ""  # the group whose limits they count for, empty for none
    #: The amounts that one job requests, in the units of queues.yaml.
    resources: Mapping[str, int] = attrs.field(default=_NO_AMOUNTS, converter=read_only_amounts)
    unknown: frozenset[str] = frozenset()  # resources whose amount the job does not specify; they count as 0
    applications: Sequence[str] = attrs.field(
        default=(), converter=_fixed
    )  # (M,) "schedd#cluster" of each job, in their order
    groups: tuple[str, ...] = ()  # of the user, the primary one first; empty if unknown
    #: The job runs, and no match of it is known: what its ad says is the job's own claim, except what its slot bounds.
    unverified: bool = False
    #: The attributes that the slot's ad has of the claim (ConcurrencyLimits, PreemptingConcurrencyLimits), if it is unverified.
    claim: Ad = attrs.field(factory=Ad)
    outside: bool = False  # the job runs on a slot that a gate puts outside of the pool (``Gate.outside``)

    def as_idle(self) -> Request:
        """Return the request of running jobs as if they were matched now."""
        changed = {"JobStatus": 1} if "JobStatus" in self._ad else {}
        return attrs.evolve(self, ad=self._ad.replaced(changed)) if changed else self

    @property
    def ad(self) -> Ad:
        """The significant attributes; in a plugin's code those that it declared."""
        call = inside_plugin.get()
        if call is None or call.reads is None:
            return self._ad
        found: Ad = call.reads.ad(self._ad)
        return found


@attrs.frozen(kw_only=True)
class Filter:
    """The decision of one policy about a request over all slots; ``allow`` is true for slots that may be matched.

    ``verdict`` distinguishes slots that never match (DENIED) from those that are only in use (WAITING).
    """

    rule: str
    allow: Mask
    code: str
    text: str
    verdict: Verdict = Verdict.DENIED
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen
class Score:
    """How much one policy prefers each slot for a request: ``values`` (N,) float64, a higher one is better.

    Scores sort the slots that a request may get before every rank of the pool and of the job; slots of equal score fall to
    these. Several scores are compared one after the other, never summed.
    """

    rule: str
    values: NDArray[np.float64]


@attrs.frozen
class SlotScore:
    """The value that one plugin's score gave the slot of a match."""

    plugin: str
    rule: str
    value: float


@attrs.frozen
class EndedSlot:
    """A dynamic slot whose job a match with its partitionable slot ends: its Name, and the user and id of the job."""

    slot: str
    user: str
    job: str = ""


@attrs.frozen
class PreemptedJob:
    """The job that a match ends: its user, and why.

    ``by`` is ``rank`` (the slot prefers the new job), ``priority``, or ``guarantee`` (its queue is above its guaranteed resources).
    For a guarantee ``queue`` is the job's queue, and ``provenance`` the rule that the text and the numbers explain. A match with a
    partitionable slot ends the jobs of all dynamic ``slots``: ``user`` and ``queue`` then name each of theirs once, with commas between.
    """

    user: str
    by: str
    queue: str = ""
    text: str = ""
    numbers: Mapping[str, int | float | str] = attrs.field(factory=dict)
    provenance: Provenance | None = None
    slots: tuple[EndedSlot, ...] = ()


@attrs.frozen
class Match:
    """One job and its slot. The ads are complete, without claim ids and capabilities.

    ``request_attributes`` are those that the order gave the job at its turn (``QueuedRequest.attributes``).
    """

    id: str  # unique in the audit log: "<cycle>.<ordinal>"
    submitter: str
    schedd: str
    job: str  # "cluster.proc"
    slot: str  # the slot's Name
    job_ad: Ad
    slot_ad: Ad
    rank: float
    queue: str = ""  # the path of the queue of its application
    warnings: tuple[Reason, ...] = ()  # of rules in mode warn or dryrun that would have forbidden it
    preempts: PreemptedJob | None = None  # None: the slot was free
    request_attributes: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    scores: tuple[SlotScore, ...] = ()  # that plugins gave the slot, the most significant first
