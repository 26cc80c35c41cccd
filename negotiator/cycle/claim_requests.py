"""The requests of everything in use: jobs that run, claimed slots, and matches that the pool does not show yet.

A claim counts for what it was matched for as long as it lasts; a claim without a known match for what its job requests,
within what its slot holds. Claims that are charged alike are one request. What the ad of a claimed slot has of its claim was written by
its startd, not by the job's user. The usage of queues is the sum over these requests, whatever plugins charge.

Source: HTCondor manual, Machine ClassAd Attributes (ConcurrencyLimits, PreemptingConcurrencyLimits).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Kind, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.autoclusters import running_autoclusters
from negotiator.cycle.claim_amounts import LEAST, ClaimAmounts, number
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.numbering import Numbers, combined, first_rows
from negotiator.cycle.place import PlacedJobs, PlacedPool
from negotiator.cycle.requests import RequestFactory
from negotiator.hooks.claims_in_use import ClaimsInUse
from negotiator.hooks.records import Cycle, Mask
from negotiator.ledger import Rows
from negotiator.queues.model import QueueUsage
from negotiator.queues.names import parent_of, upwards
from negotiator.queues.quantities import Resources, added

#: What the claim holds, and what the claim that is about to preempt it will hold.
NAMES = ("ConcurrencyLimits", "PreemptingConcurrencyLimits")


@attrs.frozen(eq=False)
class ClaimAttributes:
    """The attributes of each slot's claim: texts by name, (S,), empty where there is none.

    Slots that are alike in them share a number, (S,): -1 for those without.
    """

    texts: tuple[NDArray[np.object_], ...]
    numbers: Numbers

    @classmethod
    def of(cls, slots: Table) -> ClaimAttributes:
        """Read the ads of slots."""
        texts = tuple(np.array([text or "" for text in slots.strings(name)], np.object_) for name in NAMES)
        present = np.logical_or.reduce([text.astype(np.bool_) for text in texts])
        return cls(texts, np.where(present, combined(*texts)[0], -1))

    def kinds(self, rows: Rows) -> Numbers:
        """Return a number for each job: jobs of one number have alike claims, (N,).

        :param rows: the slot of each job, -1 for none; of several jobs on one slot the first has its claim.
        """
        found = np.full(len(rows), -1, np.int64)
        first = _first_on_slot(rows)
        found[first] = self.numbers[rows[first]]
        return found

    def of_slot(self, row: int) -> Ad:
        """Return the attributes of a slot's claim."""
        pairs = zip(NAMES, (column[row] for column in self.texts), strict=True)
        return Ad([(name, text) for name, text in pairs if text])


def _first_on_slot(rows: Rows) -> NDArray[np.bool_]:
    """Return which jobs are the first on their slot, (N,)."""
    first = np.zeros(len(rows), np.bool_)
    first[np.unique(rows, return_index=True)[1]] = True
    return first & (rows >= 0)


def claim_requests(
    pool: PlacedPool, slots: Table, bundle: Bundle, cycle: Cycle, outside: Mask | None = None
) -> Iterator[ClaimsInUse]:
    """Yield the claims that are charged alike together; their ``slots`` are rows in the pool.

    :param slots: all slots of the pool, in use or not.
    :param outside: those that gates put outside of the pool, (S,); None for none.
    """
    # One element more, for a slot that is not in the pool.
    is_outside = np.zeros(len(slots) + 1, np.bool_)
    if outside is not None:
        is_outside[:-1] = outside
    factory = RequestFactory(bundle, pool.state.groups, cycle.environment, slots.names())
    amounts, claims = ClaimAmounts.of(slots, bundle), ClaimAttributes.of(slots)
    for placed, rows, matches in zip(pool.in_use, pool.slot_rows, pool.claims.of_jobs, strict=True):
        if len(placed.jobs):
            jobs = _ClaimedJobs.of(placed, rows, matches, pool.journal, factory, amounts, claims)
            yield from jobs.claims_alike(is_outside)
    yield from _of_journal(pool.unseen, amounts, factory)


@attrs.frozen(eq=False)
class _ClaimedJobs:
    """The jobs of one table that have slots: ``rows`` (N,), and ``matches`` (N,), indexes in the journal or -1."""

    placed: PlacedJobs
    rows: Rows
    matches: Numbers
    journal: Sequence[JournalEntry]
    factory: RequestFactory
    amounts: ClaimAmounts
    claims: ClaimAttributes
    columns: Mapping[str, tuple[NDArray[np.float64], NDArray[np.bool_]]]

    @classmethod
    def of(
        cls,
        placed: PlacedJobs,
        rows: Rows,
        matches: Numbers,
        journal: Sequence[JournalEntry],
        factory: RequestFactory,
        amounts: ClaimAmounts,
        claims: ClaimAttributes,
    ) -> _ClaimedJobs:
        columns = amounts.columns(placed.jobs, rows, factory.env)
        return cls(placed, rows, matches, journal, factory, amounts, claims, columns)

    def claims_alike(self, outside: Mask) -> Iterator[ClaimsInUse]:
        """Yield the jobs that are charged alike together, in the order of the pool.

        :param outside: the slots that are not of the pool, (S + 1,).
        """
        placed, jobs = self.placed, self.placed.jobs
        autoclusters = running_autoclusters(self.amounts.slots, jobs, self.factory.bundle)
        submitters, schedds = job_columns.submitters(jobs), job_columns.schedds(jobs)
        requests = self.factory.of_jobs(placed, submitters, schedds, autoclusters)
        of_slots = self.claims.kinds(self.rows)
        kinds, count = combined(
            *(autoclusters.ids, placed.queues, placed.users, placed.groups, of_slots),
            *(outside[self.rows], _kinds(self.matches, self.journal), *self._sizes()),
        )
        order = np.argsort(kinds, kind="stable")
        bounds = np.searchsorted(kinds[order], np.arange(count + 1))
        for kind in np.argsort(first_rows(kinds, count)).tolist():
            rows = order[bounds[kind] : bounds[kind + 1]]
            first = int(rows[0])
            ad, slot = self._charged_ad(first), int(self.rows[first])
            claim = None
            if self.matches[first] < 0:
                claim = self.claims.of_slot(slot) if of_slots[first] >= 0 else Ad()
            counted = self.amounts.complete(ad, slot)
            request = requests.of_claim(ad, counted, rows, claim, outside=bool(outside[slot]))
            yield ClaimsInUse(request, self.rows[rows], jobs, rows)

    def _sizes(self) -> Iterator[NDArray[np.float64]]:
        """Yield what distinguishes jobs beside their ads: the amounts that their slots give them, (N,)."""
        is_matched = self.matches >= 0
        carved = self.amounts.carved(self.rows)
        for name, (values, mask) in self.columns.items():
            own = np.where(mask, values, -1.0)
            sizes = np.where(carved, self.amounts.size(name, self.rows), -1.0)
            yield np.nan_to_num(np.where(is_matched, sizes, own), nan=-2.0)
        for name in LEAST:  # whatever lacks the request counts as its slot
            is_missing = self.placed.jobs.column(name).kinds == Kind.ABSENT
            yield np.where(is_missing | is_matched, np.nan_to_num(self.amounts.size(name, self.rows)), -1.0)

    def _charged_ad(self, row: int) -> Ad:
        """Return the ad that a job counts with: that of its match, or its own within what its slot holds."""
        own, match = self.placed.jobs.ad(row), int(self.matches[row])
        if match >= 0:
            return self.amounts.of_claim(self.journal[match].over(own), int(self.rows[row]))
        found = {name: float(values[row]) for name, (values, mask) in self.columns.items() if mask[row]}
        changes = {name: None if np.isnan(value) else number(value) for name, value in found.items()}
        return own.replaced(changes) if changes else own


def _kinds(matches: Numbers, journal: Sequence[JournalEntry]) -> Numbers:
    """Number the jobs so that those share a number whose matches have the same attributes; -1 without a match."""
    codes: dict[object, int] = {}
    found = np.full(len(matches), -1, np.int64)
    for row in np.flatnonzero(matches >= 0).tolist():
        found[row] = codes.setdefault(journal[matches[row]].typed_attributes, len(codes))
    return found


def _of_journal(
    entries: Sequence[JournalEntry], amounts: ClaimAmounts, factory: RequestFactory
) -> Iterator[ClaimsInUse]:
    """Yield the matches that are charged alike and not seen in the pool yet."""
    if not entries:
        return
    rows_of = {name: row for row, name in enumerate(amounts.slots.strings("Name")) if name}
    kinds: dict[tuple[object, ...], list[JournalEntry]] = {}
    for entry in entries:
        lacking = tuple(name for name, value in entry.attributes if value is None and name in LEAST)
        kind = (*entry.kind, entry.slot if lacking else "")
        kinds.setdefault(kind, []).append(entry)
    for alike in kinds.values():
        rows = np.array([rows_of.get(entry.slot, -1) for entry in alike], np.intp)
        request = factory.of_journal(alike, partial(amounts.complete, row=int(rows[0])))
        yield ClaimsInUse(request, rows, pending=True)


def queue_usage(in_use: Iterable[ClaimsInUse]) -> dict[str, QueueUsage]:
    """Return the usage of each queue that is in use, and of those above it, by path.

    Sums are exact, and may exceed the largest possible limit.

    :param in_use: what ``claim_requests`` yields.
    """
    resources: dict[str, Resources] = {}
    running: dict[str, set[str]] = defaultdict(set)
    for claims in in_use:
        request = claims.request
        used = {name: amount * len(claims.slots) for name, amount in request.resources.items()}
        resources[request.queue] = added(resources.get(request.queue, {}), used)
        running[request.queue].update(request.applications)
    return dict(_with_parents(resources, running))


def _with_parents(
    resources: dict[str, Resources], running: Mapping[str, set[str]]
) -> Iterator[tuple[str, QueueUsage]]:
    """Add each queue to the one above it, from the bottom.

    An application that was moved may be in two queues, and counts once above both. Of two sets the smaller is put
    into the larger: so a deep tree costs little more than a flat one.
    """
    every = {each for path in resources for each in upwards(path)}
    waiting = dict(running)
    for path in sorted(every, key=lambda path: -path.count(".")):
        own, above = waiting.pop(path, set()), parent_of(path)
        yield path, QueueUsage(resources.get(path, {}), len(own))
        less, more = sorted((own, waiting.get(above, set())), key=len)
        more |= less
        waiting[above] = more
        resources[above] = added(resources.get(above, {}), resources.get(path, {}))
