"""Collects the decisions of a cycle, turn by turn: matches, journal entries, and what became of each request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np

from negotiator.classad import Ad, Table
from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.job_ranges import JobRanges
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
from negotiator.hooks.records import Cycle, Mask, Match, PreemptedJob, Request, SlotScore
from negotiator.records import Reason

_NO_JOBS = JobRanges()


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
    """The decisions so far. A request with several turns has one outcome: its matches, and the reasons of all turns.

    ``offline`` (S,) are the slots of machines that are switched off, and ``unclaimed`` the ids of the matches with them.
    """

    cycle: Cycle
    jobs: Table
    slots: Table
    offered: OfferedSlots
    offline: Mask
    unclaimed: set[str] = attrs.field(factory=set)
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
        removals = (*candidates.removals, *granted.removals)
        if cause is StopCause.ALLOWANCE:
            refused = candidates.left - len(granted.rows)
            removals += (Removal(ALLOWANCE_USED, refused, refused),)
        found = self._by_number.get(queued.number)
        if found is None:
            merged = merged_removals((), removals)
            found = _OpenOutcome(queued.request, queued, granted.copies, candidates.left, merged)
            self._by_number[queued.number] = found
        else:
            found.queued, found.copies, found.candidates = queued, granted.copies, candidates.left
            found.removals = merged_removals(found.removals, removals)
        if len(granted.rows):
            matches = self._matches(queued, candidates, granted)
            self.journal += self._entries(queued, matches, granted, attributes)
            found.matches += matches
            for place in np.flatnonzero(self.offline[granted.rows]).tolist():
                self.unclaimed.add(matches[place].id)

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
            served = each.request, tuple(each.matches)
            if len(each.matches) == each.request.count:
                yield RequestOutcome(*served, "", each.candidates, each.removals, _NO_JOBS)
                continue
            left = each.queued.ads_without(each.copies)
            stand_for_one = len({match.job for match in each.matches}) + len(left) == each.request.count
            yield RequestOutcome(
                *served,
                first_unmatched=self._first_unmatched(each),
                candidates=each.candidates,
                removals=each.removals,
                jobs_left=self._job_ids.ranges(left),
                copies_left=() if stand_for_one else self._copies_left(each),
            )

    def _matches(
        self, queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots
    ) -> list[Match]:
        """Return the matches of a turn, column by column; they share what is equal for all."""
        cycle, request, made = self.cycle.number, queued.request, len(self.journal) + 1
        job_rows = queued.rows[granted.copies]
        columns = zip(
            range(made, made + len(job_rows)),
            self._job_ids.at(job_rows),
            self._names_of_slots(granted.rows),
            self._job_ads(job_rows),
            self._slot_ads(granted),
            granted.ranks.tolist(),
            _warnings(candidates, granted),
            self._ended_jobs(queued, granted),
            _scores(candidates, granted),
            strict=True,
        )
        return [
            Match(
                id=f"{cycle}.{number}",
                submitter=request.submitter,
                schedd=request.schedd,
                job=job,
                slot=slot,
                job_ad=job_ad,
                slot_ad=slot_ad,
                rank=rank,
                queue=request.queue,
                warnings=warnings,
                preempts=preempts,
                request_attributes=queued.attributes,
                scores=scores,
            )
            for number, job, slot, job_ad, slot_ad, rank, warnings, preempts, scores in columns
        ]

    def _slot_ads(self, granted: GrantedSlots) -> list[Ad]:
        """Return the ad of each match's slot, as it is once the jobs in its dynamic slots have ended."""
        ads, enlarged = list(self.slots.take(granted.rows).ads), granted.enlarged
        if enlarged is not None:
            for place in np.flatnonzero(np.isin(granted.rows, enlarged.rows)).tolist():
                ads[place] = enlarged.slots.ad(int(np.searchsorted(enlarged.rows, granted.rows[place])))
        return ads

    def _names_of_slots(self, rows: RowNumbers) -> list[str]:
        names = zip(self._slot_names.texts(rows), rows.tolist(), strict=True)
        return [name or f"slot {row}" for name, row in names]

    def _job_ads(self, rows: RowNumbers) -> list[Ad]:
        """Return the ad of each match's job; those of an ad that stands for several jobs share it."""
        places = rows.tolist()
        ads = {row: self.jobs.ad(row) for row in dict.fromkeys(places)}
        return [ads[row] for row in places]

    def _ended_jobs(self, queued: QueuedRequest, granted: GrantedSlots) -> list[PreemptedJob | None]:
        if granted.preemptions is None:
            return [None] * len(granted.rows)
        return [ended_job(self.offered, queued.slots, granted, place) for place in range(len(granted.rows))]

    def _entries(
        self,
        queued: QueuedRequest,
        matches: Sequence[Match],
        granted: GrantedSlots,
        attributes: Sequence[Attributes],
    ) -> list[JournalEntry]:
        """Return what the matches of a request are charged for."""
        at, request, rows = self.cycle.now, queued.request, queued.rows.tolist()
        jobs_of_ad, copies = Counter(rows), granted.copies.tolist()
        return [
            JournalEntry(
                id=match.id,
                at=at,
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
                is_copy=jobs_of_ad[rows[copy]] > 1,
            )
            for match, copy, values in zip(matches, copies, attributes, strict=True)
        ]

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


def _warnings(candidates: MatchCandidates, granted: GrantedSlots) -> list[tuple[Reason, ...]]:
    """Return, for each match, the reasons of rules that would have refused it if they were enforced."""
    if not candidates.warnings and not granted.warnings:
        return [()] * len(granted.rows)
    return [
        (
            *(reason for reason, mask in candidates.warnings if mask[row]),
            *(reason for reason, places in granted.warnings if place in places),
        )
        for place, row in enumerate(granted.rows.tolist())
    ]


def _scores(candidates: MatchCandidates, granted: GrantedSlots) -> list[tuple[SlotScore, ...]]:
    """Return, for each match, the scores that plugins gave its slot."""
    columns = [
        [
            SlotScore(each.plugin, each.record.rule, value)
            for value in each.record.values[granted.rows].tolist()
        ]
        for each in candidates.scores
    ]
    return [*zip(*columns, strict=True)] if columns else [()] * len(granted.rows)
