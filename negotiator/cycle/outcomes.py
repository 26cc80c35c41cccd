"""Collects the decisions of a cycle, turn by turn: matches and the jobs that they end, journal entries, and what became of each request.

A request without a turn, or without more slots, has the reason of the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from typing import TypeAlias

import attrs
import numpy as np

from negotiator.classad import Ad, Table
from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.jobs import JobIds, JobRanges, TextColumn, texts
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.match import MatchCandidates, SlotMatcher
from negotiator.cycle.matched_attributes import Attributes, MatchedAttributes
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.result import (
    ALLOWANCE_USED,
    NO_TURN,
    OF_ALLOWANCE,
    Removal,
    RequestOutcome,
    merged_removals,
)
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.order import (
    QueuedRequest,
    RequestOrder,
    RowNumbers,
    SlotAllowance,
    StopCause,
    WaitReason,
)
from negotiator.hooks.records import Cycle, EndedSlot, Mask, Match, PreemptedJob, Request, SlotScore
from negotiator.hooks.slot_offer import Preemption, PreemptionRules
from negotiator.ledger import Rows
from negotiator.records import Provenance, Reason, Station, Verdict

_NO_JOBS = JobRanges()


@attrs.define(eq=False)
class WaitReasons:
    """The reasons of one cycle, after its last turn; ``plugin`` has the name and the version of the plugin of its order."""

    matcher: SlotMatcher
    order: RequestOrder
    plugin: tuple[str, str]

    def of(self, queued: QueuedRequest, late: Reason | None = None) -> tuple[Removal, ...]:
        """Return the reasons of a request without a turn: that no slot is left, else that of the order.

        :param late: the reason if its submitter had no time left; then no other one counts.
        """
        slots = len(self.matcher.slots)
        if late is not None and slots:
            return (Removal(late, slots, slots),)
        if self._unavailable:
            return self._unavailable
        found = self.order.wait_reason(queued)
        reason = NO_TURN if found is None else self._reason(found)
        return (Removal(reason, slots, slots),)

    def of_allowance(self, queued: QueuedRequest, removals: tuple[Removal, ...]) -> tuple[Removal, ...]:
        """Return the removals of a request's turns with the order's reason why its allowance ended, if it has one."""
        # Most reasons are not WAITING: that is found out faster than that they differ.
        waiting = [each.reason for each in removals if each.reason.verdict is Verdict.WAITING]
        if not any(each in OF_ALLOWANCE for each in waiting):
            return removals
        found = self.order.wait_reason(queued)
        if found is None:
            return removals
        reason = self._reason(found)
        return tuple(
            each._replace(reason=reason) if each.reason in OF_ALLOWANCE else each for each in removals
        )

    def _reason(self, found: WaitReason) -> Reason:
        where = Provenance(Station.ORDER, *self.plugin, found.rule)
        return Reason(Verdict.WAITING, found.code, found.text, where, numbers=found.numbers)

    @cached_property
    def _unavailable(self) -> tuple[Removal, ...]:
        """The reasons of all slots if none is left; empty if one is."""
        if not len(self.matcher.slots):
            return (Removal(self.matcher.no_slots, 0, 0),)
        left = np.ones(len(self.matcher.slots), np.bool_)
        removals = []
        for mask, reason in self.matcher.unavailable():
            removed = int(np.count_nonzero(mask & left))
            if removed:
                removals.append(Removal(reason, removed, int(np.count_nonzero(mask))))
            left &= ~mask
        return () if left.any() else tuple(removals)


def ended_job(
    offered: OfferedSlots, allowance: SlotAllowance | None, granted: GrantedSlots, place: int
) -> PreemptedJob | None:
    """Return the job, or the jobs, that a match of a turn ends; None if the slot was free.

    :param place: the number of the match in its turn.
    """
    rules, states = offered.preemption, granted.preemptions
    if rules is None or states is None or states[place] == Preemption.NONE:
        return None
    row, by = int(granted.rows[place]), Preemption(int(states[place])).name.lower()
    dynamic = None if granted.enlarged is None else granted.enlarged.jobs_of(row)
    rows = [row] if dynamic is None or not len(dynamic) else dynamic.tolist()
    user = ", ".join(dict.fromkeys(str(rules.users[each]) for each in rows))
    slots = () if dynamic is None else _slots(offered, rules, dynamic)
    victims = None if allowance is None or allowance.claimed is None else allowance.claimed.victims
    if victims is None:
        return PreemptedJob(user, by, slots=slots)
    queues = [] if rules.queues is None else [str(rules.queues[each]) for each in rows]
    return PreemptedJob(
        *(user, by, ", ".join(dict.fromkeys(queues))),
        text=victims.text,
        numbers=victims.numbers,
        provenance=Provenance(Station.ORDER, *offered.plugin, victims.rule, victims.source),
        slots=slots,
    )


def _slots(offered: OfferedSlots, rules: PreemptionRules, rows: Rows) -> tuple[EndedSlot, ...]:
    """Return the dynamic slots in some rows, in the order in which they were chosen."""
    return tuple(
        EndedSlot(ad.string("Name") or "", str(rules.users[row]), ad.string("JobId") or "")
        for row, ad in zip(rows.tolist(), offered.slots.take(rows).ads, strict=True)
    )


#: Of the matches of a turn: their warnings, the jobs that they end, and their scores; None if there are none.
_MatchNotes: TypeAlias = tuple[
    list[tuple[Reason, ...]] | None, list[PreemptedJob | None] | None, list[tuple[SlotScore, ...]] | None
]


@attrs.frozen(eq=False)
class _GrantingTurn:
    """A turn with matches: what the objects of its matches are made of at the end of the cycle, (G,) each.

    ``first`` is the number of the first of its matches; ``attributes`` are None if they are constants of the jobs; ``warnings``,
    ``preempts`` and ``scores`` are None if there are none.
    """

    queued: QueuedRequest
    granted: GrantedSlots
    first: int
    attributes: Sequence[Attributes] | None
    warnings: list[tuple[Reason, ...]] | None
    preempts: list[PreemptedJob | None] | None
    scores: list[tuple[SlotScore, ...]] | None

    @property
    def job_rows(self) -> RowNumbers:
        """The rows of the jobs."""
        return self.queued.rows[self.granted.copies]


@attrs.define(eq=False)
class _OpenOutcome:
    """What became of one request so far: ``queued`` as it was at its last turn, and the ``copies`` that were served then."""

    request: Request
    queued: QueuedRequest
    copies: RowNumbers
    candidates: int
    removals: tuple[Removal, ...]
    turns: list[_GrantingTurn] = attrs.field(factory=list)
    granted: int = 0

    @property
    def rows_left(self) -> RowNumbers:
        """The row of each job that got no slot; that of an ad that stands for several jobs as often."""
        rows = self.queued.rows
        return np.delete(rows, self.copies) if len(self.copies) else rows


@attrs.define(eq=False)
class Outcomes:
    """The decisions so far. A request with several turns has one outcome: its matches, and the reasons of all turns.

    ``offline`` (S,) are the slots of machines that are switched off. The objects of matches are made after the last turn.
    """

    cycle: Cycle
    jobs: Table
    slots: Table
    offered: OfferedSlots
    offline: Mask
    attributes: MatchedAttributes
    failures: list[HookFailure] = attrs.field(factory=list)
    matched: int = 0  # matches so far
    _by_number: dict[int, _OpenOutcome] = attrs.field(factory=dict)
    _turns: list[_GrantingTurn] = attrs.field(factory=list)

    def add(
        self,
        queued: QueuedRequest,
        candidates: MatchCandidates,
        granted: GrantedSlots,
        attributes: Sequence[Attributes] | None,
        cause: StopCause,
    ) -> None:
        """Add the decisions of one turn, the attributes of its matches (None: constants), and why it ended."""
        self.failures += (*candidates.failures, *granted.failures)
        removals = (*candidates.removals, *granted.removals)
        if cause is StopCause.ALLOWANCE:
            refused = candidates.left - len(granted.rows)
            removals += (Removal(ALLOWANCE_USED, refused, refused),)
        notes = (
            _warnings(candidates, granted),
            self._ended_jobs(queued, granted),
            _scores(candidates, granted),
        )
        self.add_granted(queued, granted, candidates.left, removals, attributes, notes)

    def add_granted(
        self,
        queued: QueuedRequest,
        granted: GrantedSlots,
        candidates: int,
        removals: tuple[Removal, ...],
        attributes: Sequence[Attributes] | None,
        notes: _MatchNotes = (None, None, None),
    ) -> None:
        """Add what a turn granted of so many candidates, and what removed the others."""
        found = self._by_number.get(queued.number)
        if found is None:
            merged = merged_removals((), removals)
            found = _OpenOutcome(queued.request, queued, granted.copies, candidates, merged)
            self._by_number[queued.number] = found
        else:
            found.queued, found.copies, found.candidates = queued, granted.copies, candidates
            found.removals = merged_removals(found.removals, removals)
        if len(granted.rows):
            turn = _GrantingTurn(queued, granted, self.matched + 1, attributes, *notes)
            found.turns.append(turn)
            self._turns.append(turn)
            found.granted += len(granted.rows)
            self.matched += len(granted.rows)

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
            last = found.removals[-1]._replace(reason=late)
            found.removals = (*found.removals[:-1], last)
        elif found.removals:
            found.removals = reasons.of_allowance(queued, found.removals)

    def __iter__(self) -> Iterator[RequestOutcome]:
        """The outcomes of all requests, in the order of their first turns."""
        matches = self.matches
        for each in self._by_number.values():
            own = (matches[turn.first - 1 : turn.first - 1 + len(turn.granted.rows)] for turn in each.turns)
            served = each.request, tuple(chain.from_iterable(own))
            if each.granted == each.request.count:
                yield RequestOutcome(*served, "", each.candidates, each.removals, _NO_JOBS)
                continue
            left = each.queued.ads_without(each.copies)
            stand_for_one = len({match.job for match in served[1]}) + len(left) == each.request.count
            yield RequestOutcome(
                *served,
                first_unmatched=self._first_unmatched(each),
                candidates=each.candidates,
                removals=each.removals,
                jobs_left=self._job_ids.ranges(left),
                copies_left=() if stand_for_one else self._copies_left(each),
            )

    @cached_property
    def matches(self) -> list[Match]:
        """All matches, in the order in which they were made; read it after the last turn."""
        turns = self._turns
        if not turns:
            return []
        job_rows = np.concatenate([turn.job_rows for turn in turns])
        rows = np.concatenate([turn.granted.rows for turn in turns])
        jobs, slots = iter(self._job_ids.at(job_rows)), iter(self._names_of_slots(rows))
        job_ads, slot_ads = iter(self._job_ads(job_rows)), iter(self.slots.take(rows).ads)
        found: list[Match] = []
        for turn in turns:
            request, count = turn.queued.request, len(turn.granted.rows)
            columns = zip(
                range(turn.first, turn.first + count),
                *(jobs, slots, job_ads, self._own_ads(turn, slot_ads), turn.granted.ranks.tolist()),
                turn.warnings or repeat(()),
                turn.preempts or repeat(None),
                turn.scores or repeat(()),
                strict=False,
            )
            found += [
                Match(
                    id=f"{self.cycle.number}.{number}",
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
                    request_attributes=turn.queued.attributes,
                    scores=scores,
                )
                for number, job, slot, job_ad, slot_ad, rank, warnings, preempts, scores in columns
            ]
        return found

    @cached_property
    def journal(self) -> tuple[JournalEntry, ...]:
        """What each match is charged for; read it after the last turn."""
        constants = iter(self._constant_attributes())
        return tuple(entry for turn in self._turns for entry in self._entries(turn, constants))

    def _constant_attributes(self) -> list[Attributes]:
        """Return the attributes of the matches of all turns that have none of their own."""
        turns = [turn for turn in self._turns if turn.attributes is None]
        if not turns:
            return []
        counts = [len(turn.granted.rows) for turn in turns]
        numbers = np.repeat([turn.queued.number for turn in turns], counts)
        return self.attributes.of_constants(numbers, np.concatenate([turn.granted.rows for turn in turns]))

    @cached_property
    def unclaimed(self) -> frozenset[str]:
        """The ids of the matches with machines that are switched off; read it after the last turn."""
        if not self._turns:
            return frozenset()
        offline = self.offline[np.concatenate([turn.granted.rows for turn in self._turns])]
        return frozenset(self.matches[place].id for place in np.flatnonzero(offline).tolist())

    @staticmethod
    def _own_ads(turn: _GrantingTurn, ads: Iterator[Ad]) -> list[Ad]:
        """Return the ad of the slot of each match, as it is once the jobs in its dynamic slots have ended."""
        rows, enlarged = turn.granted.rows, turn.granted.enlarged
        own = list(islice(ads, len(rows)))
        if enlarged is not None:
            for place in np.flatnonzero(np.isin(rows, enlarged.rows)).tolist():
                own[place] = enlarged.slots.ad(int(np.searchsorted(enlarged.rows, rows[place])))
        return own

    def _names_of_slots(self, rows: RowNumbers) -> list[str]:
        names = zip(self._slot_names.texts(rows), rows.tolist(), strict=True)
        return [name or f"slot {row}" for name, row in names]

    def _job_ads(self, rows: RowNumbers) -> list[Ad]:
        """Return the ad of each match's job; those of an ad that stands for several jobs share it."""
        places = rows.tolist()
        ads = {row: self.jobs.ad(row) for row in dict.fromkeys(places)}
        return [ads[row] for row in places]

    def _ended_jobs(self, queued: QueuedRequest, granted: GrantedSlots) -> list[PreemptedJob | None] | None:
        if granted.preemptions is None:
            return None
        return [ended_job(self.offered, queued.slots, granted, place) for place in range(len(granted.rows))]

    def _entries(self, turn: _GrantingTurn, constants: Iterator[Attributes]) -> list[JournalEntry]:
        """Return what the matches of a turn are charged for."""
        at, request, rows = self.cycle.now, turn.queued.request, turn.queued.rows.tolist()
        matches = self.matches[turn.first - 1 : turn.first - 1 + len(turn.granted.rows)]
        attributes = islice(constants, len(matches)) if turn.attributes is None else turn.attributes
        jobs_of_ad = Counter(rows) if len(rows) > 1 else {rows[0]: 1}
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
            for match, copy, values in zip(matches, turn.granted.copies.tolist(), attributes, strict=True)
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
        others = outcome.request.count - outcome.granted - len(rows)
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


def _warnings(candidates: MatchCandidates, granted: GrantedSlots) -> list[tuple[Reason, ...]] | None:
    """Return, for each match, the reasons of rules that would have refused it if they were enforced; None without any."""
    if not candidates.warnings and not granted.warnings:
        return None
    return [
        (
            *(reason for reason, mask in candidates.warnings if mask[row]),
            *(reason for reason, places in granted.warnings if place in places),
        )
        for place, row in enumerate(granted.rows.tolist())
    ]


def _scores(candidates: MatchCandidates, granted: GrantedSlots) -> list[tuple[SlotScore, ...]] | None:
    """Return, for each match, the scores that plugins gave its slot; None without any."""
    columns = [
        [
            SlotScore(each.plugin, each.record.rule, value)
            for value in each.record.values[granted.rows].tolist()
        ]
        for each in candidates.scores
    ]
    return [*zip(*columns, strict=True)] if columns else None
