"""Use case: the queues of all applications of a pool, without placing anything."""

from __future__ import annotations

from typing import Any

import attrs

from negotiator.activity import activity
from negotiator.app.placement import chain_of
from negotiator.app.pool_view import PoolView
from negotiator.audit.queueing import change_fields, placement_fields
from negotiator.classad import Table
from negotiator.cycle.admit import admit
from negotiator.cycle.jobs import job_ids
from negotiator.cycle.place import PlacedJobs, place_idle
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.placement.chain import ApplicationPlacement
from negotiator.pool import Snapshot
from negotiator.queues.names import upwards


@attrs.frozen
class PoolPlacement:
    """The result of the stations *admit* and *place* of a cycle over the pool of ``snapshot``."""

    snapshot: Snapshot
    jobs: Table  # that were admitted
    result: PlacedJobs
    failures: tuple[HookFailure, ...]

    @property
    def admitted(self) -> int:
        """The number of jobs that were admitted."""
        return len(self.jobs)

    @property
    def placements(self) -> tuple[ApplicationPlacement, ...]:
        """The kinds of new applications: the rejected first, then those with most jobs."""
        return tuple(sorted(self.result.placements, key=lambda kind: (kind.placement.placed, -kind.jobs)))

    def selected(self, user: str = "", queue: str = "", job: str = "") -> tuple[ApplicationPlacement, ...]:
        """Return the placements of a user, of a queue and those below it, or of a job or a cluster; empty texts select all."""
        result = attrs.evolve(self.result, placements=self._of_job(job)) if job else self.result
        return tuple(
            kind
            for kind in attrs.evolve(self, result=result).placements
            if (not user or kind.application.user.lower() == user.lower())
            and (not queue or queue.lower() in upwards(kind.placement.queue.lower()))
        )

    def _of_job(self, job: str) -> tuple[ApplicationPlacement, ...]:
        kinds = self.result.kinds
        if kinds is None:
            return ()
        names = ({name, name.partition(".")[0]} for name in job_ids(self.jobs))
        numbers = {kind for kind, each in zip(kinds.tolist(), names, strict=True) if job in each}
        return tuple(self.result.placements[number] for number in sorted(numbers - {-1}))

    @property
    def already_placed(self) -> int:
        """The number of jobs whose application has its queue already."""
        return self.admitted - sum(kind.jobs for kind in self.result.placements)

    @property
    def held(self) -> int:
        """The number of jobs that an administrator holds, in any queue."""
        return sum(item.count for item in self.result.discarded if item.reason.code == "held_by_admin")

    @property
    def all_placed(self) -> bool:
        """True if no application is rejected."""
        return all(kind.placement.placed for kind in self.result.placements)

    @property
    def values(self) -> dict[str, Any]:
        """The placements as plain data, with the fields of the audit records."""
        return {
            "jobs": len(self.snapshot.jobs),
            "admitted": self.admitted,
            "already_placed": self.already_placed,
            "held": self.held,
            "placements": [placement_fields(kind) for kind in self.placements],
            "queues": [change_fields(change) for change in self.result.changes],
        }


def place_pool(view: PoolView) -> PoolPlacement:
    """Place the applications of a pool as a cycle would.

    :raises CommandError: no plugin brings placement rules.
    :raises PoolError: the pool cannot be read.
    :raises StateError: the state cannot be read.
    """
    chain_of(view)
    state, failures = view.cycle_state, view.group_failures
    work = WorkAccounts.of(view.snapshot.slots, view.snapshot.jobs)
    cycle = work.for_ads(Cycle(1, view.now, view.bundle.digest), AdKind.JOB)
    with activity("placing the applications"):
        admitted = admit(view.snapshot, view.bundle, cycle, work)
        result = place_idle(admitted.jobs, view.bundle, cycle, state)
    failures = tuple(dict.fromkeys((*failures, *admitted.failures, *result.failures)))
    return PoolPlacement(view.snapshot, admitted.jobs, result, failures)
