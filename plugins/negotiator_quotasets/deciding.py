"""The quota interface: may this job run, on which places, and which rule says no; also for jobs over several hosts.

A negotiation cycle matches one job with one slot; Grid Engine's parallel jobs take slots of several hosts and queues. This
answers what their administrators ask ("may alice start 20 slots of mpi now?") with the same rules, charges and ledger as a
cycle. Source: sched_conf(5), sge_pe(5) allocation_rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger import Ledger
from negotiator.plugin import Charge, CounterKey, Grouping, Quota
from negotiator_quotasets.complexes import SLOTS, Complexes, Consumable, Requestable
from negotiator_quotasets.language import RuleSet
from negotiator_quotasets.matching import CODE, HostQueueIndex, Rules, joined
from negotiator_quotasets.pool import Capacities, Offers
from negotiator_quotasets.requests import Claimant, RequestedResources, requested_resources

#: How a parallel environment spreads the slots of a job: over hosts, or all on one.
ROUND_ROBIN, PE_SLOTS = "$round_robin", "$pe_slots"
Rows = NDArray[np.intp]


@attrs.frozen
class Job:
    """A job that runs or that asks; ``queue`` and ``host`` are where it runs, or where alone it may, empty for anywhere."""

    user: str
    groups: tuple[str, ...] = ()
    project: str | None = None
    pe: str | None = None
    slots: int = 1
    resources: Mapping[str, str] = attrs.field(factory=dict)  # by full name
    queue: str = ""
    host: str = ""

    @property
    def claimant(self) -> Claimant:
        """Whose it is; its queue is that of each place."""
        return Claimant(self.user, self.groups, self.project, self.pe)


@attrs.frozen
class Denier:
    """What said no: a rule, and the counter's values of expanded filters; a layer below the sets has no rule."""

    rule: str
    key: str


@attrs.frozen
class AllocationDecision:
    """``slots`` is the most that the job could have now; ``denied_by`` the rules that said no, where it may not run."""

    allowed: bool
    slots: int
    denied_by: frozenset[Denier] = frozenset()
    by_other_layer: frozenset[str] = frozenset()


class AllocationSimulator:
    """Decides over places, under the rules and the capacities of a pool, beside what runs."""

    def __init__(
        self,
        sets: Sequence[RuleSet],
        complexes: Complexes,
        usersets: Mapping[str, Sequence[str]],
        spots: HostQueueIndex,
        offers: Offers,
        pes: Mapping[str, str],
    ) -> None:
        self._complexes, self._spots, self._pes = complexes, spots, pes
        self._rules = Rules(sets, complexes, usersets, spots)
        self._capacities = Capacities(offers, complexes, spots)
        self.ledger = Ledger()

    def run(self, job: Job) -> None:
        """Count a job that runs, whatever the limits say.

        :raises ValueError: it runs on no place that is known.
        """
        rows = self._places(job)
        if not len(rows):
            raise ValueError(f"there is no queue {job.queue!r} on a host {job.host!r}")
        asked = requested_resources(self._complexes, job.resources, job.slots)
        charges = [attrs.evolve(each, limit=None, probes=False) for each in self._charges(job, asked)]
        self.ledger.commit(self.ledger.admit(charges, (), rows[:1], 1))

    def decide(self, job: Job) -> AllocationDecision:
        """Whether a job may run now.

        :raises ValueError: what it asks for can't be read.
        """
        if SLOTS in job.resources or not self._requestable(job):
            return AllocationDecision(allowed=False, slots=0, by_other_layer=frozenset({"request"}))
        asked = requested_resources(self._complexes, job.resources, 1)
        noted = _Noted()
        rows = self._fitting(job, asked, noted)
        charges = list(self._charges(job, asked))
        each = [charge for charge in charges if not self._is_per_job(charge)]
        if len(each) < len(charges):  # what is taken once has to fit where the job is
            rows = np.array([row for row in rows.tolist() if self._fits_once(charges, row, noted)], np.intp)
        found = max((self._take(each, side, job, noted) for side in self._sides(job, rows)), default=0)
        if found >= job.slots:
            return AllocationDecision(allowed=True, slots=found)
        return AllocationDecision(False, found, frozenset(noted.deniers), frozenset(noted.layers))

    def _requestable(self, job: Job) -> bool:
        found = (self._complexes.find(name) for name in job.resources)
        return all(each is not None and each.requestable is not Requestable.NO for each in found)

    def _places(self, job: Job) -> Rows:
        spots = self._spots
        hosts = spots.hosts.named(job.host)[spots.host_of] if job.host else np.ones(len(spots), np.bool_)
        queues = np.array([not job.queue or queue == job.queue for queue in spots.queues], np.bool_)
        return np.flatnonzero(hosts & queues)

    def _charges(self, job: Job, asked: RequestedResources) -> Iterator[Charge]:
        yield from self._rules.account(job.claimant).charges(asked)
        yield from self._capacities.charges("", asked)

    def _fitting(self, job: Job, asked: RequestedResources, noted: _Noted) -> Rows:
        """The places where what is not consumed is as the job asks."""
        rows, account = self._places(job), self._rules.account(job.claimant)
        for bound in account.refusals(asked):
            denied = np.ones(len(self._spots), np.bool_) if bound.where is None else bound.where
            before = list(account.charges(asked, bound.after))
            for row in rows[denied[rows]].tolist():
                if self._has_room(before, row, noted):
                    noted.stop(bound.quota, bound.counter, row)
            rows = rows[~denied[rows]]
        rules = list(account.charges(asked))
        for shortage in self._capacities.shortages("", asked, job.resources):
            for row in rows[~shortage.allow[rows]].tolist():
                if self._has_room(rules, row, noted):  # the quota sets are the first layer
                    noted.layers.add(shortage.text)
            rows = rows[shortage.allow[rows]]
        return rows

    def _is_per_job(self, charge: Charge) -> bool:
        label = charge.label
        complex_ = self._complexes.find(label.resource) if isinstance(label, Quota) else None
        return complex_ is not None and complex_.consumable is Consumable.JOB

    def _fits_once(self, charges: Sequence[Charge], row: int, noted: _Noted) -> bool:
        """Whether a place has room for what a job takes once, however many slots it has."""
        fits = self._stop(list(filter(self._is_per_job, charges)), row) is None
        return fits or self._has_room(charges, row, noted)

    def _has_room(self, charges: Sequence[Charge], row: int, noted: _Noted) -> bool:
        """Whether a place has room for one slot; if not, what says no is noted."""
        stop = self._stop(charges, row)
        if stop is not None:
            noted.charge(stop, row)
        return stop is None

    def _stop(self, charges: Sequence[Charge], row: int) -> Charge | None:
        """The first charge that does not fit on a place."""
        if not charges:
            return None
        (stop,) = self.ledger.admit(charges, (), np.array([row]), 1).stops.tolist()
        return charges[stop] if stop >= 0 else None

    def _sides(self, job: Job, rows: Rows) -> Iterator[Rows]:
        """The places among which the slots of a job may be spread."""
        if self._pes.get(job.pe or "", ROUND_ROBIN) != PE_SLOTS:
            yield rows
            return
        hosts = self._spots.host_of[rows]
        for host in dict.fromkeys(hosts.tolist()):
            yield rows[hosts == host]

    def _take(self, charges: Sequence[Charge], rows: Rows, job: Job, noted: _Noted) -> int:
        """How many slots some places have together, and what said no before there were enough.

        Slots are taken place by place in turn. What says no to all places ends the search, as it does in Grid Engine;
        and where a job goes on one host whole, only what leaves no slot there is told.
        """
        whole = self._pes.get(job.pe or "") == PE_SLOTS
        before, taken, ended = self.ledger.snapshot(), 0, False
        while len(rows):
            admission = self.ledger.admit(charges, (), rows, len(rows))
            self.ledger.commit(admission)
            for row, stop in zip(rows.tolist(), admission.stops.tolist(), strict=True):
                taken += stop < 0
                if stop >= 0 and taken < (1 if whole else job.slots) and not ended:
                    noted.charge(charges[stop], row)
                    ended = not isinstance(charges[stop].counter, Grouping)
            rows = admission.rows
        self.ledger.restore(before)
        return taken


class _Noted:
    """What said no to a job."""

    def __init__(self) -> None:
        self.deniers: set[Denier] = set()
        self.layers: set[str] = set()

    def charge(self, charge: Charge, row: int) -> None:
        """Note a charge that did not fit on a place."""
        if not isinstance(charge.label, Quota):
            raise TypeError("all charges here have quotas")
        self.stop(charge.label, charge.counter, row)

    def stop(self, quota: Quota, counter: CounterKey | Grouping, row: int) -> None:
        """Note what said no to a place."""
        key = counter.keys[int(counter.codes[row])] if isinstance(counter, Grouping) else counter
        if quota.code == CODE:
            self.deniers.add(Denier(quota.rule, joined(key[2:])))
        else:
            named = "" if quota.text_after is None else f"{key[-1]}{quota.text_after}"
            self.layers.add(f"{quota.text}{named}")
