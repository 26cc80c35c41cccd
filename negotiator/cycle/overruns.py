"""Policies over what runs: which rules running jobs break, since when, and which of them are to end.

A schedd starts further jobs on a claim without asking, and policies, jobs and slots change while jobs run. So each cycle
judges every running job as if its slot were free and it were matched now: its ad is that of an idle job, and its slot's
that of an unclaimed one, or a rule such as ``TARGET.State == "Unclaimed"`` would deny whatever runs. A dynamic slot goes
back to the slot that it was carved from: that one, with the resources of both, is what the job would be matched with. The
Requirements of jobs and slots are no policy.

A job that only its claimed slot shows is *unknown*: it is judged by the rules that need no more than its slot's ad has of
it, and counted as unjudged if there are others. What a rule found before stays as it was, until the job is known again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter

import attrs
import numpy as np

from negotiator.bundle.constraints import BoundConstraint
from negotiator.bundle.folder import QUEUES
from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment, Expr, Kind, Payers, Side, evaluate_table
from negotiator.cycle.accounting_names import not_permitted, users_of
from negotiator.cycle.admit import Admitted, AppliedGates, OwnersAsSubmitters
from negotiator.cycle.autoclusters import expression_classes
from negotiator.cycle.jobs import Strings, names
from negotiator.cycle.judged_jobs import JudgedJobs
from negotiator.cycle.place import PlacedPool
from negotiator.cycle.reasons import plugin_reason
from negotiator.cycle.recount import Recount
from negotiator.cycle.work_accounts import WorkAccounts, for_policy
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.overruns import Eviction, Overrun, OverrunAction, OverrunCount
from negotiator.hooks.records import Cycle, Mask
from negotiator.ledger import Rows
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Mode, Reason, Station, Verdict

_ASK_AGAIN = 60.0  # seconds at least between two requests to end a job
#: What a claimed slot shows of its job as the job's ad has it.
_SHOWN = frozenset(
    {"owner", "user", "clusterid", "procid", "globaljobid", "jobstatus", "currenthosts", "remotehost"}
)


@attrs.frozen(eq=False)
class _Broken:
    """A rule, and the running jobs that break it, by row, ascending."""

    reason: Reason
    rows: Rows
    action: OverrunAction | None = None
    grace: float | None = None


@attrs.frozen
class Overruns:
    """What breaks rules when a cycle begins: limits first, then running jobs rule by rule.

    ``ended`` are those of the cycle before that are over. ``shadow`` counts what rules in mode warn or dryrun would add.
    ``unjudged`` is how many running jobs are not known well enough for every rule.
    """

    now: tuple[Overrun, ...] = ()
    begun: tuple[Overrun, ...] = ()
    ended: tuple[Overrun, ...] = ()
    shadow: tuple[OverrunCount, ...] = ()
    unjudged: int = 0
    evictions: tuple[Eviction, ...] = ()
    failures: tuple[HookFailure, ...] = ()


def overruns(
    snapshot: Snapshot,
    admitted: Admitted,
    placed: PlacedPool,
    in_use: Recount,
    bundle: Bundle,
    cycle: Cycle,
    before: Sequence[Overrun],
) -> Overruns:
    """Judge everything in use by all policies.

    :param in_use: the claims with their slots, and the limits that are exceeded.
    :param before: the overruns of the cycle before; what is still broken keeps its time.
    """
    since = {each.key: each.since for each in before}
    found = [attrs.evolve(each, since=since.get(each.key, cycle.now)) for each in in_use.exceeded]
    running = JudgedJobs.of(snapshot, placed, admitted.outside)
    if not len(running):
        return _compared(found, before)
    judge = _Judge(running, snapshot, admitted, placed, in_use, bundle, cycle)
    shadow: dict[tuple[str, str], OverrunCount] = {}
    evictions = _Evictions.after(before, cycle.now)
    keys = set[tuple[str, ...]]()
    for broken in judge.broken():
        if broken.reason.mode is not Mode.ENFORCE:
            rule = rule_of(broken.reason)
            jobs = len(broken.rows) + (shadow[rule].jobs if rule in shadow else 0)
            shadow[rule] = OverrunCount(broken.reason, jobs)
            continue
        action = bundle.overruns.action if broken.action is None else broken.action
        grace = bundle.overruns.grace if broken.grace is None else broken.grace
        for overrun, startd in running.overruns(broken.reason, broken.rows, action, since, cycle.now):
            if overrun.key in keys:  # a gate of schedds tests submitters too
                continue
            keys.add(overrun.key)
            found.append(evictions.with_request(overrun, startd, grace))
    found += judge.kept(before, keys)
    return attrs.evolve(
        _compared(found, before),
        shadow=tuple(shadow.values()),
        unjudged=int(np.count_nonzero(judge.unjudged)),
        evictions=tuple(evictions.now.values()),
        failures=tuple(judge.failures),
    )


@attrs.define(eq=False)
class _Evictions:
    """The running jobs that are to end now, by schedd, id and slot.

    A job needs its retirement and vacate time, so its end is requested again only after the grace time, and at least a minute; a rule
    that wants it at once does not wait for one that does not. ``asked`` has when the requests so far were made, by job and whether
    it was to end at once.
    """

    time: float
    asked: dict[tuple[tuple[str, str, str], bool], float]
    now: dict[tuple[str, str, str], Eviction] = attrs.field(factory=dict)

    @classmethod
    def after(cls, before: Iterable[Overrun], now: float) -> _Evictions:
        """Return no evictions yet, after the requests that the overruns of the cycle before tell of."""
        asked: dict[tuple[tuple[str, str, str], bool], float] = {}
        for each in before:
            if each.asked:
                key = (each.schedd, each.job, each.slot), each.action is OverrunAction.REMOVE
                asked[key] = max(each.asked, asked.get(key, 0.0))
        return cls(now, asked)

    def with_request(self, overrun: Overrun, startd: str, grace: float) -> Overrun:
        """Return an overrun with the time of the last request; request the end of its job if that is due."""
        if overrun.action is OverrunAction.REPORT or overrun.since + grace > self.time:
            return overrun
        job, fast = (overrun.schedd, overrun.job, overrun.slot), overrun.action is OverrunAction.REMOVE
        of_job = max(self.asked.get((job, each), 0.0) for each in {fast, True})
        if of_job and 0 <= self.time - of_job < max(grace, _ASK_AGAIN):
            return attrs.evolve(overrun, asked=of_job)
        requested = attrs.evolve(overrun, asked=self.time)
        if job not in self.now or (fast and not self.now[job].fast):
            self.now[job] = Eviction(overrun=requested, startd=startd, fast=fast)
        return requested


def rule_of(reason: Reason) -> tuple[str, str]:
    """Return the plugin and the name of a reason's rule."""
    return reason.provenance.plugin, reason.provenance.rule


def _compared(now: Sequence[Overrun], before: Sequence[Overrun]) -> Overruns:
    known, left = {each.key for each in before}, {each.key for each in now}
    return Overruns(
        now=tuple(now),
        begun=tuple(each for each in now if each.key not in known),
        ended=tuple(sorted((each for each in before if each.key not in left), key=attrgetter("key"))),
    )


@attrs.define(eq=False)
class _Judge:
    """All policies over the running jobs of one cycle, (N,).

    ``unjudged`` (N,) are the jobs that some rule could not judge; ``_open`` has them by rule, and by plugin where a plugin failed.
    """

    running: JudgedJobs
    snapshot: Snapshot
    admitted: Admitted
    placed: PlacedPool
    in_use: Recount
    bundle: Bundle
    cycle: Cycle
    unjudged: Mask = attrs.field(init=False)
    failures: list[HookFailure] = attrs.field(factory=list, init=False)
    _open: dict[tuple[str, str], Mask] = attrs.field(factory=dict, init=False)
    _work: WorkAccounts = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        running = self.running
        self.unjudged = np.zeros(len(running), np.bool_)
        # Steps of their own: what is judged here takes none from the jobs that wait.
        self._work = WorkAccounts.of(running.slots, running.jobs[0])
        self._work.before_matching(len(running))

    def broken(self) -> Iterator[_Broken]:
        """Yield each rule that some running job breaks, in the order of the stations.

        What only waits for something, such as a filter whose slots are in use, denies nothing that runs.
        """
        parts = (self._of_daemons, self._of_owners, self._of_names, self._of_jobs, self._of_slots)
        for part in (*parts, self._of_placement, self._of_constraints, self._of_filters):
            for each in part():
                if len(each.rows) and each.reason.verdict is not Verdict.WAITING:
                    yield each

    def kept(self, before: Sequence[Overrun], found: Collection[tuple[str, ...]]) -> Iterator[Overrun]:
        """Yield the overruns of the cycle before that may last: their rules could not judge their jobs now."""
        if not self.unjudged.any():
            return
        left = [each for each in before if not each.is_limit and each.key not in found]
        rows = np.arange(len(self.running)) if left else np.zeros(0, np.intp)
        identities = self.running.identities(rows)
        here = {(schedd, job, slot): row for row, (schedd, job, _, slot, _) in enumerate(identities)}
        for each in sorted(left, key=attrgetter("key")):  # in an order that the encoding of the state keeps
            row = here.get((each.schedd, each.job, each.slot), -1)
            plugin, rule = rule_of(each.reason)
            places = ((plugin, rule), (plugin, ""), ("", each.reason.provenance.station))
            if row >= 0 and any(place in self._open and self._open[place][row] for place in places):
                yield each

    def _not_judged(self, rows: Rows, plugin: str, rule: str) -> None:
        """Note that a rule could not judge some jobs; an empty rule stands for all of a plugin, an empty plugin for a station's."""
        if len(rows):
            self.unjudged[rows] = True
            self._open.setdefault((plugin, rule), np.zeros(len(self.running), np.bool_))[rows] = True

    def _not_judged_by(self, rows: Rows, reason: Reason) -> None:
        """Note that the rule of a reason could not judge some jobs; one that does not enforce need not."""
        if reason.mode is Mode.ENFORCE:
            self._not_judged(rows, *rule_of(reason))

    def _failed(self, failures: Iterable[HookFailure], rows: Rows) -> None:
        for failure in failures:
            self.failures.append(failure)
            self._not_judged(rows, failure.plugin, "")

    def _gates(self, applied: AppliedGates, ads: Rows, jobs: Rows) -> Iterator[_Broken]:
        """Yield the gates that discard the ads of some jobs; ``ads`` (J,) are their rows, -1 for a job without one."""
        found = ads >= 0
        for gate, reason in applied.reasons():
            if gate.outside:
                continue
            self._not_judged_by(jobs[~found], reason)
            rows = jobs[found & gate.discard[ads]] if len(gate.discard) else jobs[:0]
            yield _Broken(reason, rows, gate.overruns, gate.overrun_grace)
        self._failed(applied.failures, jobs)

    def _of_daemons(self) -> Iterator[_Broken]:
        """Yield the gates on schedds and submitters, as the station *admit* applied them."""
        running, everybody = self.running, np.arange(len(self.running))
        gates, schedds, submitters = self.admitted.gates, self.snapshot.schedds, self.snapshot.submitters
        if len(schedds) and gates[AdKind.SCHEDD].tests:
            rows = _rows_of(names(schedds, "Name"), running.schedds)
            yield from self._gates(gates[AdKind.SCHEDD], rows, everybody)
        if len(submitters) and gates[AdKind.SUBMITTER].tests:
            pairs = _pairs(names(submitters, "Name"), names(submitters, "ScheddName"))
            rows = _rows_of(pairs, _pairs(running.submitters, running.schedds))
            yield from self._gates(gates[AdKind.SUBMITTER], rows, everybody)

    def _of_owners(self) -> Iterator[_Broken]:
        """Yield the gates on submitters for the owners of jobs under other names."""
        if self.bundle.accounting.trust_names:
            return
        found = OwnersAsSubmitters.of(self.running.jobs[0], self.snapshot.submitters)
        if len(found.rows):
            cycle = self._work.for_ads(self.cycle, AdKind.SUBMITTER)
            applied = AppliedGates.of(AdKind.SUBMITTER, found.ads, self.bundle, cycle)
            yield from self._gates(applied, found.of_jobs, found.rows)

    def _of_names(self) -> Iterator[_Broken]:
        """Yield the accounting names that belong to others."""
        jobs = self.running.jobs[0]
        if jobs.column("AccountingGroup").kind is Kind.ABSENT:
            return
        for mask, reason in not_permitted(jobs, self.bundle.accounting, users_of(self.snapshot.jobs)):
            if reason.mode is Mode.ENFORCE:
                yield _Broken(reason, np.flatnonzero(mask))

    def _of_jobs(self) -> Iterator[_Broken]:
        """Yield the gates on jobs; unknown ones are judged if all gates read only what a slot shows."""
        running, cycle = self.running, self._work.for_ads(self.cycle, AdKind.JOB)
        for number, ads in enumerate(running.ads):
            if not len(ads):
                continue
            rows = np.arange(len(ads)) + number * running.known
            applied = AppliedGates.of(AdKind.JOB, ads, self.bundle, cycle)
            if number and applied.gates:
                reads, failures = self.bundle.hooks.gate_attributes(self.bundle.settings)
                if failures or reads is None or not reads <= _SHOWN:
                    for _, reason in applied.reasons():
                        self._not_judged_by(rows, reason)
                    continue
            yield from self._gates(applied, rows - number * running.known, rows)

    def _of_slots(self) -> Iterator[_Broken]:
        """Yield the gates on slots."""
        running = self.running
        jobs = np.flatnonzero(running.rows >= 0)
        _, first, of_jobs = np.unique(running.rows[jobs], return_index=True, return_inverse=True)
        if len(first):
            cycle = self._work.for_ads(self.cycle, AdKind.STARTD)
            ads = running.offered.take(jobs[first])
            yield from self._gates(AppliedGates.of(AdKind.STARTD, ads, self.bundle, cycle), of_jobs, jobs)

    def _of_placement(self) -> Iterator[_Broken]:
        """Yield why placement and access policies deny jobs.

        The queue and the groups of an unknown job are its ad's: only an application that was placed before, and that its user may
        still submit, is known to be permitted.
        """
        running = self.running
        for number, (placed, places) in enumerate(zip(self.placed.in_use, running.of_placed, strict=True)):
            permitted = np.ones(len(places), np.bool_)
            for denied, reason in placed.denied:
                permitted[denied] = False
                rows = places[denied][places[denied] >= 0]
                if not number and reason.verdict is not Verdict.BROKEN_PLUGIN:
                    yield _Broken(reason, rows)
                elif not number:
                    self._not_judged(rows, "", Station.PLACE)
            if number and placed.kinds is not None and QUEUES in self.bundle.files:
                unknown = places[(places >= 0) & ~(permitted & (placed.kinds < 0))]
                self._not_judged(unknown, "", Station.PLACE)

    def _of_constraints(self) -> Iterator[_Broken]:
        """Yield the conjuncts of central constraints that are not true of a job and its slot; of each constraint the first one."""
        running = self.running
        for constraint in self.bundle.constraints:
            record = constraint.record
            for number in range(2):
                left = np.flatnonzero((running.rows >= 0) & (running.is_unknown == bool(number)))
                missing = np.flatnonzero((running.rows < 0) & (running.is_unknown == bool(number)))
                for conjunct in constraint.conjuncts:
                    self._not_judged_by(missing, conjunct.reason)
                    if not len(left):
                        break
                    if number and not self._is_shown(constraint, conjunct.expression):
                        self._not_judged_by(left, conjunct.reason)
                        continue
                    rows = self._not_true(constraint, conjunct.expression, left, number)
                    yield _Broken(conjunct.reason, rows, record.overruns, record.overrun_grace)
                    left = np.setdiff1d(left, rows, assume_unique=True)

    def _is_shown(self, constraint: BoundConstraint, expression: Expr) -> bool:
        """True if an expression reads nothing of jobs but what their slots show."""
        closure, _ = self.running.closures[1]
        reads = closure.of_expression(_other(constraint.slot_side), expression)
        return reads is not None and reads <= _SHOWN

    def _not_true(self, constraint: BoundConstraint, expression: Expr, rows: Rows, number: int) -> Rows:
        """Return the jobs, of some of one table, on whose slots an expression is not true.

        Pairs are evaluated by classes of jobs that the expression cannot tell apart, each with its own slots alone; by classes of
        slots where there are fewer of these.
        """
        running = self.running
        jobs = running.ads[number].take(rows - number * running.known)
        slots = running.offered.take(rows)
        slot_side = constraint.slot_side
        by_jobs = True
        of_job, of_slot = running.closures[number]
        classes = expression_classes(of_job, jobs, expression, _other(slot_side))
        if len(classes.significant) > _FEW:
            of_slots = expression_classes(of_slot, slots, expression, slot_side)
            by_jobs = len(classes.significant) <= len(of_slots.significant)
            classes = classes if by_jobs else of_slots
        ones, many, side = (jobs, slots, slot_side) if by_jobs else (slots, jobs, _other(slot_side))
        found = np.zeros(len(rows), np.bool_)
        order = np.argsort(classes.ids, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(classes.ids[order])) + 1):
            one = ones.ad(int(members[0]))
            env = self._environment(one, by_jobs=by_jobs)
            true = evaluate_table(expression, many.take(members), one, side=side, env=env).is_true()
            found[members] = ~np.broadcast_to(true, (len(members),))
        return rows[found]

    def _environment(self, one: Ad, *, by_jobs: bool) -> Environment:
        """Return the environment for an ad with several of the other side: each pays for its own expressions."""
        if by_jobs:
            return for_policy(self._work.for_job(self.cycle, one)).environment
        payers = Payers(self._work.owner, self._work.machine(one))
        return for_policy(attrs.evolve(self.cycle, payers=payers)).environment

    def _of_filters(self) -> Iterator[_Broken]:
        """Yield what filters of plugins deny, claims that are alike together."""
        if not self.bundle.hooks.uses(specs.negotiator_filter_slots):
            return
        running = self.running
        for claims in self.in_use.claims:
            if claims.pending:
                continue
            number = int(claims.jobs is not self.placed.running.jobs)
            here = running.of_placed[number][claims.rows]
            on_slots = (here >= 0) & (claims.slot_rows >= 0)
            rows = here[on_slots]
            here = here[here >= 0]
            if not len(here):
                continue
            request = claims.request.as_idle()
            answers = self.bundle.hooks.ask(
                specs.negotiator_filter_slots,
                request=request,
                slots=running.offered.take(rows),
                cycle=self._work.for_job(self.cycle, request.ad),
                settings=self.bundle.settings,
            )
            self._failed(answers.failures, here)
            not_judged = here if number else np.setdiff1d(here, rows)
            for attributed in answers.records:
                reason = plugin_reason(Station.MATCH, attributed)
                self._not_judged_by(not_judged, reason)
                if not number:
                    yield _Broken(reason, np.sort(rows[~attributed.record.allow]))


#: The number of classes that is not worth looking for fewer ones.
_FEW = 50


def _other(side: Side) -> Side:
    return Side.TARGET if side is Side.MY else Side.MY


def _pairs(first: Strings, second: Strings) -> Strings:
    found = np.empty(len(first), np.object_)
    found[:] = list(zip(first.tolist(), second.tolist(), strict=True))
    return found


def _rows_of(keys: Strings, wanted: Strings) -> Rows:
    """Return the row of the first ad with each key, -1 if there is none."""
    rows: dict[object, int] = {}
    for row, key in enumerate(keys.tolist()):
        rows.setdefault(key, row)
    return np.fromiter((rows.get(key, -1) for key in wanted.tolist()), np.intp, len(wanted))
