"""Collects the decisions of a cycle, turn by turn: matches, journal entries, and what became of each request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np

from negotiator.classad import Ad, Table
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
from negotiator.hooks.records import Cycle, Match, Request
from negotiator.records import Reason


@attrs.define(eq=False)
class _OpenOutcome:
    """What became of one request so far: ``queued`` as it was at its last turn, and the ``copies`` that were served then."""

    request: Request
    queued: QueuedRequest
    copies: RowNumbers
    candidates: int
    removals: tuple[Removal, ...]
    matches: list[Match] = attrs.field(factory=list)

    @property
    def rows_left(self) -> RowNumbers:
        """The row of each job that got no slot; that of an ad that stands for several jobs as often."""
        rows = self.queued.rows
        return np.delete(rows, self.copies) if len(self.copies) else rows


@attrs.define(eq=False)
class Outcomes:
    """The decisions so far. A request with several turns has one outcome: its matches, and the reasons of all turns."""

    cycle: Cycle
    jobs: Table
    slots: Table
    offered: OfferedSlots
    journal: list[JournalEntry] = attrs.field(factory=list)
    failures: list[HookFailure] = attrs.field(factory=list)
    _by_number: dict[int, _OpenOutcome] = attrs.field(factory=dict)

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
        removals = [*candidates.removals, *granted.removals]
        if cause is StopCause.ALLOWANCE:
            refused = candidates.left - len(granted.rows)
            removals.append(Removal(ALLOWANCE_USED, refused, refused))
        found = self._by_number.get(queued.number)
        if found is None:
            merged = merged_removals((), removals)
            found = _OpenOutcome(queued.request, queued, granted.copies, candidates.left, merged)
            self._by_number[queued.number] = found
        else:
            found.queued, found.copies, found.candidates = queued, granted.copies, candidates.left
            found.removals = merged_removals(found.removals, removals)
        if len(granted.rows):
            matches = list(self._matches(queued, candidates, granted))
            self.journal += self._entries(queued, matches, granted, attributes)
            found.matches += matches

    @property
    def requests(self) -> int:
        """The number of requests that had a turn."""
        return len(self._by_number)

    def end(self, queued: QueuedRequest, reasons: WaitReasons, late: Reason | None) -> None:
        """End a request: give it an outcome if it had no turn, and the order's reason if it might have had more slots.

        :param late: the reason if its submitter had no time left; it replaces that of a request that may have had more turns.
        """
        found = self._by_number.get(queued.number)
        if found is None:
            nothing, removals = np.zeros(0, np.intp), reasons.of(queued, late)
            self._by_number[queued.number] = _OpenOutcome(queued.request, queued, nothing, 0, removals)
        elif late is not None and found.removals and found.removals[-1].reason is ALLOWANCE_USED:
            last = attrs.evolve(found.removals[-1], reason=late)
            found.removals = (*found.removals[:-1], last)
        elif found.removals:
            found.removals = reasons.of_allowance(queued, found.removals)

    def __iter__(self) -> Iterator[RequestOutcome]:
        """The outcomes of all requests, in the order of their first turns."""
        for each in self._by_number.values():
            left = each.queued.ads_without(each.copies)
            stand_for_one = len({match.job for match in each.matches}) + len(left) == each.request.count
            yield RequestOutcome(
                request=each.request,
                matches=tuple(each.matches),
                first_unmatched=self._first_unmatched(each),
                candidates=each.candidates,
                removals=each.removals,
                jobs_left=self._job_ids.ranges(left),
                copies_left=() if stand_for_one else self._copies_left(each),
            )

    def _matches(
        self, queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots
    ) -> Iterator[Match]:
        made = len(self.journal) + 1
        ids = self._job_ids.at(queued.rows[granted.copies])
        ads: dict[int, Ad] = {}
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
                request_attributes=queued.attributes,
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
        _, ads, jobs = np.unique(queued.rows, return_inverse=True, return_counts=True)
        shared = (jobs[ads[granted.copies]] > 1).tolist()  # by ads that stand for several jobs
        for match, copy, values, is_copy in zip(matches, copies, attributes, shared, strict=True):
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
                is_copy=is_copy,
            )

    def _first_unmatched(self, outcome: _OpenOutcome) -> str:
        """Return the id of the first job that got no slot, empty where all got one."""
        rows = outcome.rows_left
        return self._job_ids.at(rows[:1])[0] if len(rows) else ""

    def _copies_left(self, outcome: _OpenOutcome) -> tuple[tuple[str, int], ...]:
        """Return the ids of ads, and the number of jobs without a slot that each of them stands for.

        A request has no rows for jobs that cannot get a slot because there are fewer slots: they count for its last ad.
        """
        rows = outcome.rows_left
        others = outcome.request.count - len(outcome.matches) - len(rows)
        rows, counts = np.unique(np.append(rows, outcome.queued.ads[-1:]), return_counts=True)
        counts[rows == outcome.queued.ads[-1]] += others - 1
        left = zip(self._job_ids.at(rows), counts.tolist(), strict=True)
        return tuple((job, count) for job, count in left if count)

    @cached_property
    def _job_ids(self) -> JobIds:
        return JobIds.of(self.jobs)

    @cached_property
    def _slot_names(self) -> TextColumn:
        return texts(self.slots, "Name")
