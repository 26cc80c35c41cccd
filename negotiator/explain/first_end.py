"""When a running job ends at the latest, as far as its ad says: nothing is guessed.

Source: HTCondor manual, Job ClassAd Attributes (AllowedJobDuration, AllowedExecuteDuration); ``UserPolicy`` of condor_schedd, which
holds a job that exceeds one of them.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.cycle.jobs import job_ids

#: The end of the year 9999: users write the durations.
_LAST_SECOND: Final = 253_402_300_799


@attrs.frozen
class FirstEnd:
    """The first of some running jobs that ends, and when at the latest, in seconds since the epoch.

    ``stated`` counts the jobs whose ads say so, of ``jobs``.
    """

    job: str
    time: float
    stated: int
    jobs: int


def first_end(jobs: Table, now: float) -> FirstEnd | None:
    """Return which of some running jobs ends first; None if no ad says when, or only for times before ``now``."""
    if not len(jobs):
        return None
    ends = latest_ends(jobs)
    later = np.flatnonzero((ends > now) & (ends < _LAST_SECOND))
    if not len(later):
        return None
    row = later[ends[later].argmin()]
    return FirstEnd(job_ids(jobs, [int(row)])[0], float(ends[row]), len(later), len(jobs))


def latest_ends(jobs: Table) -> NDArray[np.float64]:
    """Return when each running job is held at the latest, in seconds since the epoch, (N,); NaN if its ad does not say."""
    begun = jobs.numbers("ShadowBday")
    executing, copied = jobs.numbers("JobCurrentStartExecutingDate"), jobs.numbers("TransferOutFinished")
    # An earlier run leaves its time of execution; a checkpoint that was copied begins the duration anew.
    executing = np.where(executing > begun, np.fmax(executing, copied), np.nan)
    by_execution = executing + jobs.numbers("AllowedExecuteDuration")
    return np.fmin(begun + jobs.numbers("AllowedJobDuration"), by_execution)
