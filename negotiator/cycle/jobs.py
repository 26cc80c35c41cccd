"""What the job ads say of themselves, as columns: which of them a negotiator serves, whose they are, their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Kind, Table
from negotiator.cycle.words import core_reason
from negotiator.hooks.records import Mask
from negotiator.records import Reason, Station, Verdict

Strings: TypeAlias = NDArray[np.object_]  # (N,) of str, lower case, "" where it cannot be told

IDLE = 1
#: JobStatus, HTCondor manual, Job ClassAd Attributes.
_STATUS = {2: "running", 3: "removed", 4: "completed", 5: "held", 6: "transferring_output", 7: "suspended"}
#: JobUniverse of jobs that do not get their machine from a negotiator (same source).
_UNIVERSE = {7: "scheduler", 9: "grid", 11: "parallel", 12: "local"}

#: The attributes by which a schedd sorts the jobs of one submitter, highest first (condor_schedd, prio_compar).
PRIORITIES = ("PreJobPrio1", "PreJobPrio2", "JobPrio", "PostJobPrio1", "PostJobPrio2")
#: Then the older job, then the lower id.
AGE = ("QDate", "ClusterId", "ProcId")


def job_id(ad: ClassAd) -> str:
    """``cluster.proc``, as HTCondor's tools print it."""
    return f"{ad.integer('ClusterId', 0)}.{ad.integer('ProcId', 0)}"


def not_served(jobs: Table) -> Iterator[tuple[Mask, Reason]]:
    """Give the jobs that no negotiator serves, with the reason: not idle, or of a universe that is not matched."""
    status = jobs.numbers("JobStatus", default=IDLE)
    for value in np.unique(status[status != IDLE]):
        name = _STATUS.get(int(value), "not_idle") if np.isfinite(value) else "not_idle"
        text = f"the job is {name.replace('_', ' ')}"
        yield status == value, core_reason(Station.ADMIT, Verdict.WAITING, f"job_{name}", text, "JobStatus")
    universe = jobs.numbers("JobUniverse", default=5)
    for number, name in _UNIVERSE.items():
        text = f"a job of the {name} universe gets its machine elsewhere"
        yield (
            (universe == number) & (status == IDLE),
            core_reason(Station.ADMIT, Verdict.DENIED, f"universe_{name}", text, "JobUniverse"),
        )


def schedds(jobs: Table, default: str | None = None) -> Strings:
    """The name of each job's schedd, from its GlobalJobId ("schedd#cluster.proc#time")."""
    return _distinct(jobs, ("GlobalJobId",), lambda ad: _schedd(ad, default))


def submitters(jobs: Table) -> Strings:
    """The name under which each job competes: its accounting group or user, at the user's domain."""
    return _distinct(jobs, ("AccountingGroup", "User", "Owner"), _submitter)


def names(table: Table, attribute: str) -> Strings:
    """The strings of one attribute, as names are compared."""
    return _distinct(table, (attribute,), lambda ad: (ad.string(attribute) or "").lower())


def is_in(values: Strings, wanted: frozenset[str]) -> Mask:
    """Tell which of the names are among those wanted."""
    return np.fromiter((value in wanted for value in values), np.bool_, len(values))


def _distinct(jobs: Table, names: tuple[str, ...], value: Any) -> Strings:
    ids, first_rows = jobs.group(names)
    distinct = np.empty(len(first_rows), dtype=object)
    distinct[:] = [value(jobs.ad(int(row))) for row in first_rows]
    values: Strings = distinct[ids]
    # Expressions of one text may differ in value from ad to ad: users write them.
    kinds = [np.broadcast_to(jobs.column(name).kinds, len(jobs)) for name in names]
    written = np.logical_or.reduce([column == Kind.EXPRESSION for column in kinds])
    for row in np.flatnonzero(written):
        values[row] = value(jobs.ad(int(row)))
    return values


def _schedd(ad: ClassAd, default: str | None) -> str:
    head, mark, _ = (ad.string("GlobalJobId") or "").partition("#")
    return (head if mark else default or "").lower()


def _submitter(ad: ClassAd) -> str:
    user = ad.string("User") or ad.string("Owner") or ""
    name = ad.string("AccountingGroup") or user
    _, at, domain = user.rpartition("@")
    return (name if "@" in name or not at else f"{name}@{domain}").lower()
