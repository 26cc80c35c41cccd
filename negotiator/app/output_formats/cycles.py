"""The outputs of ``negotiator run`` and ``serve``: the decisions of a cycle."""

from __future__ import annotations

from typing import Final, NotRequired, TypedDict

from negotiator.app.output_formats.reasons import OverrunCountValues, ProvenanceValues, ReasonValues


class CycleRecord(TypedDict):
    """What each record of a cycle has: ``time`` is RFC 3339, ``bundle`` the digest of the policy bundle."""

    kind: str
    cycle: int
    time: str
    bundle: str


class EndedSlotValues(TypedDict):
    """A dynamic slot whose job a match with its partitionable slot ends."""

    slot: str
    user: str
    job: str


class PreemptedValues(TypedDict):
    """Whose job a match ends, by which rule: that of a plugin is named. ``slots`` are those of several jobs."""

    user: str
    by: str
    queue: NotRequired[str]
    text: NotRequired[str]
    numbers: NotRequired[dict[str, float | str]]
    provenance: NotRequired[ProvenanceValues]
    slots: NotRequired[list[EndedSlotValues]]


class MatchReason(TypedDict):
    """Why a job got its slot."""

    code: str
    text: str
    provenance: ProvenanceValues


class MatchRecord(CycleRecord):
    """A match."""

    id: str
    user: str
    submitter: str
    schedd: str
    job: str
    slot: str
    queue: str
    rank: float | str
    preempts: NotRequired[PreemptedValues]
    candidates: int
    reason: MatchReason
    warnings: list[ReasonValues]


class DenialReason(ReasonValues):
    """A reason, the slots that it removed, and those that it rejects."""

    removed: int
    rejected: int


class DenialRecord(CycleRecord):
    """Jobs of a request without a slot; ``decisive`` is the place of the reason that took the last slots."""

    user: str
    submitter: str
    schedd: str
    jobs: int
    first_job: str
    queue: str
    matched: int
    candidates: int
    job_ids: list[str]
    job_ids_left_out: int
    reasons: list[DenialReason]
    decisive: int | None
    reasons_left_out: int


class DiscardRecord(CycleRecord):
    """Ads that take no part in the cycle."""

    ads: str
    count: int
    examples: list[str]
    reason: ReasonValues


class FailureRecord(CycleRecord):
    """A failure of a plugin."""

    plugin: str
    version: str
    hook: str
    message: str


class TimeStopRecord(CycleRecord):
    """A time limit that was reached."""

    limit: str
    submitter: str
    schedd: str
    turn: int
    reason: ReasonValues


class OverrunRecord(CycleRecord):
    """What begins or no longer breaks a rule, or is to end for it: a limit that is exceeded, or a running job that a policy would deny."""

    change: str
    subject: str
    since: str
    reason: ReasonValues
    resource: NotRequired[str]
    used: NotRequired[float | str]
    limit: NotRequired[float | str]
    user: NotRequired[str]
    schedd: NotRequired[str]
    job: NotRequired[str]
    slot: NotRequired[str]
    action: NotRequired[str]


class QueueChangeRecord(CycleRecord):
    """A change of a queue."""

    queue: str
    change: str


class PlacementStepValues(TypedDict):
    """A placement rule that was tried."""

    rule: str
    plugin: str
    version: str
    source: str | None
    queue: str
    code: str
    text: str


class PlacementValues(TypedDict):
    """The placement of alike applications, with every rule that was tried."""

    user: str
    groups: list[str]
    groups_left_out: int
    requested_queue: str
    tags: dict[str, str]
    forced: bool
    jobs: int
    first_job: str
    queue: str
    code: str
    steps: list[PlacementStepValues]
    steps_left_out: int


class PlacementRecord(CycleRecord, PlacementValues):
    """The placement of alike applications."""


class CycleCountsValues(TypedDict):
    """The sizes of a cycle: the ads read, and those admitted to matching."""

    schedds: int
    submitters: int
    slots: int
    jobs: int
    admitted_slots: int
    admitted_jobs: int
    requests: int


class InUseValues(TypedDict):
    """Jobs that had a slot when the cycle began, and those of the users and queues with most."""

    jobs: int
    users: dict[str, int]
    queues: dict[str, int]


class CycleSumRecord(CycleRecord):
    """The sums of a cycle."""

    plugins: list[str]
    now: float
    counts: CycleCountsValues
    in_use: InUseValues
    matches: int
    matches_recorded: int
    denials: int
    denials_recorded: int
    discards: int
    failures: int
    failures_left_out: int
    placements: int
    queue_changes: int
    time_stops: int
    overruns: int
    overruns_by_rule: list[OverrunCountValues]
    overruns_left_out: int
    unjudged: int


class CycleOutput(TypedDict):
    """The decisions of a cycle by kind, one object a line; a kind without records is missing."""

    cycle: list[CycleSumRecord]
    match: NotRequired[list[MatchRecord]]
    denial: NotRequired[list[DenialRecord]]
    discard: NotRequired[list[DiscardRecord]]
    failure: NotRequired[list[FailureRecord]]
    time_stop: NotRequired[list[TimeStopRecord]]
    overrun: NotRequired[list[OverrunRecord]]
    queue_change: NotRequired[list[QueueChangeRecord]]
    placement: NotRequired[list[PlacementRecord]]


class DifferenceValues(TypedDict):
    """A job about which the pool's own negotiator decided otherwise."""

    kind: str
    schedd: str
    job: str
    submitter: str
    slot: str
    theirs: str
    instead: str
    rule: str
    reason: ReasonValues | None


class ShadowReportValues(TypedDict):
    """The comparison of a cycle with the pool's own negotiator."""

    cycle: int
    bundle: str
    since: str
    until: str
    same_slot: int
    other_slot: int
    same_idle: int
    differences: list[DifferenceValues]
    differences_left_out: int
    not_comparable: dict[str, int]
    not_comparable_jobs: dict[str, list[str]]
    new_jobs: int
    new_running: int


class RuleDifferences(TypedDict):
    """The jobs about which a rule makes a difference."""

    kind: str
    rule: str
    jobs: int


class ShadowTotalsValues(TypedDict):
    """The sums over all cycles."""

    cycles: int
    same: int
    other_slot: int
    differences: list[RuleDifferences]
    not_comparable: dict[str, int]


class ShadowOutput(TypedDict):
    """A line of ``negotiator serve --shadow``."""

    shadow_report: ShadowReportValues
    totals: ShadowTotalsValues


#: The lines of ``negotiator serve``.
SERVE: Final = (CycleOutput, ShadowOutput)
