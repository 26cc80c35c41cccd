"""Finds a job of a pool by its id, and a slot by its name."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from negotiator.classad import Table
from negotiator.cycle.jobs import IDLE, JobIds, schedds
from negotiator.errors import InvalidCallError, NotFoundError
from negotiator.records.text import printable, suggest

#: ``[schedd#]cluster[.proc]``.
JOB_ID: Final = re.compile(r"(?:(?P<schedd>[^#]+)#)?(?P<cluster>\d{1,15})(?:\.(?P<proc>\d{1,15}))?", re.ASCII)

_NAMED: Final = 5  # schedds, or ranges of jobs, in a message


def find_job(jobs: Table, text: str) -> int:
    """Return the row of a job: ``12.7``, ``schedd#12.7``, or of a cluster (``12``) the first idle job, else the first.

    :raises InvalidCallError: the id is invalid, or several schedds have such a job: the message names them.
    :raises NotFoundError: there is none; the message has the jobs of the cluster.
    """
    parsed = JOB_ID.fullmatch(text)
    if parsed is None:
        raise InvalidCallError(f"invalid job id {text!r}: write CLUSTER.PROC, CLUSTER or SCHEDD#CLUSTER.PROC")
    ids, names = JobIds.of(jobs), schedds(jobs)
    in_cluster = ids.clusters == int(parsed["cluster"])
    if parsed["schedd"]:
        in_cluster &= np.asarray(names == parsed["schedd"].lower())
    found = np.flatnonzero(in_cluster & (ids.procs == int(parsed["proc"])) if parsed["proc"] else in_cluster)
    if not len(found):
        raise NotFoundError(_unknown(text, ids, np.flatnonzero(in_cluster)))
    at = list(dict.fromkeys(names[found].tolist()))
    if len(at) > 1:
        known = ", ".join(f"{printable(each)}#{text}" for each in at[:_NAMED])
        raise InvalidCallError(f"job {text} is at {len(at)} schedds: write {known}")
    idle = found[jobs.take(found).numbers("JobStatus", default=IDLE) == IDLE]
    return int(idle[0] if len(idle) else found[0])


def find_slot(slots: Table, name: str) -> int:
    """Return the row of a slot by its name, in any case of the letters.

    :raises NotFoundError: there is none; the message has the nearest name.
    """
    names = [each or "" for each in slots.strings("Name").tolist()]
    wanted = name.lower()
    for row, each in enumerate(names):
        if each.lower() == wanted:
            return row
    near = suggest(name, map(printable, names), listed=False)
    raise NotFoundError(f"no slot {name} in the pool of {len(names)} slots" + (f": {near}" if near else ""))


def _unknown(text: str, ids: JobIds, of_cluster: np.ndarray[tuple[int], np.dtype[np.intp]]) -> str:
    if not len(of_cluster):
        return f"no job {text} in the pool of {len(ids.clusters)} jobs: it has ended, or its schedd is not in the pool"
    known = ", ".join(ids.ranges(of_cluster).texts(_NAMED))
    return f"no job {text} in the pool; of this cluster it has {known}"
