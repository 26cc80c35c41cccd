"""One pass of placement over the jobs of a cycle: running, claimed and idle; and the reasons for which applications are rejected.

An application that was placed before stays where it is. New applications that are alike in all that the rules read are
placed once. Source: "App Placement Rules"; "Scheduler Configuration", Placement Rules definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admit import AdmissionFilter
from negotiator.cycle.applications import (
    JobApplications,
    application_keys,
    application_users,
    applications,
    keys,
)
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.group_names import is_name
from negotiator.cycle.jobs import Strings, job_ids, made_of
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.numbering import Numbers, combined, first_rows, numbered
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.result import DiscardedAds
from negotiator.hooks.access import Access, AccessKind, AccessQuestion
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import Attributed
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.placement import Application, PlacedApplication
from negotiator.hooks.records import Cycle, Mask
from negotiator.placement import AccessCache, Chain, Placement, PlacementStep
from negotiator.placement.chain import NO_RULE_MATCHED, ApplicationPlacement, is_granted
from negotiator.queues import ROOT, MutableQueueTree, Queue, QueueChange
from negotiator.queues.applications import (
    ApplicationHold,
    ApplicationId,
    ApplicationRegistry,
    Codes,
    Keys,
    keys_of,
)
from negotiator.records import Provenance, Reason, Station, Verdict

_VERDICTS = {
    "invalid_queue_name": Verdict.MISCONFIGURED,
    "parent_is_leaf": Verdict.MISCONFIGURED,
    "no_user": Verdict.MISCONFIGURED,
    "plugin_error": Verdict.BROKEN_PLUGIN,
    "groups_unknown": Verdict.BROKEN_PLUGIN,
}
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule has a queue for its application",
    "invalid_queue_name": "a placement rule returned an invalid queue name",
    "parent_is_leaf": "a placement rule returned a queue below a leaf",
    "create_under_leaf": "its queue can't be created: the queue above it is a leaf",
    "create_under_draining": "its queue can't be created: the queue above it is draining",
    "plugin_error": "a plugin failed while its application was placed",
    "no_user": "the job's owner is missing or invalid (at most 200 printable characters)",
    "groups_unknown": "the groups of its user could not be resolved",
}


def rejections(placements: Sequence[Placement]) -> Iterator[tuple[Reason, list[int]]]:
    """Yield each reason for which applications were rejected, with the numbers of their placements."""
    rejected: dict[tuple[str, PlacementStep | None], list[int]] = {}
    for number, placement in enumerate(placements):
        if not placement.placed:
            decisive = placement.steps[-1] if placement.steps and placement.code != NO_RULE_MATCHED else None
            key = attrs.evolve(decisive, queue="", text="") if decisive else None
            rejected.setdefault((placement.code, key), []).append(number)
    for (code, step), numbers in rejected.items():
        yield _reason(code, step), numbers


def rejection(placement: Placement) -> Reason:
    """Return why one application is rejected, with the last rule that was tried."""
    step = placement.steps[-1] if placement.steps else None
    reason = _reason(placement.code, step)
    return reason if step is None else attrs.evolve(reason, text=f"{reason.text}: {step.text}")


def access_reason(answer: Attributed[Access], queue: Queue | None) -> Reason:
    """Return why access policies deny a job a queue: with the place of the rule, or of the queue if no rule permits it."""
    access = answer.record
    broken = access.rule == "plugin_error"
    source = access.source or (queue.config.source if queue else None)
    where = Provenance(Station.PLACE, answer.plugin, answer.version, access.rule, source)
    verdict, code = (Verdict.BROKEN_PLUGIN, "plugin_error") if broken else (Verdict.DENIED, "access_denied")
    return Reason(verdict, code, access.text, where)


def _reason(code: str, step: PlacementStep | None) -> Reason:
    verdict = _VERDICTS.get(code, Verdict.DENIED)
    if step is None:
        return core_reason(Station.PLACE, verdict, code, _TEXTS[code], "placement rules")
    where = Provenance(Station.PLACE, step.plugin, step.version, f"rule {step.rule}", step.source)
    return Reason(verdict, code, _TEXTS[code], where)


#: (N,) paths of queues, "" for none.
Paths: TypeAlias = NDArray[np.object_]
Holds: TypeAlias = Mapping[ApplicationId, ApplicationHold]


@attrs.frozen
class PlacedJobs:
    """The jobs of one table that go on, with the queue, user and group of each; and what happened to the others.

    ``registry`` names the applications; None where nothing places jobs. ``noun`` names jobs without an application:
    each is one by itself, and must differ from those of other tables.
    """

    jobs: Table
    queues: Paths
    users: Strings
    groups: Strings  # whose limits the applications count for, empty for none
    applications: Keys
    rows: NDArray[np.intp]  # of these jobs in the table that was placed
    registry: ApplicationRegistry | None = None
    discarded: tuple[DiscardedAds, ...] = ()
    failures: tuple[HookFailure, ...] = ()
    placements: tuple[ApplicationPlacement, ...] = ()
    changes: tuple[QueueChange, ...] = ()
    noun: str = "job"
    #: By row of the table that was placed, the number of the placement; -1 for an application that has its queue already.
    kinds: Numbers | None = None
    #: Of jobs that run: why placement would deny them now, each with its rows.
    denied: tuple[tuple[NDArray[np.intp], Reason], ...] = ()

    def names(self, rows: NDArray[np.intp]) -> tuple[str, ...]:
        """Return ``schedd#cluster`` of the application of each row; empty where nothing places jobs."""
        return tuple(self._names[rows].tolist())

    @cached_property
    def _names(self) -> Strings:
        """The names of the applications of all jobs, (N,)."""
        if self.registry is None:
            return np.full(len(self.jobs), "", np.object_)
        numbers, count = numbered(self.applications)
        known = self.applications[first_rows(numbers, count)].tolist()
        names = np.empty(count, np.object_)
        names[:] = [str(self.registry.id(key)) if key >= 0 else "" for key in known]
        found: Strings = names[numbers]
        alone = np.flatnonzero(self.applications < 0)
        found[alone] = [f"{self.noun} {row}" for row in alone.tolist()]
        return found


@attrs.frozen
class NewPlacements:
    """The placements of new applications, and the group that each counts for, empty for none.

    ``kinds`` (R,) has the number of the placement of each row.
    """

    kinds: Numbers
    placements: tuple[ApplicationPlacement, ...]
    groups: tuple[str, ...]
    changes: tuple[QueueChange, ...]
    failures: tuple[HookFailure, ...]


@attrs.define(eq=False)
class PlacementPass:
    """The queues and applications of a cycle while its jobs are placed, table by table.

    Each table sees the queues that were created for earlier ones, and the applications that were placed with them.
    Access policies answer each question once.
    """

    bundle: Bundle
    cycle: Cycle
    state: CycleState
    chain: Chain
    queues: MutableQueueTree
    registry: ApplicationRegistry
    access: AccessCache

    @classmethod
    def of(cls, bundle: Bundle, cycle: Cycle, state: CycleState) -> Self:
        """Start from a state, which stays as it is."""
        queues = state.queues.mutable()
        access = AccessCache(bundle.hooks, bundle.settings, queues.view)
        chain = bundle.chain or Chain((), frozenset())
        return cls(bundle, cycle, state, chain, queues, state.registry.copy(), access)

    def after(self) -> CycleState:
        """Return the state with what was placed."""
        if self.bundle.chain is None:
            return self.state
        return attrs.evolve(self.state, queues=self.queues.view, registry=self.registry)

    def place(self, jobs: Table, held: Holds) -> PlacedJobs:
        """Place the jobs of one table; those that are rejected or held are discarded."""
        if self.bundle.chain is None or not len(jobs):
            return self._without_queues(jobs, held)
        found = applications(jobs, self.bundle, self.cycle.environment)
        own = keys(jobs, found.users, self.registry)
        admission = AdmissionFilter.of(AdKind.JOB, jobs)
        for mask, reason in _held_jobs(own, self.registry, held):
            admission.discard(mask, reason)

        numbers = self.registry.lookup(own)
        failures = self._regroup(found, own, numbers)
        rows = np.flatnonzero(numbers < 0)  # held ones too: an application in no queue could not be released
        new = self.place_new(jobs, found, rows, _as_first(own[rows], found.kinds[rows]))
        numbers[rows] = np.array(self._assignments(new), np.int32)[new.kinds]
        kinds_of_rows = np.full(len(jobs), -1, new.kinds.dtype)
        kinds_of_rows[rows] = new.kinds
        for reason, kinds in rejections([each.placement for each in new.placements]):
            mask = np.zeros(len(jobs), np.bool_)
            mask[rows] = np.isin(new.kinds, kinds)
            admission.discard(mask, reason)
        self.registry.put(own[rows], numbers[rows], self.cycle.now)
        keep = admission.keep
        return PlacedJobs(
            jobs=admission.kept_ads(),
            queues=self.registry.queues_of(numbers[keep]),
            users=made_of([found.users], str)[keep],
            groups=self.registry.groups_of(numbers[keep]),
            applications=own[keep],
            rows=np.flatnonzero(keep),
            registry=self.registry,
            discarded=tuple(admission.discarded),
            failures=tuple(dict.fromkeys((*failures, *new.failures))),
            placements=new.placements,
            changes=new.changes,
            kinds=kinds_of_rows,
        )

    def current(self, entries: Sequence[JournalEntry]) -> tuple[JournalEntry, ...]:
        """Return matches that the pool does not show, with the queues and groups that their applications have now."""
        if self.bundle.chain is None or not entries:
            return tuple(entries)
        owners = np.array([self.registry.owner(each.schedd, each.user) for each in entries], np.int64)
        clusters = np.array([int(each.job.partition(".")[0]) for each in entries], np.int64)
        keys = keys_of(owners, clusters)
        numbers = self.registry.lookup(keys)
        queues, groups = self.registry.queues_of(numbers), self.registry.groups_of(numbers)
        placed = [
            attrs.evolve(each, queue=queue, group=group) if number >= 0 else each
            for each, number, queue, group in zip(
                entries, numbers.tolist(), queues.tolist(), groups.tolist(), strict=True
            )
        ]
        records = [PlacedApplication(each.user, each.groups, each.queue, each.group) for each in placed]
        kinds = list(dict.fromkeys(records))
        chosen, failures = self.bundle.hooks.application_groups(kinds, self.queues.view, self.bundle.settings)
        if failures:
            return tuple(placed)
        group_of = dict(zip(kinds, chosen, strict=True))
        return tuple(
            attrs.evolve(each, group=group_of[record]) for each, record in zip(placed, records, strict=True)
        )

    def _regroup(self, found: JobApplications, own: Keys, numbers: Codes) -> tuple[HookFailure, ...]:
        """Choose the groups of the applications that were placed before anew: their limits may have changed.

        ``numbers`` (N,) of the assignments of rows are replaced, also in the registry; if a plugin fails, they stay.
        """
        rows = np.flatnonzero((numbers >= 0) & (own >= 0))
        applications, count = numbered(own[rows])
        first = rows[first_rows(applications, count)]
        kinds, count = combined(numbers[first], found.kinds[first], found.users.codes[first])
        known = first[first_rows(kinds, count)].tolist()
        if not known:
            return ()
        candidates = [found.application(row, self.state.groups) for row in known]
        before = numbers[known]
        queues, groups = self.registry.queues_of(before).tolist(), self.registry.groups_of(before).tolist()
        records = [
            PlacedApplication(each.user, each.groups, queue, group)
            for each, queue, group in zip(candidates, queues, groups, strict=True)
        ]
        chosen, failures = self.bundle.hooks.application_groups(
            records, self.queues.view, self.bundle.settings
        )
        if failures:
            return failures
        resolved = [found.knows_groups(row, self.state.groups) for row in known]
        after = np.array(
            [
                self.registry.number(record.queue, group if is_known else record.group or "")
                for record, group, is_known in zip(records, chosen, resolved, strict=True)
            ],
            np.int32,
        )
        changed = rows[(after != before)[kinds][applications]]
        numbers[rows] = after[kinds][applications]
        self.registry.put(own[changed], numbers[changed], self.cycle.now)
        return ()

    def place_in_use(self, jobs: Table, noun: str) -> PlacedJobs:
        """Place jobs that run: held ones too, and at the root those that the rules reject."""
        placed = attrs.evolve(self.place(jobs, held={}), noun=noun)
        denied = (*self._rejected(placed), *self._no_longer_permitted(jobs, placed))
        placed = attrs.evolve(placed, denied=denied)
        if not placed.discarded:
            return placed
        rejected = np.ones(len(jobs), np.bool_)
        rejected[placed.rows] = False
        users = application_users(jobs.take(rejected), self.bundle.placement, self.cycle.environment)
        order = np.argsort(np.concatenate((placed.rows, np.flatnonzero(rejected))), kind="stable")
        no_group = np.full(len(users), "", np.object_)
        return attrs.evolve(
            placed,
            jobs=jobs,
            queues=np.concatenate((placed.queues, np.full(len(users), ROOT, np.object_)))[order],
            users=np.concatenate((placed.users, users))[order],
            groups=np.concatenate((placed.groups, no_group))[order],
            applications=np.concatenate((placed.applications, np.full(len(users), -1, np.int64)))[order],
            rows=np.arange(len(jobs)),
            discarded=(),
            placements=tuple(each for each in placed.placements if each.placement.placed),
        )

    def _rejected(self, placed: PlacedJobs) -> Iterator[tuple[NDArray[np.intp], Reason]]:
        """Yield the jobs whose new applications are rejected: by the rule that came closest, or by the access policy that denied it."""
        if placed.kinds is None:
            return
        for number, each in enumerate(placed.placements):
            placement = each.placement
            if not placement.placed:
                step = next((step for step in placement.steps if step.code == "access_denied"), None)
                reason = rejection(placement)
                if step is not None and placement.code == NO_RULE_MATCHED:
                    user, groups = each.application.user, each.application.groups
                    reason = access_reason(
                        self.access.submit(user, groups, step.queue), self.queues.view.get(step.queue)
                    )
                yield np.flatnonzero(placed.kinds == number), reason

    def _no_longer_permitted(
        self, jobs: Table, placed: PlacedJobs
    ) -> Iterator[tuple[NDArray[np.intp], Reason]]:
        """Yield the jobs whose users may no longer submit to the queue that their applications are in.

        An application that has its queue keeps it, whatever the rules are now; who may use the queue can change.
        """
        if placed.kinds is None:
            return
        kept = placed.kinds[placed.rows] < 0  # where they are not new
        rows = placed.rows[kept]
        if not len(rows):
            return
        found = applications(jobs, self.bundle, self.cycle.environment)
        kinds, count = combined(found.kinds[rows], placed.queues[kept])
        queues = placed.queues[kept][first_rows(kinds, count)].tolist()
        first = rows[first_rows(kinds, count)].tolist()
        records = [found.application(row, self.state.groups) for row in first]
        asked = {
            number: AccessQuestion(record.user, record.groups, AccessKind.SUBMIT, queue)
            for number, (row, record, queue) in enumerate(zip(first, records, queues, strict=True))
            if not record.forced and found.knows_groups(row, self.state.groups)
        }
        self.access.ask(asked.values())
        by_reason: dict[tuple[str, ...], tuple[Reason, list[int]]] = {}
        for number, question in asked.items():
            answer = self.access.answer(question)
            if not is_granted(answer):
                reason = access_reason(answer, self.queues.view.get(question.queue))
                by_reason.setdefault((answer.plugin, reason.text), (reason, []))[1].append(number)
        for reason, numbers in by_reason.values():
            yield rows[np.isin(kinds, numbers)], reason

    def place_new(
        self, jobs: Table, found: JobApplications, rows: NDArray[np.intp], unlike: Numbers
    ) -> NewPlacements:
        """Place the applications of some rows, as if none of them had been placed before.

        ``rows`` (R,) are rows of ``jobs``, and ``unlike`` (R,) numbers the kinds of their applications.
        """
        kinds, count = numbered(unlike)
        first = rows[first_rows(kinds, count)].tolist()
        candidates = [found.application(row, self.state.groups) for row in first]
        invalid = [
            self._invalid(application, row, found) for application, row in zip(candidates, first, strict=True)
        ]
        valid = [application for application, code in zip(candidates, invalid, strict=True) if not code]
        placed, changes = self.chain.place(valid, self.queues, self.access, self.cycle.now)
        decided = iter(placed)
        placements = tuple(Placement("", code, ()) if code else next(decided) for code in invalid)
        placements, groups, failed = self._with_groups(candidates, placements)
        if failed:  # all are rejected: nothing is left for the queues that were created for them
            self.queues.undo(changes)
            changes = ()
        counts = np.bincount(kinds, minlength=count).tolist()
        failures = dict.fromkeys((*self.chain.failures(placed), *self.access.failures, *failed))
        return NewPlacements(
            kinds,
            tuple(map(ApplicationPlacement, candidates, counts, job_ids(jobs, first), placements)),
            groups,
            changes,
            tuple(failures),
        )

    def _without_queues(self, jobs: Table, held: Holds) -> PlacedJobs:
        """Return the jobs where nothing places them: all but those that were held while there were queues."""
        admission = AdmissionFilter.of(AdKind.JOB, jobs)
        if held and len(jobs):
            own = application_keys(jobs, self.bundle.placement, self.cycle.environment, self.registry)
            for mask, reason in _held_jobs(own, self.registry, held):
                admission.discard(mask, reason)
        left = admission.kept_ads() if admission.discarded else jobs
        nothing = np.full(len(left), "", np.object_)
        none = np.full(len(left), -1, np.int64)
        rows, discarded = np.flatnonzero(admission.keep), tuple(admission.discarded)
        return PlacedJobs(left, nothing, nothing, nothing, none, rows, discarded=discarded)

    def _with_groups(
        self, applications: Sequence[Application], placements: tuple[Placement, ...]
    ) -> tuple[tuple[Placement, ...], tuple[str, ...], tuple[HookFailure, ...]]:
        """Return the placements, and the group of each; if a plugin fails to choose groups, all are rejected."""
        placed = [number for number, placement in enumerate(placements) if placement.placed]
        records = [
            PlacedApplication(
                applications[number].user, applications[number].groups, placements[number].queue
            )
            for number in placed
        ]
        if not records:
            return placements, ("",) * len(placements), ()
        hooks, settings = self.bundle.hooks, self.bundle.settings
        chosen, failures = hooks.application_groups(records, self.queues.view, settings)
        if failures:
            rejected = Placement("", "plugin_error", ())
            placements = tuple(rejected if each.placed else each for each in placements)
        groups = dict(zip(placed, chosen, strict=True))
        return placements, tuple(groups.get(number, "") for number in range(len(placements))), failures

    def _assignments(self, new: NewPlacements) -> list[int]:
        """Return the registry's number of the queue and group of each placement; -1 where it is rejected."""
        return [
            self.registry.number(each.placement.queue, group) if each.placement.placed else -1
            for each, group in zip(new.placements, new.groups, strict=True)
        ]

    def _invalid(self, application: Application, row: int, found: JobApplications) -> str:
        """Return the code why an application is rejected before any rule is tried; empty if it is not."""
        if not is_name(application.user):
            return "no_user"
        return "" if found.knows_groups(row, self.state.groups) else "groups_unknown"


def _as_first(own: Keys, kinds: Numbers) -> Numbers:
    """Return the kinds of rows, each that of the first row of its application.

    An application goes where its first job goes, and is in one queue. Rows of no application keep their own kind.
    """
    numbers, count = numbered(own)
    first = np.where(own < 0, np.arange(len(own)), first_rows(numbers, count)[numbers])
    return kinds[first]


def _held_jobs(
    keys: Keys, registry: ApplicationRegistry, held: Mapping[ApplicationId, ApplicationHold]
) -> Iterator[tuple[Mask, Reason]]:
    """Yield, for each held application, the mask of its jobs, (N,), and the reason.

    :param keys: the keys of the jobs' applications in the registry, (N,).
    """
    for application, hold in held.items():
        note = f": {hold.note}" if hold.note else ""
        text = f"its application was taken out of matching by {hold.by}{note}"
        reason = core_reason(Station.PLACE, Verdict.WAITING, "held_by_admin", text)
        yield keys == registry.key(application), reason
