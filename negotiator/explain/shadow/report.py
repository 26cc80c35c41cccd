"""The report on one cycle in shadow mode, and the totals of many."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

import attrs

from negotiator.records import CORE, Reason

JobKey: TypeAlias = tuple[str, str]
"""The schedd in lower case, and the id ("cluster.proc")."""


class DifferenceKind(enum.StrEnum):
    """How two negotiators decided about a job that was idle."""

    WOULD_RUN = "would_run"
    """We matched the job; the pool's negotiator rejected it, and it stayed idle."""
    WOULD_WAIT = "would_wait"
    """We kept the job idle; the pool's negotiator matched it, and it runs."""


class Cause(enum.StrEnum):
    """Why what became of a job says nothing about the decision of the pool's negotiator on our snapshot; ``text`` is a sentence."""

    text: str

    LEFT = "left_queue", "the job is no longer idle or running, or its schedd did not answer"
    NOT_CONSIDERED = "not_considered", "the pool's negotiator neither matched nor rejected the job since"
    RAN_BETWEEN = "ran_in_between", "the job ran in between and is idle again"
    UNDECIDED = "undecided", "the cycle recorded no decision about the job"
    MATCHED_BEFORE = "matched_before", "the slot was claimed for the job before our snapshot"
    CLAIM_REUSED = "claim_reused", "the schedd started the job on a claim that it had"
    SLOT_DIVIDED = (
        "slot_divided",
        "the schedd started the job on the rest of a slot matched for another of its jobs",
    )
    SLOT_FREED_LATER = "slot_freed_later", "the slot was not free in our snapshot"
    SLOT_UNKNOWN = "slot_unknown", "the slot is in one of the two snapshots only"
    SLOT_CHANGED = "slot_changed", "the slot that we chose was used in between, or is no longer offered"
    NEWER_JOB = "newer_job", "the slot that we chose went to a job that was not idle in our snapshot"
    LATER_CYCLE = "later_cycle", "the slot served the job beside the one that we chose for it"
    NOT_ADVERTISED = "not_advertised", "the collector had no ad of the job's submitter with idle jobs yet"

    def __new__(cls, value: str, text: str) -> Self:
        """Return the cause of a value."""
        cause = str.__new__(cls, value)
        cause._value_ = value
        cause.text = text
        return cause


@attrs.frozen
class Difference:
    """A job about which the two negotiators decided otherwise.

    ``slot`` is the one that we chose (WOULD_RUN), or on which the job runs (WOULD_WAIT). ``theirs`` is the reason that the schedd
    got for a job that stayed idle. ``reason`` is ours: of the job that we kept idle, or of ``instead``, a job that we kept idle and
    that got the slot in its place; None if we kept no job idle for it. ``instead`` is empty if no other job is involved.
    If ``by_order``, both jobs could have had the slot, and the two negotiators preferred different ones. A policy that denied
    some slots may have denied this one: which ones is not known.
    """

    kind: DifferenceKind
    schedd: str
    job: str
    submitter: str
    slot: str
    theirs: str = ""
    reason: Reason | None = None
    instead: str = ""
    by_order: bool = False

    @property
    def rule(self) -> str:
        """The rule that made the difference: ours, else the reason of the other negotiator."""
        if self.by_order:
            order = "the order of submitters and jobs"
            if self.reason is not None and self.reason.is_of_policy:
                return f"{self.reason.provenance}, or {order}"
            return order
        if self.reason is None:
            return f"the pool's negotiator: {self.theirs or 'no reason'}"
        if self.reason.provenance.plugin == CORE:
            return f"{CORE}: {self.reason.code}"
        return str(self.reason.provenance)


@attrs.frozen
class ShadowReport:
    """What became of the jobs that were idle in the snapshot of a cycle.

    ``number`` and ``digest`` are those of the cycle and its bundle, ``since`` and ``until`` the times of the two snapshots in
    seconds since the epoch. ``same_slot`` and ``other_slot`` count the jobs that both matched, ``same_idle`` those that both kept
    idle. ``not_comparable`` counts the others by their cause, and ``examples`` has the ids of some of them;
    ``new_jobs`` are those submitted since to schedds that answered before, and ``new_running`` how many of these run.
    """

    number: int
    digest: str
    since: float
    until: float
    same_slot: int = 0
    other_slot: int = 0
    same_idle: int = 0
    differences: tuple[Difference, ...] = ()
    not_comparable: Mapping[Cause, int] = attrs.field(factory=dict)
    examples: Mapping[Cause, Sequence[str]] = attrs.field(factory=dict)
    new_jobs: int = 0
    new_running: int = 0

    @property
    def same(self) -> int:
        """The number of jobs about which both decided the same."""
        return self.same_slot + self.other_slot + self.same_idle


@attrs.define
class ShadowTotals:
    """The sums of the reports since the start."""

    cycles: int = 0
    same: int = 0
    other_slot: int = 0
    differences: Counter[tuple[DifferenceKind, str]] = attrs.field(factory=Counter)
    not_comparable: Counter[Cause] = attrs.field(factory=Counter)

    def add(self, report: ShadowReport) -> None:
        """Add a report."""
        self.cycles += 1
        self.same += report.same
        self.other_slot += report.other_slot
        self.differences.update(rules_of(report.differences))
        self.not_comparable.update(report.not_comparable)


def rules_of(differences: Sequence[Difference]) -> Counter[tuple[DifferenceKind, str]]:
    """Return how many differences of each kind each rule made."""
    return Counter((each.kind, each.rule) for each in differences)
