"""Station *place*: the queue of each job, and whether its user may submit there.

There are no queues yet: every job goes on.
"""

from __future__ import annotations

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.hooks.records import Cycle


def place(jobs: Table, bundle: Bundle, cycle: Cycle) -> Table:  # noqa: ARG001 -- the station's interface
    """Give the jobs that may go on to be ordered."""
    return jobs
