"""Global job priorities: a submitter takes part once for each priority of its jobs.

Source: HTCondor manual, USE_GLOBAL_JOB_PRIOS; condor_negotiator 25.14.1 for neighbours that are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from negotiator.plugin import QueuedRequest, Table
from negotiator_fairshare.pie.submitters import SubmitterAd

_PRIORITY = re.compile(r"(?<![^\s,])-?[0-9]{1,10}(?![^\s,])")
#: Priorities of one ad: hostile ads may have any number.
_MOST = 1000


def by_priority(ads: Sequence[SubmitterAd], submitters: Table) -> tuple[SubmitterAd, ...]:
    """Return each submitter once for each priority in its JobPrioArray; one without it as it is."""
    arrays = submitters.strings("JobPrioArray")
    return tuple(each for ad in ads for each in _of_each_priority(ad, arrays[ad.place] or ""))


def _of_each_priority(ad: SubmitterAd, text: str) -> Iterator[SubmitterAd]:
    found = dict.fromkeys(map(int, _PRIORITY.findall(text)[:_MOST]))
    if not found:
        yield ad
    for priority in found:
        yield attrs.evolve(ad, priorities=(priority, priority))


def joined(ads: Sequence[SubmitterAd]) -> list[SubmitterAd]:
    """Join neighbours of one submitter at one schedd: one ad has the jobs of both."""
    found: list[SubmitterAd] = []
    for ad in ads:
        before = found[-1] if found else None
        if before is None or before.key != ad.key or before.priorities is None or ad.priorities is None:
            found.append(ad)
            continue
        both = (*before.priorities, *ad.priorities)
        found[-1] = attrs.evolve(before, priorities=(min(both), max(both)))
    return found


@attrs.frozen(eq=False)
class JobPriorities:
    """The JobPrio of all jobs."""

    jobs: Table

    def served(self, queued: QueuedRequest, priorities: tuple[int, int] | None) -> int:
        """Return how many jobs of a request may be served: the first ones, down to the least of these priorities.

        Jobs above the largest one were rejected before; none is served if the request has no others.
        """
        if priorities is None:
            return queued.request.count
        least, largest = priorities
        own = self.jobs.take(queued.rows).numbers("JobPrio", default=0.0)
        count = int(np.argmin(np.append(own >= least, False)))
        return count if (own[:count] <= largest).any() else 0
