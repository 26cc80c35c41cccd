"""Use case: the queue of one application, or of all applications of a pool, without placing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from negotiator.app.pool_view import PoolView
from negotiator.app.subject import Subject, resolve_subject
from negotiator.audit.queueing import change_fields, placement_fields
from negotiator.classad import Table
from negotiator.cycle.admit import admit
from negotiator.cycle.jobs import job_ids
from negotiator.cycle.place import PlacedJobs, place_idle
from negotiator.cycle.result import ApplicationPlacement as ApplicationPlacement
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.errors import CommandError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.placement import Application
from negotiator.hooks.records import AdKind, Cycle
from negotiator.placement import AccessCache, Chain, Placement
from negotiator.placement.trace import NO_RULE_MATCHED
from negotiator.pool import Snapshot
from negotiator.queues.names import upwards

GROUPS_UNKNOWN = "groups_unknown"
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule matched",
    "no_user": "the job's owner is missing or invalid",
    GROUPS_UNKNOWN: "a plugin failed, so the groups of the user are unknown",
}


def rejection(placement: Placement) -> str:
    """Return why an application was rejected, for people."""
    text = _TEXTS.get(placement.code)
    return text or (placement.steps[-1].text if placement.steps else placement.code)


@attrs.frozen
class PlacementOutcome:
    """The outcome for one application.

    ``created`` are the queues that would be created, from the top. ``unread_tags`` are given tags that no rule reads.
    """

    application: Application
    subject: Subject
    placement: Placement
    chain: Chain
    created: tuple[str, ...] = ()
    unread_tags: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The outcome as plain data: the fields of the audit record, and the queues that would be created."""
        fields = placement_fields(ApplicationPlacement(self.application, 1, "", self.placement))
        about = {name: field for name, field in fields.items() if name not in {"jobs", "first_job"}}
        return {"placed": self.placement.placed, **about, "created": list(self.created)}


def place_application(
    view: PoolView,
    user: str,
    groups: Sequence[str] = (),
    queue: str = "",
    tags: Mapping[str, str] | None = None,
    *,
    forced: bool = False,
) -> PlacementOutcome:
    """Place an application among copies of the queues, since queues that would be created are part of the answer.

    :param groups: the user's groups, the primary one first; looked up if empty.
    :param tags: job attributes, by name in lower case.
    :raises CommandError: no plugin brings placement rules.
    :raises InvalidCallError: the user is missing, or the name of a group is invalid.
    :raises StateError: the state cannot be read.
    """
    chain = _chain(view)
    manager = view.manager
    subject = resolve_subject(view.bundle, user, groups, view.now)
    given = tags or {}
    read = {name: text for name, text in given.items() if name in chain.tags}
    unread = tuple(sorted(given.keys() - chain.tags))
    application = Application(subject.user, subject.groups, queue, read, forced)
    if not subject.known:
        unknown = Placement("", GROUPS_UNKNOWN, ())
        return PlacementOutcome(application, subject, unknown, chain, unread_tags=unread)
    queues = manager.queues.mutable()
    queues.clean(manager.registry.busy(), view.now)  # as a cycle does before it places
    cache = AccessCache(view.bundle.hooks, view.bundle.settings, queues.view)
    (placement,), changes = chain.place([application], queues, cache, view.now)
    created = tuple(change.path for change in changes)
    return PlacementOutcome(application, subject, placement, chain, created, unread)


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
    _chain(view)
    state, failures = view.cycle_state, view.group_failures
    work = WorkAccounts.of(view.snapshot.slots, view.snapshot.jobs)
    cycle = work.for_ads(Cycle(1, view.now, view.bundle.digest), AdKind.JOB)
    admitted = admit(view.snapshot, view.bundle, cycle, work)
    result = place_idle(admitted.jobs, view.bundle, cycle, state)
    failures = tuple(dict.fromkeys((*failures, *admitted.failures, *result.failures)))
    return PoolPlacement(view.snapshot, admitted.jobs, result, failures)


def _chain(view: PoolView) -> Chain:
    if view.bundle.chain is None:
        raise CommandError("no plugin brings placement rules: jobs have no queue")
    return view.bundle.chain
