"""Columns of job ads: which jobs a negotiator serves, their submitters and schedds, their ids, and what orders them.

Texts are numbers, so that each is processed once for all rows that have it; the ids of many jobs are ranges: ``12.0-499`` are the jobs
12.0 to 12.499.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Column, Kind, Table
from negotiator.classad.syntax import fold
from negotiator.cycle.numbering import Numbers, combined, first_rows
from negotiator.cycle.reasons import core_reason
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows
from negotiator.pool.ad_kind import SUBMITTER
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Reason, Station, Verdict

_TEXT = re.compile(r"(-?\d{1,18})(?:\.(-?\d{1,18})(?:-(\d{1,18}))?)?", re.ASCII)


def _no_ranges() -> NDArray[np.int64]:
    return np.zeros((0, 3), np.int64)


@attrs.frozen
class JobRanges:
    """Ranges of jobs, each of one cluster, by cluster and proc; ``bounds`` (N, 3) has cluster, first and last proc."""

    bounds: NDArray[np.int64] = attrs.field(
        factory=_no_ranges, eq=attrs.cmp_using(eq=np.array_equal), repr=False
    )

    @classmethod
    def of(cls, clusters: NDArray[np.int64], procs: NDArray[np.int64]) -> JobRanges:
        """Return the ranges of jobs, given the numbers of each, in any order."""
        if not len(clusters):
            return cls()
        order = np.lexsort((procs, clusters))
        clusters, procs = clusters[order], procs[order]
        follows = (clusters[1:] == clusters[:-1]) & (procs[1:] - procs[:-1] <= 1)  # a job may be given twice
        first = np.concatenate(([0], np.flatnonzero(~follows) + 1))
        last = np.concatenate((first[1:], [len(procs)])) - 1
        return cls(np.array((clusters[first], procs[first], procs[last])).T)

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def jobs(self) -> int:
        """The number of jobs."""
        return int((self.bounds[:, 2] - self.bounds[:, 1] + 1).sum())

    def from_place(self, place: int) -> JobRanges:
        """Return the ranges from a place on."""
        return JobRanges(self.bounds[place:])

    def texts(self, most: int) -> list[str]:
        """Return the first ranges as texts: ``12.0-499``, or ``13.7`` for a range of one job."""
        return [
            f"{cluster}.{first}-{last}" if last > first else f"{cluster}.{first}"
            for cluster, first, last in self.bounds[:most].tolist()
        ]

    def has(self, job: str) -> bool:
        """True if a job (``12.7``), or any job of a cluster (``12``), is in a range."""
        parsed = _TEXT.fullmatch(job)
        if not parsed:
            return False
        cluster, first, last = self.bounds.T
        found = cluster == int(parsed[1])
        if parsed[2] is not None:
            found &= (first <= int(parsed[2])) & (int(parsed[2]) <= last)
        return bool(found.any())


def parse_ranges(texts: list[str]) -> JobRanges:
    """Return the ranges of texts as ``JobRanges.texts`` makes them; others are ignored."""
    parsed = (_TEXT.fullmatch(text) for text in texts)
    bounds = [
        (int(each[1]), int(each[2]), int(each[3] or each[2]))
        for each in parsed
        if each and each[2] is not None
    ]
    return JobRanges(np.array(bounds, np.int64).reshape(-1, 3))


#: The number of any value that is not a text.
NO_TEXT = -1

#: (N,) of str.
Strings: TypeAlias = NDArray[np.object_]


@attrs.frozen(eq=False)
class TextColumn:
    """The values of an expression as texts: (N,) numbers, equal for equal texts; -1 without a text."""

    codes: Numbers
    column: Column

    @classmethod
    def of(cls, column: Column) -> TextColumn:
        """Return the texts of a column."""
        size = len(column)
        if not column.has(Kind.STRING):
            return cls(np.full(size, NO_TEXT, np.int64), column)
        is_text = np.broadcast_to(column.where(Kind.STRING), (size,))
        codes = np.where(is_text, np.broadcast_to(column.data[Kind.STRING], (size,)), NO_TEXT)
        return cls(codes.astype(np.int64), column)

    def text(self, row: int) -> str:
        """Return the text of a row, empty if missing."""
        code = int(self.codes[row])
        return self.column.pool.strings[code] if code != NO_TEXT else ""

    def texts(self, rows: NDArray[np.intp]) -> list[str]:
        """Return the texts of some rows, empty where missing."""
        strings = self.column.pool.strings
        return [strings[code] if code != NO_TEXT else "" for code in self.codes[rows].tolist()]

    def mapped(self, name: str, function: Callable[[str], str]) -> TextColumn:
        """Return the texts that a function returns for them; it is called once for each text in all tables.

        ``name`` identifies the function in a cache, so its result must depend on the text alone.
        """
        there = self.codes != NO_TEXT
        codes = np.full(len(self.codes), NO_TEXT, np.int64)
        codes[there] = self.column.pool.mapped(name, function, self.codes[there])
        return TextColumn(codes, self.column)


def made_of(columns: Sequence[TextColumn], function: Callable[..., str]) -> Strings:
    """Apply a function to the texts of each row, (N,); it is called once for all rows with the same texts."""
    numbers, count = combined(*(column.codes for column in columns))
    first = first_rows(numbers, count).tolist()
    made = np.empty(count, np.object_)
    made[:] = [function(*(column.text(row) for column in columns)) for row in first]
    return made[numbers]


IDLE = 1
_MAX_ID = 2.0**53  # a float beyond it does not represent every integer
#: JobStatus, HTCondor manual, Job ClassAd Attributes.
_STATUS = {
    2: "running",
    3: "removed",
    4: "completed",
    5: "held",
    6: "transferring_output",
    7: "suspended",
    8: "failed",
    9: "blocked",
    10: "preparing",
}
_VANILLA = 5
#: JobUniverse of jobs that a schedd does not offer, ``service_this_universe``; it offers all others.
_UNIVERSE = {7: "scheduler", 8: "mpi", 9: "grid", 11: "parallel", 12: "local"}
#: JobUniverse of jobs that the dedicated scheduler takes over for WantParallelScheduling: vanilla, java, vm.
_PARALLEL_IF_WANTED = (_VANILLA, 10, 13)

#: The codes of the reasons of jobs that are not idle.
NOT_IDLE = frozenset(f"job_{name}" for name in (*_STATUS.values(), "not_idle"))

#: The rules that discard jobs which no schedd offers.
NOT_SERVED = frozenset(
    {"JobStatus", "JobUniverse", "IsNoopJob", "Managed", "JobCoolDownExpiration", "MaxHosts"}
)

#: The attributes by which a schedd sorts the jobs of one submitter, highest first (condor_schedd, prio_compar).
PRIORITIES = ("PreJobPrio1", "PreJobPrio2", "JobPrio", "PostJobPrio1", "PostJobPrio2")
#: Then the older job, then the lower id.
AGE = ("QDate", "ClusterId", "ProcId")


def job_id(ad: Ad) -> str:
    """Return ``cluster.proc``, as HTCondor's tools print it."""
    return f"{ad.integer('ClusterId', 0)}.{ad.integer('ProcId', 0)}"


@attrs.frozen(eq=False)
class JobIds:
    """The numbers of the jobs of a table, (N,) each; 0 for a missing or invalid one."""

    clusters: NDArray[np.int64]
    procs: NDArray[np.int64]

    @classmethod
    def of(cls, jobs: Table) -> JobIds:
        """Read the numbers of all jobs."""
        columns = (jobs.numbers(name, default=0.0) for name in ("ClusterId", "ProcId"))
        return cls(
            *(np.where(np.abs(column) < _MAX_ID, column, 0).astype(np.int64) for column in columns),
        )

    def at(self, rows: Rows) -> list[str]:
        """Return ``cluster.proc`` of some jobs."""
        clusters, procs = self.clusters[rows].tolist(), self.procs[rows].tolist()
        return [f"{cluster}.{proc}" for cluster, proc in zip(clusters, procs, strict=True)]

    def ranges(self, rows: Rows) -> JobRanges:
        """Return the ids of some jobs as ranges."""
        return JobRanges.of(self.clusters[rows], self.procs[rows])


def job_ids(jobs: Table, rows: Sequence[int] | None = None) -> list[str]:
    """Return ``cluster.proc`` of some rows of a table, of all by default; 0 for a missing or invalid number."""
    return JobIds.of(jobs).at(np.arange(len(jobs)) if rows is None else np.asarray(rows, np.intp))


def job_keys(jobs: Table, users: Strings) -> list[tuple[str, str, str]]:
    """Return the schedd, the user and ``cluster.proc`` of each job.

    The user is part of the key: a GlobalJobId is text of the job's ad, which can name the job of another user.
    """
    return list(zip(schedds(jobs), users.tolist(), job_ids(jobs), strict=True))


def are_requests(jobs: Table) -> Mask:
    """Return which ads of a table are requests of a schedd, (N,): those without JobStatus, which every job of a queue has."""
    return np.broadcast_to(jobs.column("JobStatus").kinds == Kind.ABSENT, len(jobs))


def not_served(jobs: Table, now: float) -> Iterator[tuple[Mask, Reason]]:
    """Yield the jobs that their schedd would not offer, with the reason. A request was offered, whatever its ad has.

    Source: ``Runnable`` and ``service_this_universe`` (condor_schedd 25.14). What the ads do not tell is left out: matches that are
    not claimed yet, limits of users and of shadows, and START_VANILLA_UNIVERSE.

    :param now: the time of the cycle, in seconds of the epoch.
    """
    if not len(jobs):
        return
    queued = ~are_requests(jobs)
    status = np.where(queued, jobs.numbers("JobStatus", default=IDLE), IDLE)
    other = status != IDLE
    for number, name in (*_STATUS.items(), (None, "not_idle")):
        mask = other if number is None else status == number
        other = other & ~mask
        if mask.any():
            text = f"the job is {name.replace('_', ' ')}"
            yield mask, core_reason(Station.ADMIT, Verdict.WAITING, f"job_{name}", text, "JobStatus")
    left = queued & (status == IDLE)
    for mask, verdict, code, text, rule in _not_offered(jobs, now):
        if (mask & left).any():
            yield mask & left, core_reason(Station.ADMIT, verdict, code, text, rule)
        left = left & ~mask


def _not_offered(jobs: Table, now: float) -> Iterator[tuple[Mask, Verdict, str, str, str]]:
    """Yield the idle jobs that a schedd does not offer, in the order of its tests: their mask, verdict, code, text and rule."""
    text = "IsNoopJob is true: its schedd completes it without a slot"
    yield _is_true(jobs, "IsNoopJob"), Verdict.WAITING, "job_noop", text, "IsNoopJob"

    universe = _integers(jobs, "JobUniverse", _VANILLA)
    for number, name in _UNIVERSE.items():
        text = f"a job of the {name} universe gets its machine elsewhere"
        yield universe == number, Verdict.DENIED, f"universe_{name}", text, "JobUniverse"
    wanted = _is_true(jobs, "WantParallelScheduling") & np.isin(universe, _PARALLEL_IF_WANTED)
    text = "WantParallelScheduling is true: it gets its machines from the dedicated scheduler"
    yield wanted, Verdict.DENIED, "parallel_scheduling", text, "JobUniverse"
    managed = np.asarray(made_of([texts(jobs, "Managed")], str) == "External", np.bool_)
    text = 'the job is managed externally (Managed is "External"), such as by a job router'
    yield managed, Verdict.WAITING, "managed_externally", text, "Managed"

    text = "the job is in cool-down until JobCoolDownExpiration"
    cooling = _integers(jobs, "JobCoolDownExpiration", 0) >= np.floor(now)
    yield cooling, Verdict.WAITING, "job_cool_down", text, "JobCoolDownExpiration"
    text = "the job has its machines already: CurrentHosts is not below MaxHosts"
    hosts = _integers(jobs, "CurrentHosts", 0) >= _integers(jobs, "MaxHosts", 1)
    yield hosts, Verdict.WAITING, "job_has_hosts", text, "MaxHosts"


def _integers(jobs: Table, name: str, default: float) -> NDArray[np.float64]:
    """Return an attribute as HTCondor's LookupInteger does: a boolean is 1 or 0, a real is cut, all else is ``default``; (N,)."""
    return np.trunc(jobs.numbers(name, default=default))


def _is_true(jobs: Table, name: str) -> Mask:
    """Return where an attribute is true, as HTCondor's LookupBool does: a number too, other than 0; (N,)."""
    return np.asarray(jobs.numbers(name, default=0.0) != 0, np.bool_)


def with_idle_jobs(snapshot: Snapshot, rows: Sequence[int] = ()) -> Snapshot:
    """Return the pool as if only these of its idle jobs asked for a slot; by default none."""
    keep = snapshot.jobs.numbers("JobStatus", default=IDLE) != IDLE
    keep[list(rows)] = True
    return attrs.evolve(snapshot, jobs=snapshot.jobs.take(np.flatnonzero(keep)))


def schedds(jobs: Table, default: str | None = None) -> Strings:
    """Return the name of each job's schedd in lower case, from its GlobalJobId ("schedd#cluster.proc#time"), (N,)."""
    found = texts(jobs, "GlobalJobId").mapped("schedd", schedd_of)
    return made_of([found], lambda schedd: schedd or fold(default or ""))


def submitters(jobs: Table) -> Strings:
    """Return the submitter name of each job in lower case, as its schedd makes it; (N,).

    The schedd appends its domain to the AccountingGroup, or else to the user, whatever these have in them
    (``get_submitter_and_owner``, condor_schedd 25.14); its domain is taken to be that of the job's User. A request can name its
    submitter (``SUBMITTER``), which the schedd was asked about; the ad of a job in a queue cannot.
    """
    columns = [texts(jobs, name) for name in ("AccountingGroup", "User", "Owner")]
    made = made_of(columns, lambda group, user, owner: fold(_submitter(group, user or owner)))
    if fold(SUBMITTER) not in jobs.names():
        return made
    named = np.where(are_requests(jobs), names(jobs, SUBMITTER), "")
    return np.where(named != "", named, made)


def texts(table: Table, attribute: str) -> TextColumn:
    """Return the texts of one attribute, evaluated without another ad."""
    return TextColumn.of(table.alone(attribute))


def names(table: Table, attribute: str) -> Strings:
    """Return the strings of one attribute in lower case, as names are compared; empty if missing."""
    return made_of([texts(table, attribute)], fold)


def is_in(values: Collection[object], wanted: AbstractSet[object]) -> Mask:
    """Return which of the values are among those wanted, (N,)."""
    return np.fromiter((value in wanted for value in values), np.bool_, len(values))


def schedd_of(global_id: str) -> str:
    """Return the schedd of a GlobalJobId in lower case, empty for an invalid id. A schedd's name may itself contain "#"."""
    parts = global_id.rsplit("#", 2)
    return fold(parts[0]) if len(parts) == 3 else ""


def _submitter(group: str, user: str) -> str:
    owner, at, domain = user.rpartition("@")
    return f"{group or owner}@{domain}" if at else group or user
