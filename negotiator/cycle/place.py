"""Station *place*: the queue of each application, and whether its user may submit there.

An application that was placed before stays where it is. New ones that are alike in all that the rules read are placed
once. Source: "App Placement Rules"; "Scheduler Configuration", Placement Rules definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admission_filter import AdmissionFilter
from negotiator.cycle.applications import (
    JobApplications,
    application_keys,
    application_users,
    applications,
    is_name,
    keys,
)
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import job_ids
from negotiator.cycle.numbering import Numbers, first_rows, numbered
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.result import ApplicationPlacement, DiscardedAds, QueueingState
from negotiator.cycle.text_columns import Strings, made_of
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.placement import Application
from negotiator.hooks.records import AdKind, Cycle, Mask
from negotiator.placement import AccessCache, Chain, Placement, PlacementStep
from negotiator.placement.trace import NO_RULE_MATCHED
from negotiator.queues import ROOT, QueueChange, QueueTree
from negotiator.queues.applications import ApplicationRegistry, Keys
from negotiator.queues.limits import LimitIndex
from negotiator.records import Provenance, Reason, Station, Verdict

#: (N,) paths of queues, "" where there is none.
Paths: TypeAlias = NDArray[np.object_]

_VERDICTS = {
    "invalid_queue_name": Verdict.MISCONFIGURED,
    "parent_is_leaf": Verdict.MISCONFIGURED,
    "no_user": Verdict.MISCONFIGURED,
    "plugin_error": Verdict.BROKEN_PLUGIN,
    "groups_unknown": Verdict.BROKEN_PLUGIN,
}
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule has a queue for its application",
    "invalid_queue_name": "a placement rule gives a name that no queue can have",
    "parent_is_leaf": "a placement rule gives a queue below a leaf",
    "create_under_leaf": "its queue can't be made: the queue above it is a leaf",
    "create_under_draining": "its queue can't be made: the queue above it is draining",
    "plugin_error": "a plugin could not say where its application goes",
    "no_user": "the job does not say whose it is, in up to 200 printable characters",
    "groups_unknown": "the groups of its user could not be had",
}


@attrs.frozen
class PlacedJobs:
    """The jobs that go on, with the queue of each; the rest is what is to be told, and to be taken over."""

    jobs: Table
    queues: Paths
    users: Strings
    groups: Strings  # that the applications count for, empty for none
    applications: Keys
    kept: NDArray[np.intp]  # the rows of the jobs among those that came in
    discarded: tuple[DiscardedAds, ...] = ()
    failures: tuple[HookFailure, ...] = ()
    placements: tuple[ApplicationPlacement, ...] = ()
    changes: tuple[QueueChange, ...] = ()
    queueing: QueueingState | None = None
    noun: str = "job"  # for those of no application, which are told apart from those of other tables by it

    def after(self, state: CycleState) -> CycleState:
        """The cycle state with what was placed."""
        if self.queueing is None:
            return state
        return attrs.evolve(state, queues=self.queueing.queues, registry=self.queueing.registry)

    def names(self, rows: NDArray[np.intp]) -> tuple[str, ...]:
        """``schedd#cluster`` of the application of each row; a job that is of none is one by itself."""
        if self.queueing is None:
            return ("",) * len(rows)
        registry = self.queueing.registry
        keys, numbers = np.unique(self.applications[rows], return_inverse=True)
        found = np.array([str(registry.id(key)) if key >= 0 else "" for key in keys.tolist()], np.object_)
        return tuple(
            name or f"{self.noun} {row}" for name, row in zip(found[numbers], rows.tolist(), strict=True)
        )


def place(jobs: Table, bundle: Bundle, cycle: Cycle, state: CycleState) -> PlacedJobs:
    """Give the jobs that may go on to be ordered, each with its queue."""
    if bundle.chain is None or not len(jobs):
        return _without_queues(jobs, bundle, cycle, state)
    found = applications(jobs, bundle, cycle.environment)
    registry = state.registry.copy()
    own = keys(jobs, found.users, registry)
    gathering = AdmissionFilter.of(AdKind.JOB, jobs)
    for mask, reason in _held(own, registry, state):
        gathering.discard(mask, reason)

    numbers = registry.lookup(own)
    rows = np.flatnonzero(numbers < 0)  # held ones too: what is in no queue could not be released
    unlike = _as_first(own[rows], found.kinds[rows])
    new = place_new(jobs, found, rows, unlike, bundle, cycle, state)
    limits = LimitIndex(bundle.partition.root)
    places = [
        registry.number(each.placement.queue, limits.group(each.application.groups, each.placement.queue))
        if each.placement.placed
        else -1
        for each in new.told
    ]
    numbers[rows] = np.array(places, np.int32)[new.kinds]
    for reason, kinds in _reasons(new.placements):
        mask = np.zeros(len(jobs), np.bool_)
        mask[rows] = np.isin(new.kinds, kinds)
        gathering.discard(mask, reason)
    registry.put(own[rows], numbers[rows], cycle.now)
    return PlacedJobs(
        jobs=gathering.left(),
        queues=registry.queues_of(numbers[gathering.keep]),
        users=made_of([found.users], str)[gathering.keep],
        groups=registry.groups_of(numbers[gathering.keep]),
        applications=own[gathering.keep],
        kept=np.flatnonzero(gathering.keep),
        discarded=tuple(gathering.discarded),
        failures=new.failures,
        placements=new.told,
        changes=new.changes,
        queueing=QueueingState(new.queues, registry),
    )


def _without_queues(jobs: Table, bundle: Bundle, cycle: Cycle, state: CycleState) -> PlacedJobs:
    """The jobs where nothing places them: all but those that are held since there were queues."""
    gathering = AdmissionFilter.of(AdKind.JOB, jobs)
    if state.held and len(jobs):
        registry = state.registry.copy()
        own = application_keys(jobs, bundle.placement, cycle.environment, registry)
        for mask, reason in _held(own, registry, state):
            gathering.discard(mask, reason)
    left = gathering.left() if gathering.discarded else jobs
    nothing = np.full(len(left), "", np.object_)
    none = np.full(len(left), -1, np.int64)
    kept = np.flatnonzero(gathering.keep)
    return PlacedJobs(left, nothing, nothing, nothing, none, kept, discarded=tuple(gathering.discarded))


def place_running(
    jobs: Table, bundle: Bundle, cycle: Cycle, state: CycleState, noun: str = "running job"
) -> PlacedJobs:
    """Give jobs that run with their queues: also those that are held, and at the root what no rule places."""
    placed = attrs.evolve(place(jobs, bundle, cycle, attrs.evolve(state, held={})), noun=noun)
    if not placed.discarded:
        return placed
    gone = np.ones(len(jobs), np.bool_)
    gone[placed.kept] = False
    users = application_users(jobs.take(gone), bundle.placement, cycle.environment)
    order = np.argsort(np.concatenate((placed.kept, np.flatnonzero(gone))), kind="stable")
    nowhere = np.full(len(users), "", np.object_)
    return attrs.evolve(
        placed,
        jobs=jobs,
        queues=np.concatenate((placed.queues, np.full(len(users), ROOT, np.object_)))[order],
        users=np.concatenate((placed.users, users))[order],
        groups=np.concatenate((placed.groups, nowhere))[order],
        applications=np.concatenate((placed.applications, np.full(len(users), -1, np.int64)))[order],
        discarded=(),
        placements=tuple(each for each in placed.placements if each.placement.placed),
        kept=np.arange(len(jobs)),
    )


def _as_first(own: Keys, kinds: Numbers) -> Numbers:
    """The kinds of rows, those of one application alike: it goes where its first job goes, and is in one queue."""
    numbers, count = numbered(own)
    first = np.where(own < 0, np.arange(len(own)), first_rows(numbers, count)[numbers])
    return kinds[first]


def _held(own: Keys, registry: ApplicationRegistry, state: CycleState) -> Iterator[tuple[Mask, Reason]]:
    """The jobs of applications that an administrator holds."""
    if not state.held:
        return
    for application, hold in state.held.items():
        mask = own == registry.key(application)
        why = f": {hold.note}" if hold.note else ""
        text = f"its application was taken out of matching by {hold.by}{why}"
        yield mask, core_reason(Station.PLACE, Verdict.WAITING, "held_by_admin", text)


@attrs.frozen
class NewPlacements:
    """The placements of new applications: ``kinds`` (R,) has the number of the placement of each row."""

    kinds: Numbers
    placements: tuple[Placement, ...]
    told: tuple[ApplicationPlacement, ...]
    changes: tuple[QueueChange, ...]
    failures: tuple[HookFailure, ...]
    queues: QueueTree


def place_new(
    jobs: Table,
    found: JobApplications,
    rows: NDArray[np.intp],
    unlike: Numbers,
    bundle: Bundle,
    cycle: Cycle,
    state: CycleState,
) -> NewPlacements:
    """Place the applications of some rows, as if none of them was placed before.

    ``rows`` (R,) are rows of ``jobs``, and ``unlike`` (R,) numbers the kinds of their applications.
    """
    chain = bundle.chain or Chain((), frozenset())
    queues = state.queues.copy()
    book = AccessCache(bundle.hooks, bundle.settings, queues)
    kinds, count = numbered(unlike)
    first = rows[first_rows(kinds, count)].tolist()
    asking = [found.application(row, state.groups) for row in first]
    wrong = [_unfit(application, row, found, state) for application, row in zip(asking, first, strict=True)]
    sound = [application for application, code in zip(asking, wrong, strict=True) if not code]
    placed, changes = chain.place(sound, queues, book, cycle.now)
    answers = iter(placed)
    placements = tuple(Placement("", code, ()) if code else next(answers) for code in wrong)
    counts = np.bincount(kinds, minlength=count).tolist()
    told = tuple(
        ApplicationPlacement(application, number, name, placement)
        for application, number, name, placement in zip(
            asking, counts, job_ids(jobs, first), placements, strict=True
        )
    )
    failures = dict.fromkeys((*chain.failures(placed), *book.failures))
    return NewPlacements(kinds, placements, told, changes, tuple(failures), queues)


def _unfit(application: Application, row: int, found: JobApplications, state: CycleState) -> str:
    """Why the rules are not asked about an application; empty where they are."""
    if not is_name(application.user):
        return "no_user"
    return "" if found.knows_groups(row, state.groups) else "groups_unknown"


def _reasons(placements: Sequence[Placement]) -> Iterator[tuple[Reason, list[int]]]:
    """Each reason for which applications were rejected, with the numbers of their placements."""
    rejected: dict[tuple[str, PlacementStep | None], list[int]] = {}
    for number, placement in enumerate(placements):
        if not placement.placed:
            decisive = placement.steps[-1] if placement.steps and placement.code != NO_RULE_MATCHED else None
            key = attrs.evolve(decisive, queue="", text="") if decisive else None
            rejected.setdefault((placement.code, key), []).append(number)
    for (code, step), numbers in rejected.items():
        yield _reason(code, step), numbers


def _reason(code: str, step: PlacementStep | None) -> Reason:
    verdict = _VERDICTS.get(code, Verdict.DENIED)
    if step is None:
        return core_reason(Station.PLACE, verdict, code, _TEXTS[code], "placement rules")
    where = Provenance(Station.PLACE, step.plugin, step.version, f"rule {step.rule}", step.source)
    return Reason(verdict, code, _TEXTS[code], where)
