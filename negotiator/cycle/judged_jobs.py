"""The running jobs of a pool as if they were matched now: their ads, and the slots that they would be matched with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import attrs
import numpy as np

from negotiator.classad import Expr, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.claim_amounts import number
from negotiator.cycle.claims import undivided
from negotiator.cycle.jobs import Strings
from negotiator.cycle.place import PlacedPool
from negotiator.cycle.reference_closure import ReferenceClosure
from negotiator.hooks.overruns import Overrun, OverrunAction
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Reason
from negotiator.records.text import printable

#: What the ad of a slot has of its claim: an unclaimed slot has none of it (HTCondor manual, Machine ClassAd Attributes).
_OF_CLAIM = (
    *(
        "AccountingGroup",
        "ClientMachine",
        "ConcurrencyLimits",
        "CurrentRank",
        "GlobalJobId",
        "JobId",
        "JobStart",
    ),
    *("PreemptingConcurrencyLimits", "PreemptingOwner", "PreemptingRank", "PreemptingUser", "RemoteGroup"),
    *("RemoteNegotiatingGroup", "RemoteOwner", "RemoteScheddName", "RemoteUser"),
)
#: What the ad of a job has of its run, with the value of an idle job; None removes it.
_IDLE: Mapping[str, int | None] = {"JobStatus": job_columns.IDLE, "CurrentHosts": 0, "RemoteHost": None}
_NO_SLOT = "unknown slot"
#: Before the name of a resource: how much of it a slot had before it was divided.
_TOTAL = "totalslot"


@attrs.frozen(eq=False)
class JudgedJobs:
    """The running jobs of the pool, (N,): those whose ads are known, then those that only their slots show.

    ``jobs`` are the two tables; ``rows`` (N,) are the rows of the jobs' slots in ``slots``, -1 for a slot that the pool does not have.
    ``of_placed`` has, for each table of the placed pool, the row here of each of its jobs: -1 on a slot outside of the pool.
    """

    jobs: tuple[Table, Table]
    rows: Rows
    of_placed: tuple[Rows, Rows]
    slots: Table
    only_schedd: str | None

    @classmethod
    def of(cls, snapshot: Snapshot, placed: PlacedPool, outside: Mask) -> JudgedJobs:
        """Return the jobs of a pool without those on slots outside of it."""
        is_outside = np.append(outside, np.False_)
        only = snapshot.schedds.ad(0).string("Name") if len(snapshot.schedds) == 1 else None
        tables, rows, places = [], [], []
        count = 0
        for each, slots in zip(placed.in_use, placed.slot_rows, strict=True):
            own = np.flatnonzero(~is_outside[slots])
            tables.append(each.jobs if len(own) == len(slots) else each.jobs.take(own))
            rows.append(slots[own])
            place = np.full(len(slots), -1, np.intp)
            place[own] = np.arange(count, count + len(own))
            places.append(place)
            count += len(own)
        known, unknown = tables
        return cls((known, unknown), np.concatenate(rows), (places[0], places[1]), snapshot.slots, only)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def known(self) -> int:
        """The number of jobs whose ads are known; they come first."""
        return len(self.jobs[0])

    @property
    def is_unknown(self) -> Mask:
        """The jobs that only their slots show, (N,)."""
        return np.arange(len(self)) >= self.known

    @cached_property
    def schedds(self) -> Strings:
        """The schedd of each job in lower case, empty if unknown, (N,)."""
        return np.concatenate([job_columns.schedds(jobs, default=self.only_schedd) for jobs in self.jobs])

    @cached_property
    def submitters(self) -> Strings:
        """The submitter of each job in lower case, (N,)."""
        return np.concatenate([job_columns.submitters(jobs) for jobs in self.jobs])

    @cached_property
    def ads(self) -> tuple[Table, Table]:
        """The ads of both tables as idle jobs have them."""
        known, unknown = self.jobs
        owned = _of_owners(unknown, self.slots, self.rows[self.known :])
        return _with_values(known, _IDLE), _with_values(owned, _IDLE)

    @cached_property
    def closures(self) -> tuple[tuple[ReferenceClosure, ReferenceClosure], ...]:
        """What expressions read of the jobs of each table, and of their slots."""
        slots = self.offered.take(np.unique(self.rows, return_index=True)[1])
        return tuple(
            (ReferenceClosure.over(slots, ads), ReferenceClosure.over(ads, slots)) for ads in self.ads
        )

    @cached_property
    def offered(self) -> Table:
        """The slots that the jobs would be matched with if theirs were free, (N,); any slot for a job without one."""
        if not len(self.slots):
            return self.slots
        rows = np.maximum(self.rows, 0)
        free: Mapping[str, str | None] = {
            **dict.fromkeys(_OF_CLAIM),
            "State": "Unclaimed",
            "Activity": "Idle",
        }
        own = self.slots.take(rows)
        dynamic = np.flatnonzero(own.alone("DynamicSlot").is_true())
        if not len(dynamic):
            return _with_values(own, free)
        divisible = self.slots.alone("PartitionableSlot").is_true()
        known = {name: row for row, name in enumerate(self.slots.strings("Name")) if name and divisible[row]}
        carved_from = rows.copy()
        for place, name in zip(dynamic.tolist(), own.take(dynamic).strings("Name"), strict=True):
            carved_from[place] = known.get(undivided(name or ""), carved_from[place])
        whole = self.slots.take(carved_from)
        is_carved = carved_from != rows
        amounts: dict[str, tuple[Rows, list[Expr | float | None]]] = {}
        for name in sorted(self.slots.names()):
            if name.startswith(_TOTAL):
                resource = name.removeprefix(_TOTAL)
                codes, first = whole.group([resource])
                written = [whole.ad(row).get(resource) for row in first.tolist()]
                sums = whole.numbers(resource)[is_carved] + own.numbers(resource, default=0.0)[is_carved]
                values, of_carved = np.unique(sums, return_inverse=True)
                codes = codes.copy()
                codes[is_carved] = len(written) + of_carved
                both = [None if np.isnan(each) else number(each) for each in values.tolist()]
                amounts[resource] = codes, [*written, *both]
        return _with_values(whole.with_attributes(amounts), free)

    def identities(self, rows: Rows) -> Iterator[tuple[str, str, str, str, int]]:
        """Yield schedd, id, owner and slot of some jobs, ascending, and the slot's row."""
        slots = self.rows[rows]
        of_slots: list[str | None] = [None] * len(rows)
        if len(self.slots):
            of_slots = self.slots.take(np.maximum(slots, 0)).strings("Name").tolist()
        found: list[tuple[str, str | None, str | None, str | None]] = []
        for table_number, (jobs, ads) in enumerate(zip(self.jobs, self.ads, strict=True)):
            part = rows[(rows >= self.known) == bool(table_number)] - table_number * self.known
            table, hosts = ads.take(part), jobs.take(part).strings("RemoteHost").tolist()
            people = (table.strings(name).tolist() for name in ("Owner", "User"))
            found += zip(job_columns.job_ids(table), *people, hosts, strict=True)
        each_row = zip(self.schedds[rows].tolist(), slots.tolist(), of_slots, found, strict=True)
        for schedd, row, slot, (job, owner, user, host) in each_row:
            name = (slot if row >= 0 else None) or host or _NO_SLOT
            yield schedd, job, owner or (user or "").partition("@")[0], name, row

    def overruns(
        self,
        reason: Reason,
        rows: Rows,
        action: OverrunAction,
        since: Mapping[tuple[str, ...], float],
        now: float,
    ) -> Iterator[tuple[Overrun, str]]:
        """Yield an overrun for each job that breaks a rule, with the address of its startd."""
        for schedd, job, user, slot, row in self.identities(rows):
            made = Overrun(
                reason=reason,
                subject=f"job {job} of {printable(user)} on {printable(slot)}",
                since=now,
                job=job,
                schedd=schedd,
                user=user,
                slot=slot,
                action=action,
            )
            known = since.get(made.key)
            startd = self.slots.ad(row).string("MyAddress") if row >= 0 else None
            yield (made if known is None else attrs.evolve(made, since=known)), startd or ""


def _with_values(ads: Table, values: Mapping[str, int | str | None]) -> Table:
    """Return ads with other values of some attributes; None removes an attribute."""
    if not len(ads):
        return ads
    codes = np.zeros(len(ads), np.int64)
    return ads.with_attributes({name: (codes, [value]) for name, value in values.items()})


def _of_owners(jobs: Table, slots: Table, rows: Rows) -> Table:
    """Return what slots show of their jobs, with the owners: RemoteUser can be an accounting group."""
    if not len(jobs):
        return jobs
    users = [user or "" for user in slots.take(rows).strings("RemoteOwner")]
    own = zip(users, jobs.strings("User"), jobs.strings("Owner"), strict=True)
    pairs = [(user, user.partition("@")[0]) if user else (known, owner) for user, known, owner in own]
    codes = np.arange(len(jobs))
    return jobs.with_attributes(
        {"User": (codes, [user for user, _ in pairs]), "Owner": (codes, [owner for _, owner in pairs])}
    )
