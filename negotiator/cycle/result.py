"""What a negotiation cycle decided, and why: plain records, the same for the same input, byte for byte.

Sizes do not depend on the pool's: reasons are counted per request, never listed per slot.
"""

from __future__ import annotations

import attrs

from negotiator.cycle.cycle_state import JournalEntry
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.placement import Application
from negotiator.hooks.records import AdKind, Match, Request
from negotiator.ledger import Ledger
from negotiator.placement import Placement
from negotiator.queues import QueueChange, QueueTree
from negotiator.queues.applications import ApplicationRegistry
from negotiator.records import Reason


@attrs.frozen
class Removal:
    """How many slots one reason took from one request.

    ``removed`` counts the slots that were still candidates when the reason was applied. ``rejected`` counts the admitted
    slots rejected by this reason independently of others: the most that dropping this one rule could give back.
    """

    reason: Reason
    removed: int
    rejected: int


@attrs.frozen
class DiscardedAds:
    """How many ads of one kind one reason kept out of the cycle, and the names of the first few."""

    kind: AdKind
    reason: Reason
    count: int
    examples: tuple[str, ...]


@attrs.frozen
class ApplicationPlacement:
    """What became of one kind of applications that were not placed before: its jobs are alike in all that rules read."""

    application: Application
    jobs: int
    first_job: str
    placement: Placement


@attrs.frozen(eq=False)
class QueueingState:
    """What a cycle did to the queues: for the runtime to take over once it is recorded."""

    queues: QueueTree
    registry: ApplicationRegistry


@attrs.frozen
class RequestOutcome:
    """What became of one request: its matches, and for the rest the reasons, each with its counts.

    Jobs are matched in the schedd's order; ``first_unmatched`` is the id ("cluster.proc") of the first that got no
    slot, empty where all got one. ``candidates`` is the number of slots left after all reasons.
    """

    request: Request
    matches: tuple[Match, ...]
    first_unmatched: str
    candidates: int
    removals: tuple[Removal, ...]

    @property
    def unmatched(self) -> int:
        """The number of jobs that got no slot."""
        return self.request.count - len(self.matches)


@attrs.frozen
class CycleCounts:
    """The sizes of a cycle: ads that came in, and those that were admitted to matching."""

    schedds: int
    submitters: int
    slots: int
    jobs: int
    admitted_slots: int
    admitted_jobs: int
    requests: int


@attrs.frozen
class CycleResult:
    """The whole outcome of one cycle."""

    number: int
    now: float
    digest: str  # of the policy bundle
    plugins: tuple[str, ...]  # "name version"
    counts: CycleCounts
    discarded: tuple[DiscardedAds, ...]
    outcomes: tuple[RequestOutcome, ...]
    failures: tuple[HookFailure, ...]  # of plugins that could not be asked, each once
    placements: tuple[ApplicationPlacement, ...] = ()  # of applications that were new, in their order
    changes: tuple[QueueChange, ...] = ()  # of queues, in their order
    queueing: QueueingState | None = attrs.field(
        default=None, eq=False, repr=False
    )  # None: there are no queues
    ledger: Ledger | None = attrs.field(default=None, eq=False, repr=False)  # as it is with all matches
    journal: tuple[JournalEntry, ...] = attrs.field(
        default=(), repr=False
    )  # one entry a match, in their order

    @property
    def matches(self) -> tuple[Match, ...]:
        """All matches, in the order in which they were made."""
        return tuple(match for outcome in self.outcomes for match in outcome.matches)
