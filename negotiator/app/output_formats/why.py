"""The outputs of ``negotiator why`` and ``idle``."""

from __future__ import annotations

from typing import Final, Literal, TypedDict

from negotiator.app.limits import LimitKind
from negotiator.app.output_formats.reasons import (
    AuditRecord,
    JobsReasonValues,
    OverrunCountValues,
    ReasonValues,
)
from negotiator.app.why.idle import SplitClasses
from negotiator.app.why.job import HolderShare
from negotiator.app.why.slot import SlotAmount
from negotiator.app.why.subject import WhyKind
from negotiator.hooks.order import ShareUse


class NearValues(TypedDict):
    """The least change of a number or text that would open slots for a job."""

    subject: str
    now: float | bool | str
    relation: str
    needed: float | bool | str
    slots: int


class NearJobsValues(TypedDict):
    """The least change of a number or text that would open a slot for jobs."""

    subject: str
    now: float | bool | str
    relation: str
    needed: float | bool | str
    jobs: int


class ConditionValues(TypedDict):
    """A condition that rejects slots for a job: how many, how many that nothing else rejects, and who can change it."""

    reason: ReasonValues
    rejected: int
    alone: int
    lever: Literal["job", "machine", "pool", "time"]
    near: NearValues | None


class SlotConditionValues(TypedDict):
    """A condition that rejects jobs for a slot: how many, how many that nothing else rejects, and who can change it."""

    reason: ReasonValues
    rejected: int
    alone: int
    lever: Literal["job", "machine", "pool", "time"]
    near: NearJobsValues | None


class RemedyValues(TypedDict):
    """Conditions, by their places in the list, that would all have to change, and the slots that would then be candidates."""

    conditions: list[int]
    slots: int


class SlotRemedyValues(TypedDict):
    """Conditions, by their places in the list, that would all have to change, and the jobs that would then fit."""

    conditions: list[int]
    jobs: int


class QuotaValues(ReasonValues):
    """A quota that rejects a job, and for how many slots."""

    rejected: int


class DiscardedSlotsValues(ReasonValues):
    """Why slots take no part, and how many."""

    slots: int


class FirstEndValues(TypedDict):
    """The first of running jobs that ends, when at the latest, and how many of the jobs state an end."""

    job: str
    time: str
    stated: int
    jobs: int


class OutcomeValues(TypedDict):
    """What a cycle now would decide about a job among the others: the slot that it gets, or the reason."""

    slot: str
    reason: ReasonValues | None


class WhyJobOutput(TypedDict):
    """Why a job gets no slot.

    ``decisive`` is the reason that took its last slots; ``causes`` are reasons without slots. ``together`` are places in ``conditions``. ``decided`` is the
    record of the last decision.
    """

    job: str
    schedd: str
    user: str
    submitter: str
    queue: str
    slots: int
    candidates: int
    slot: str
    decisive: ReasonValues | None
    causes: list[ReasonValues]
    conditions: list[ConditionValues]
    together: list[int]
    remedies: list[RemedyValues]
    quotas: list[QuotaValues]
    discarded_slots: list[DiscardedSlotsValues]
    first_end: FirstEndValues | None
    competing: OutcomeValues | None
    decided: AuditRecord | None
    share: HolderShare | None


class IdleRow(TypedDict):
    """IdleOutput jobs of a user in a queue without a slot, and their reason."""

    user: str
    queue: str
    jobs: int
    reason: ReasonValues


class LimitValues(TypedDict):
    """A limit and what is used of it."""

    kind: LimitKind
    name: str
    queue: str
    resource: str
    used: float
    limit: float


class WhyHolderOutput(TypedDict):
    """Why the idle jobs of a user or a queue get no slot."""

    kind: WhyKind
    name: str
    running: int
    matched: int
    idle: list[IdleRow]
    shares: list[ShareUse]
    first_end: FirstEndValues | None
    limits: list[LimitValues]


class UseValues(TypedDict):
    """The jobs on a slot."""

    jobs: list[str]
    user: str
    first_end: FirstEndValues | None


class CompetingValues(TypedDict):
    """What a cycle now would decide about a slot: the job that gets it, and those that could run there and get others or none."""

    job: str
    user: str
    elsewhere: int
    waiting: list[JobsReasonValues]


class WhySlotOutput(TypedDict):
    """Why a slot runs no idle job; amounts are in HTCondor's units."""

    slot: str
    state: str
    activity: str
    amounts: list[SlotAmount]
    use: UseValues | None
    parts: int
    jobs: int
    classes: int
    fitting: int
    possible: int
    decisive: ReasonValues | None
    discarded: list[ReasonValues]
    conditions: list[SlotConditionValues]
    remedies: list[SlotRemedyValues]
    quotas: list[JobsReasonValues]
    no_part: list[JobsReasonValues]
    competing: CompetingValues | None
    decided: AuditRecord | None


class WhyNotOutput(TypedDict):
    """Why a job does not get a slot; ``chosen`` is the slot that it would get if it were alone, empty if none."""

    job: str
    schedd: str
    slot: str
    reasons: list[ReasonValues]
    quotas: list[ReasonValues]
    chosen: str


class IdleOutput(TypedDict):
    """Why the idle jobs of a pool get no slot; ``matched`` is how many would."""

    matched: int
    idle: list[IdleRow]
    split_classes: SplitClasses | None
    overruns: list[OverrunCountValues]
    unjudged: int


#: The answers of ``negotiator why``.
WHY: Final = (WhyJobOutput, WhySlotOutput, WhyHolderOutput, WhyNotOutput)
