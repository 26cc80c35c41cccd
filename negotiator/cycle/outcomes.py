"""Collects the decisions of a cycle, turn by turn: matches, journal entries, and what became of each request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np

from negotiator.classad import ClassAd, Table
from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.jobs import JobIds, texts
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.match import MatchCandidates
from negotiator.cycle.matched_attributes import Attributes
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.preempted_jobs import ended_job
from negotiator.cycle.result import (
    ALLOWANCE_USED,
    Removal,
    RequestOutcome,
    merged_removals,
)
from negotiator.cycle.text_columns import TextColumn
from negotiator.cycle.wait_reasons import WaitReasons
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.order import QueuedRequest, RowNumbers, StopCause
from negotiator.hooks.records import Cycle, Match
from negotiator.records import Reason


@attrs.define(eq=False)
class Outcomes:
    """The decisions so far. A request with several turns has one outcome: its matches, and the reasons of all turns."""

    cycle: Cycle
    jobs: Table
    slots: Table
    offered: OfferedSlots
    journal: list[JournalEntry] = attrs.field(factory=list)
    failures: list[HookFailure] = attrs.field(factory=list)
    _by_number: dict[int, RequestOutcome] = attrs.field(factory=dict)
    _last_turns: dict[int, tuple[QueuedRequest, RowNumbers]] = attrs.field(factory=dict)

    def add(
        self,
        queued: QueuedRequest,
        candidates: MatchCandidates,
        granted: GrantedSlots,
        attributes: Sequence[Attributes],
        cause: StopCause,
    ) -> None:
        """Add the decisions of one turn, the attributes of its matches, and why it ended."""
        self.failures += (*candidates.failures, *granted.failures)
        matches = tuple(self._matches(queued, candidates, granted))
        self.journal += self._entries(queued, matches, granted, attributes)
        first_unmatched = self._first_unmatched(queued, granted)
        removals = [*candidates.removals, *granted.removals]
        if cause is StopCause.ALLOWANCE:
            refused = candidates.left - len(granted.rows)
            removals.append(Removal(ALLOWANCE_USED, refused, refused))
        self._last_turns[queued.number] = queued, granted.copies
        before = self._by_number.get(queued.number)
        self._by_number[queued.number] = RequestOutcome(
            request=before.request if before else queued.request,
            matches=(*before.matches, *matches) if before else matches,
            first_unmatched=first_unmatched,
            candidates=candidates.left,
            removals=merged_removals(before.removals if before else (), removals),
        )

    @property
    def requests(self) -> int:
        """The number of requests that had a turn."""
        return len(self._by_number)

    def end(self, queued: QueuedRequest, reasons: WaitReasons, late: Reason | None) -> None:
        """End a request: give it an outcome if it had no turn.

        :param late: the reason if its submitter had no time left; it replaces that of a request that may have had more turns.
        """
        found = self._by_number.get(queued.number)
        if found is None:
            self._add_without_turn(queued, reasons.of(queued, late))
        elif late is not None and found.removals and found.removals[-1].reason is ALLOWANCE_USED:
            last = attrs.evolve(found.removals[-1], reason=late)
            self._by_number[queued.number] = attrs.evolve(found, removals=(*found.removals[:-1], last))

    def _add_without_turn(self, queued: QueuedRequest, removals: tuple[Removal, ...]) -> None:
        self._by_number[queued.number] = RequestOutcome(
            request=queued.request,
            matches=(),
            first_unmatched=queued.request.first_job,
            candidates=0,
            removals=removals,
        )
        self._last_turns[queued.number] = queued, np.zeros(0, np.intp)

    def __iter__(self) -> Iterator[RequestOutcome]:
        """The outcomes of all requests, in the order of their first turns."""
        for number, outcome in self._by_number.items():
            queued, copies = self._last_turns[number]
            yield attrs.evolve(outcome, jobs_left=self._job_ids.ranges(queued.ads_without(copies)))

    def _matches(
        self, queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots
    ) -> Iterator[Match]:
        made = len(self.journal) + 1
        ids = self._job_ids.at(queued.rows[granted.copies])
        ads: dict[int, ClassAd] = {}
        job_rows, slot_rows = queued.rows[granted.copies].tolist(), granted.rows.tolist()
        for place, (job_row, job_id, row, rank) in enumerate(
            zip(job_rows, ids, slot_rows, granted.ranks.tolist(), strict=True)
        ):
            job = ads.get(job_row) or ads.setdefault(job_row, self.jobs.ad(job_row))
            warnings = [reason for reason, mask in candidates.warnings if mask[row]]
            warnings += (reason for reason, places in granted.warnings if place in places)
            preempts = ended_job(self.offered, queued.slots, granted.preemptions, place, row)
            yield Match(
                id=f"{self.cycle.number}.{made + place}",
                submitter=queued.request.submitter,
                schedd=queued.request.schedd,
                job=job_id,
                slot=self._slot_names.text(row) or f"slot {row}",
                job_ad=job,
                slot_ad=self.slots.ad(row),
                rank=rank,
                queue=queued.request.queue,
                warnings=tuple(warnings),
                preempts=preempts,
            )

    def _entries(
        self,
        queued: QueuedRequest,
        matches: Sequence[Match],
        granted: GrantedSlots,
        attributes: Sequence[Attributes],
    ) -> Iterator[JournalEntry]:
        """Yield what the matches of a request are charged for."""
        request, copies = queued.request, granted.copies.tolist()
        ads, counts = np.unique(queued.rows, return_counts=True)
        shared = frozenset(ads[counts > 1].tolist())  # ads that stand for several jobs
        for match, copy, values in zip(matches, copies, attributes, strict=True):
            yield JournalEntry(
                id=match.id,
                at=self.cycle.now,
                submitter=request.submitter,
                schedd=request.schedd,
                job=match.job,
                slot=match.slot,
                queue=request.queue,
                user=request.user,
                groups=request.groups,
                group=request.group,
                application=request.applications[copy],
                attributes=values,
                is_copy=int(queued.rows[copy]) in shared,
            )

    def _first_unmatched(self, queued: QueuedRequest, granted: GrantedSlots) -> str:
        """Return the id of the first job that got no slot, empty where all got one."""
        left = np.ones(len(queued.rows), np.bool_)
        left[granted.copies] = False
        rows = queued.rows[left]
        return self._job_ids.at(rows[:1])[0] if len(rows) else ""

    @cached_property
    def _job_ids(self) -> JobIds:
        return JobIds.of(self.jobs)

    @cached_property
    def _slot_names(self) -> TextColumn:
        return texts(self.slots, "Name")
