"""Decisions of Grid Engine, made by what a cycle uses: the hooks of the plugin, and the ledger.

A cycle matches one job with one slot, in the queue of the job. A job of Grid Engine may run in any queue, and a parallel
one takes slots of several hosts: this driver calls the hooks for a job of one slot in each queue, and takes one slot after
the other as a cycle does. It knows no rule of quota sets.
"""

import itertools
import re
import sys
from collections.abc import Mapping
from operator import itemgetter

import attrs
import numpy as np

from negotiator.cycle.charge import Charges
from negotiator.hooks import specs
from negotiator.ledger import Grouping, Ledger
from negotiator.plugin import CounterUsage, Cycle, PluginUsage, Request
from negotiator.records import Mode
from negotiator_quotasets.complexes import SLOTS, Consumable, Requestable
from pools import NOW
from pools import job as job_ad

PLUGIN = "quotasets"
ROUND_ROBIN, PE_SLOTS = "$round_robin", "$pe_slots"
"""How a parallel environment spreads the slots of a job: over hosts, or all on one (sge_pe(5))."""

_CYCLE = Cycle(1, NOW, "tests")
_RULE, _LIMIT = "resource_quota", re.compile(r'exceeds limit "(.*)" in rule "')


@attrs.frozen
class Job:
    """A running job or a request; ``queue`` and ``host`` restrict where it runs, empty for anywhere."""

    user: str
    groups: tuple[str, ...] = ()
    project: str | None = None
    pe: str | None = None
    slots: int = 1
    resources: Mapping[str, str] = attrs.field(factory=dict)  # by full name
    queue: str = ""
    host: str = ""


@attrs.frozen
class Denier:
    """A rule that denies a job, and the values of its expanded filters as Grid Engine prints them."""

    rule: str
    key: str


@attrs.frozen
class Decision:
    """``slots`` is the most that the job could have now; ``denied_by`` are the rules that deny it."""

    allowed: bool
    slots: int
    denied_by: frozenset[Denier] = frozenset()


@attrs.frozen(eq=False)
class _Answers:
    """The answers of the plugin for a job of one slot in one queue.

    ``per_job`` are the charges on complexes that a job consumes once, ``per_slot`` all others.
    """

    queue: str
    charges: Charges
    per_job: Charges
    per_slot: Charges
    filters: tuple


@attrs.frozen(eq=False)
class _Search:
    """The search for the slots of a job: the counters that count in every place, the rules that deny it, as they are found, and how many slots are looked for at most."""

    job: Job
    everywhere: set
    deniers: set
    most: int


class Allocation:
    """Makes decisions under a bundle's quotas and the running jobs."""

    def __init__(self, site, settings):
        """Begin without running jobs.

        :param site: the queues and hosts, see ``gridengine_cluster.Site``.
        :param settings: of the plugin.
        """
        self.site, self.settings = site, settings
        self._sets = [each.name for each in settings.sets]
        self._complexes = settings.gridengine.all_complexes
        self.ledger = Ledger()
        everything = {**site.settings, PLUGIN: settings}
        site.hooks.job_attributes(everything)  # what the plugin may read
        site.hooks.make_policies(site.queue_tree, everything)

    def usage(self):
        """The usage as commands read it."""
        sums = {key[1:]: amount for key, amount in self.ledger.counters() if key[0] == PLUGIN}
        return PluginUsage(CounterUsage(sums, {}, {}), self.site.slots, self.site.queue_tree)

    def run(self, job):
        """Charge a running job without limits, as a cycle does."""
        queue, row = next(self._places(job))
        charges = self._charges(_request(job, queue, job.slots)).unlimited()
        self.ledger.commit(charges.admit(self.ledger, np.array([row]), 1, Mode.ENFORCE))

    def decide(self, job, *, counts=True):
        """Return whether a job may run now, and what denies it.

        :param counts: how many slots it may have at most matters; otherwise no more are looked for than it needs.
        """
        if not self._may_request(job):
            return Decision(allowed=False, slots=0)
        answers = {queue: self._answers(job, queue) for queue in self.site.queues}
        deniers = set()
        places = [(answers[queue], row) for queue, row in self._places(job)]
        places = [place for place in places if self._may_start(*place, job, deniers)]
        everywhere = set.intersection(*(_plain_counters(each.charges) for each in answers.values()))
        search = _Search(job, everywhere, deniers, sys.maxsize if counts else job.slots)
        slots = max((self._offered(side, search) for side in self._sides(job, places)), default=0)
        allowed = slots >= job.slots
        if (
            not allowed and not deniers
        ):  # nothing but what a job takes once, of which Grid Engine tells nothing
            stops = [(self._stop(each.per_job, row), row) for each, row in places]
            deniers.update(self._denier_of_charge(stop, row) for stop, row in stops if _is_rule(stop))
        return Decision(allowed, slots, frozenset() if allowed else frozenset(deniers))

    def _may_request(self, job):
        """Grid Engine refuses other requests when the job is submitted; slots are requested by the environment."""
        complexes = [self._complexes.find(name) for name in job.resources]
        return SLOTS not in job.resources and all(
            each is not None and each.requestable is not Requestable.NO for each in complexes
        )

    def _places(self, job):
        """Yield each queue with each of its hosts on which a job may run."""
        for queue, hosts in self.site.queues.items():
            for host in hosts:
                if job.queue in ("", queue) and job.host.lower() in ("", host.lower()):
                    yield queue, self.site.hosts.index(host)

    def _answers(self, job, queue):
        request = _request(job, queue, slots=1)
        charges = self._charges(request)
        once = [self._is_per_job(each) for each in charges.sums]
        found = self._ask(specs.negotiator_filter_slots, request=request)
        return _Answers(
            queue,
            charges,
            Charges(tuple(itertools.compress(charges.sums, once)), ()),
            Charges(tuple(each for each, skip in zip(charges.sums, once, strict=True) if not skip), ()),
            tuple(each.record for each in found.records),
        )

    def _charges(self, request):
        found = self._ask(
            specs.negotiator_charges, request=request, queues=self.site.queue_tree, order="names"
        )
        return Charges.of(found.records, enforcing=True)

    def _ask(self, hook, **arguments):
        settings = {**self.site.settings, PLUGIN: self.settings}
        found = self.site.hooks.ask(hook, slots=self.site.slots, cycle=_CYCLE, settings=settings, **arguments)
        assert not found.failures
        return found

    def _is_per_job(self, charge):
        complex_ = self._complexes.find(charge.record.label.resource)
        return complex_ is not None and complex_.consumable is Consumable.JOB

    def _may_start(self, answers, row, job, deniers):
        """True if a place fulfils the initial needs of a job; record the first set that denies it.

        Where a consumable is used up that a job takes once, a parallel job may still have slots.
        """
        denied = [each for each in answers.filters if not each.allow[row]]
        if not denied and (job.pe in self.site.pes or self._may_lead(answers, row)):
            return True
        found = [self._denier_of_filter(each, row) for each in denied if each.code == _RULE]
        stop = self._stop(answers.charges, row)
        if _is_rule(stop):
            found.append(self._denier_of_charge(stop, row))
        deniers.update(sorted(found, key=self._order)[:1])
        return False

    def _may_lead(self, answers, row):
        """True if a place has what a job takes once: a parallel job takes it where its first task runs."""
        return self._stop(answers.per_job, row) is None

    def _stop(self, charges, row):
        """Return the first charge that does not fit on a place."""
        (stop,) = charges.admit(self.ledger, np.array([row]), 1, Mode.ENFORCE).stops.tolist()
        return charges.sums[stop] if stop >= 0 else None

    def _order(self, denier):
        return self._sets.index(denier.rule.partition("/")[0])

    def _sides(self, job, places):
        """Return the places among which the slots of a job may be spread."""
        return _by_host(places) if self._rule(job) == PE_SLOTS else [places]

    def _rule(self, job):
        """Return the allocation rule of a job's parallel environment."""
        return self.site.pes.get(job.pe, ROUND_ROBIN)

    def _offered(self, places, search):
        """Return how many slots these places offer; one less than needed if the job's first task can run in none."""
        job, rule = search.job, self._rule(search.job)
        leading = [place for place in places if self._may_lead(*place)]
        if len(leading) < len(places):
            places = [*leading, *(place for place in places if place not in leading)]
        if rule.isdigit():
            taken, receipts = self._take_by_host(places, search, int(rule))
        else:
            # For a job on one host Grid Engine names only what leaves no slot there.
            taken, receipts = self._take(places, search, 1 if rule == PE_SLOTS else job.slots, search.most)
        self.ledger.release_all(receipts)
        return taken if leading else min(taken, job.slots - 1)

    def _take_by_host(self, places, search, number):
        """Take so many slots on each host that has them; see sge_pe(5), ``allocation_rule``."""
        taken, receipts = 0, []
        for side in _by_host(places) if not search.job.slots % number else ():
            found, its_receipts = self._take(side, search, number, number)
            if found < number:
                self.ledger.release_all(its_receipts)
            else:
                taken += number
                receipts += its_receipts
        return taken, receipts

    def _take(self, places, search, enough, most):
        """Take slots in turn until none is left, or ``most``; note what denies one before there are enough.

        What denies all places ends the search, as in Grid Engine.
        """
        receipts, taken, ended = [], 0, False
        while places and taken < most:
            left = []
            for answers, group in itertools.groupby(places, key=itemgetter(0)):
                own = [row for _, row in group]
                rows = np.array(own[: most - taken], np.intp)
                left += [(answers, row) for row in own[most - taken :]]
                admission = answers.per_slot.admit(self.ledger, rows, len(rows), Mode.ENFORCE)
                receipts += self.ledger.commit(admission)
                for row, stop in zip(rows.tolist(), admission.stops.tolist(), strict=True):
                    if stop < 0:
                        taken += 1
                        left.append((answers, row))
                    elif taken < enough and not ended:
                        charge = answers.per_slot.sums[stop]
                        if _is_rule(charge):
                            search.deniers.add(self._denier_of_charge(charge, row))
                        ended = charge.record.counter in search.everywhere
            places = left
        return taken, receipts

    def _denier_of_charge(self, charge, row):
        counter = charge.record.counter
        key = counter.keys[int(counter.codes[row])] if isinstance(counter, Grouping) else counter
        return Denier(charge.record.label.rule, "".join(f"{part}/" for part in key[3:]))

    def _denier_of_filter(self, found, row):
        """Return the rule that denies; the text names the first of several hosts."""
        *parts, host, _ = _LIMIT.search(found.text)[1].split("/")
        parts.append(self.site.hosts[row] if host else "")
        return Denier(found.rule, "".join(f"{part}/" for part in parts))


def _is_rule(charge):
    return charge is not None and charge.record.label.code == _RULE


def _by_host(places):
    """Return the places on each host."""
    return [
        [place for place in places if place[1] == row] for row in dict.fromkeys(map(itemgetter(1), places))
    ]


def _plain_counters(charges):
    return {each.record.counter for each in charges.sums if not isinstance(each.record.counter, Grouping)}


def _request(job, queue, slots):
    names = {"Project": job.project, "ParallelEnvironment": job.pe}
    names |= {f"Request{name}": value for name, value in job.resources.items()}
    ad = job_ad(
        Owner=f'"{job.user}"',
        RequestCpus=str(slots),
        **{name: None if value is None else f'"{value}"' for name, value in names.items()},
    )
    return Request(
        submitter=f"{job.user}@d",
        schedd="schedd",
        ad=ad,
        count=1,
        first_job="1.0",
        queue=f"root.{queue}",
        user=job.user,
        groups=job.groups,
        applications=("schedd#1",),
    )
