"""Station *order*: jobs become requests, and requests stand in line.

Submitters go by name until fair share is there to say whose turn it is; within a submitter the schedd's job order
holds: the priorities of the job, then its age. Jobs that are alike, of the same priority, are one request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Kind, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.applications import user_groups
from negotiator.cycle.autoclusters import alike_jobs
from negotiator.cycle.numbering import combined, numbered
from negotiator.cycle.place import PlacedJobs
from negotiator.cycle.resources import requested
from negotiator.cycle.text_columns import Strings
from negotiator.hooks.records import Request

#: An ad may stand for so many jobs at most: a schedd sends what it likes.
MAX_COPIES = 100_000

#: The groups of each user; None where they could not be had.
Groups: TypeAlias = Mapping[str, tuple[str, ...] | None]

#: What tells whose a job is.
WHOSE = ("AccountingGroup", "User", "Owner")


@attrs.frozen
class QueuedRequest:
    """A request, and the rows of its jobs in the table of jobs, in the schedd's order.

    An ad that stands for several jobs (``_condor_RESOURCE_COUNT``, as schedds send them) has its row as often.
    """

    request: Request
    rows: NDArray[np.intp]


def order(
    slots: Table, placed: PlacedJobs, bundle: Bundle, groups: Groups, env: Environment
) -> tuple[QueuedRequest, ...]:
    """Group the jobs into requests and put these in the order in which they are served.

    Jobs of different queues, users or groups are different requests. ``groups`` are those of users whose jobs do not tell.
    """
    jobs = placed.jobs
    if not len(jobs):
        return ()
    submitters, schedds = job_columns.submitters(jobs), job_columns.schedds(jobs)
    alike = alike_jobs(slots, jobs, bundle, WHOSE)

    copies = _copies(jobs)
    line = _line(jobs, submitters, schedds)
    numbers, _ = combined(alike.ids, submitters, schedds, *_priorities(jobs), *_places(placed))
    kinds = numbers[line]
    by_kind = np.argsort(kinds, kind="stable")
    starts = np.flatnonzero(np.diff(kinds[by_kind], prepend=-1))
    members = [line[places] for places in np.split(by_kind, starts[1:])]

    queued = []
    slot_names = slots.names()
    for kind in np.argsort(by_kind[starts]):  # the request whose first job stands first
        rows = _rows(members[kind], copies, len(slots))
        ad = jobs.ad(int(rows[0]))
        names = alike.names[alike.ids[rows[0]]]
        resources, unknown = requested(ad, bundle, env, slot_names)
        request = Request(
            submitter=submitters[rows[0]],
            schedd=schedds[rows[0]],
            ad=ad if names is None else ad.project([*names, *WHOSE]),
            count=int(copies[members[kind]].sum()),
            first_job=job_columns.job_id(ad),
            queue=placed.queues[rows[0]],
            user=placed.users[rows[0]],
            group=placed.groups[rows[0]],
            resources=resources,
            unknown=unknown,
            applications=placed.names(rows),
            groups=user_groups(ad, placed.users[rows[0]], bundle.placement, groups, env),
        )
        queued.append(QueuedRequest(request, rows))
    return tuple(queued)


def _places(placed: PlacedJobs) -> tuple[Strings, ...]:
    return placed.queues, placed.users, placed.groups


def _copies(jobs: Table) -> NDArray[np.intp]:
    """Give the number of jobs each ad stands for: only a schedd's request, which tells no status, is more than one."""
    counts = np.nan_to_num(jobs.numbers("_condor_RESOURCE_COUNT", default=1.0), nan=1.0)
    counts[~np.broadcast_to(jobs.column("JobStatus").kinds == Kind.ABSENT, len(jobs))] = 1
    return counts.clip(1, MAX_COPIES).astype(np.intp)


def _rows(group: NDArray[np.intp], copies: NDArray[np.intp], slots: int) -> NDArray[np.intp]:
    """Give each job as often as it asks, but no more of them than could be matched and one: ads ask for what they like."""
    enough = int(np.searchsorted(np.cumsum(copies[group]), slots + 1)) + 1
    return np.repeat(group[:enough], np.minimum(copies[group[:enough]], slots + 1))[: slots + 1]


def _line(jobs: Table, submitters: Strings, schedds: Strings) -> NDArray[np.intp]:
    """Sort the rows: by submitter and schedd, then the schedd's own order of its jobs."""
    ages = [jobs.numbers(name, default=0.0) for name in job_columns.AGE]
    return np.lexsort(
        (*reversed(ages), *reversed(_priorities(jobs)), numbered(schedds)[0], numbered(submitters)[0])
    )


def _priorities(jobs: Table) -> list[NDArray[np.float64]]:
    """Give the priorities of the jobs, weightiest first; the lowest goes first."""
    return [-jobs.numbers(name, default=0.0) for name in job_columns.PRIORITIES]
