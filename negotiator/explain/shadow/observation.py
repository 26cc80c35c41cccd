"""The jobs and slots in a snapshot of a live pool, as far as the comparison needs them.

Source: HTCondor manual, "Job ClassAd Attributes" and "Machine ClassAd Attributes".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from negotiator.classad import Table
from negotiator.cycle.jobs import IDLE, job_ids, names, schedds, submitters
from negotiator.explain.shadow.report import JobKey
from negotiator.pool import Snapshot
from negotiator.records import Problem

_RUNNING: Final = frozenset({2, 6, 7})
_DYNAMIC: Final = re.compile(r"(.*)_(\d{1,9})(@.*)", re.DOTALL)


@attrs.frozen
class ObservedJob:
    """A job: its JobStatus, the slot it runs on in lower case, and since when; times are of the schedd, NaN if unknown.

    ``seen`` is the time of the observation. ``rejected`` and ``reason`` are those of the last rejection of this job, which the
    schedd keeps with the first job of each kind (``kind``, the AutoClusterId).
    """

    status: float
    submitter: str
    slot: str
    started: float
    seen: float
    rejected: float
    reason: str
    kind: float

    @property
    def is_idle(self) -> bool:
        """True if the job waits for a slot."""
        return self.status == IDLE

    @property
    def is_running(self) -> bool:
        """True if the job has a slot."""
        return self.status in _RUNNING


@attrs.frozen
class ObservedSlot:
    """A slot: its state in lower case, and since when it is used as it is; ``since`` NaN if unknown.

    Of a partitionable slot ``since`` is when its parts changed last.
    """

    state: str
    since: float
    cpus: float
    memory: float
    is_partitionable: bool

    @property
    def is_free(self) -> bool:
        """True if the slot can be matched without ending a job."""
        return self.state == "unclaimed"


@attrs.frozen(eq=False)
class Observation:
    """The jobs of a pool by schedd and id, its slots by their names in lower case, and its submitters with idle jobs.

    ``submitters`` are the names of submitters and their schedds, in lower case, by the ads of the collector. ``unanswered`` are
    the schedds, in lower case, that did not answer: their jobs are missing.
    """

    time: float
    jobs: Mapping[JobKey, ObservedJob]
    slots: Mapping[str, ObservedSlot]
    submitters: frozenset[tuple[str, str]]
    unanswered: frozenset[str] = frozenset()

    @classmethod
    def of(cls, snapshot: Snapshot, now: float) -> Observation:
        """Return what a snapshot says.

        :param now: the time of jobs whose schedd does not tell its own.
        """
        ads = snapshot.submitters
        idle = (ads.numbers("IdleJobs", default=1.0) > 0).tolist()
        found = zip(names(ads, "Name"), names(ads, "ScheddName"), idle, strict=True)
        advertised = frozenset((name, schedd) for name, schedd, has_idle in found if has_idle)
        jobs, slots = _jobs(snapshot.jobs, now), _slots(snapshot.slots)
        return cls(now, jobs, slots, advertised, frozenset(_unanswered(snapshot.problems)))

    @cached_property
    def rejections(self) -> Mapping[tuple[str, str, float], tuple[float, str]]:
        """The time and the reason of the last rejection by schedd, submitter and kind of job."""
        found: dict[tuple[str, str, float], tuple[float, str]] = {}
        for (schedd, _), job in self.jobs.items():
            if job.rejected == job.rejected and job.kind == job.kind:
                key = schedd, job.submitter, job.kind
                found[key] = max(found.get(key, (0.0, "")), (job.rejected, job.reason))
        return found

    @cached_property
    def families(self) -> Mapping[str, list[JobKey]]:
        """The running jobs by slot; those on parts of a partitionable slot by that slot."""
        found: dict[str, list[JobKey]] = {}
        for key, job in self.jobs.items():
            if job.is_running and job.slot:
                found.setdefault(family(job.slot), []).append(key)
        return found


def family(slot: str) -> str:
    """Return the partitionable slot of which a dynamic slot is a part, any other slot itself."""
    found = _DYNAMIC.fullmatch(slot)
    return f"{found[1]}{found[3]}" if found else slot


def part_number(slot: str) -> int:
    """Return the number of a dynamic slot within its partitionable slot, 0 for any other."""
    found = _DYNAMIC.fullmatch(slot)
    return int(found[2]) if found else 0


def _unanswered(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield the schedds with a problem that is not about one of their ads (see ``LivePool.observe``)."""
    for problem in problems:
        kind, _, name = problem.source.file.partition(" ")
        if kind == "schedd" and not problem.source.line:
            yield name.lower()


def _jobs(jobs: Table, now: float) -> dict[JobKey, ObservedJob]:
    nan = float("nan")
    columns = (
        jobs.numbers("JobStatus", default=IDLE).tolist(),
        submitters(jobs).tolist(),
        names(jobs, "RemoteHost"),
        jobs.numbers("JobCurrentStartDate", default=nan).tolist(),
        jobs.numbers("ServerTime", default=now).tolist(),
        jobs.numbers("LastRejMatchTime", default=nan).tolist(),
        jobs.strings("LastRejMatchReason"),
        jobs.numbers("AutoClusterId", default=nan).tolist(),
    )
    keys = zip(schedds(jobs).tolist(), job_ids(jobs), strict=True)
    return {key: ObservedJob(*values) for key, values in zip(keys, zip(*columns, strict=True), strict=True)}


def _slots(slots: Table) -> dict[str, ObservedSlot]:
    nan = float("nan")
    is_partitionable = slots.numbers("PartitionableSlot", default=0.0) != 0
    since = np.where(
        is_partitionable,
        slots.numbers("NumDynamicSlotsTime", default=nan),
        slots.numbers("EnteredCurrentState", default=nan),
    )
    columns = (
        names(slots, "State"),
        since.tolist(),
        slots.numbers("Cpus", default=nan).tolist(),
        slots.numbers("Memory", default=nan).tolist(),
        is_partitionable.tolist(),
    )
    rows = zip(names(slots, "Name"), zip(*columns, strict=True), strict=True)
    return {name: ObservedSlot(*values) for name, values in rows}
