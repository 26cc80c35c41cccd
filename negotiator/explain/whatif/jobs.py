"""A pool with more jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from negotiator.classad import Ad, LiteralValue, Table
from negotiator.cycle.jobs import IDLE, JobIds, names, schedds, submitters
from negotiator.explain.whatif.tables import Values, with_copies
from negotiator.pool import Snapshot

#: What the ad of a job has of the slot that it runs on, or of its runs so far.
_OF_RUNS: Final = frozenset(
    ["globaljobid", "jobcurrentstartdate", "remotehost", "remoteslotid", "startdname"]
)


def more_jobs(snapshot: Snapshot, count: int, like: int, values: Values, now: float) -> Snapshot:
    """Return a pool with more idle jobs, of a cluster of their own.

    Their submitters are in the pool with these jobs, if it has ads of submitters.

    :param like: the row of the job that they are copies of.
    :param values: what they have instead.
    """
    jobs = snapshot.jobs
    cluster = int(JobIds.of(jobs).clusters.max()) + 1
    schedd = schedds(jobs.take([like])).tolist()[0]
    own: dict[str, list[LiteralValue | None]] = {
        each: [None] * count for each in sorted(_OF_RUNS & jobs.names())
    }
    own |= {
        "ClusterId": [cluster] * count,
        "ProcId": list(range(count)),
        "JobStatus": [IDLE] * count,
        "QDate": [int(now)] * count,
    }
    if schedd:
        own["GlobalJobId"] = [f"{schedd}#{cluster}.{proc}#{int(now)}" for proc in range(count)]
    found = with_copies(jobs, like, count, own, values)
    advertised = snapshot.submitters
    if len(advertised):
        advertised = _with_idle_jobs(
            advertised,
            Counter(submitters(found.take(np.arange(len(jobs), len(found)))).tolist()),
            schedd,
            now,
        )
    return attrs.evolve(snapshot, jobs=found, submitters=advertised)


def _with_idle_jobs(ads: Table, jobs: Mapping[str, int], schedd: str, now: float) -> Table:
    """Return the ads of submitters with more idle jobs at a schedd; a submitter without an ad gets one."""
    found = list(ads.ads)
    places = {
        key: place
        for place, key in enumerate(
            zip(names(ads, "Name").tolist(), names(ads, "ScheddName").tolist(), strict=True)
        )
    }
    for submitter, count in jobs.items():
        place = places.get((submitter, schedd))
        if place is not None:
            idle = found[place].integer("IdleJobs", 0) or 0
            found[place] = found[place].with_items([("IdleJobs", idle + count)])
        else:
            own: dict[str, LiteralValue] = {"Name": submitter, "ScheddName": schedd, "IdleJobs": count}
            found.append(Ad(list({**own, "RunningJobs": 0, "LastHeardFrom": int(now)}.items())))
    return Table.from_ads(found)
