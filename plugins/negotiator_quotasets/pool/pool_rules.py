"""The rules over the slots of a pool: what job and slot ads say, in the words of Grid Engine.

Hosts are the slots' machines, and the queue is the job's. What a job asks for of a complex is its ``RequestNAME``, what a
host has is the slot's attribute of that name, where ``gridengine.yaml`` says nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    UNDEFINED,
    Charge,
    Environment,
    Filter,
    Request,
    Table,
    Value,
    Verdict,
    evaluate_table,
    printable,
    unparse_value,
)
from negotiator_quotasets.complexes import Complex, Complexes, parse_number
from negotiator_quotasets.matching import (
    BoundedCache,
    ClaimantRules,
    Codes,
    HostQueueIndex,
    Hosts,
    Rules,
    queue_matches,
)
from negotiator_quotasets.pool.capacities import CODE as CAPACITY
from negotiator_quotasets.pool.capacities import Capacities, Offers
from negotiator_quotasets.requests import QuotaRequest, RequestReader, RequestValues, Situation, text_of
from negotiator_quotasets.settings import QuotaSettings

_MAX_HOST = 255  # characters of a machine's name
_KEPT = 20_000  # readings of requests


class _Read(NamedTuple):
    """A reading, what the rules say to whom it is, and what a match is charged."""

    reading: QuotaRequest
    account: ClaimantRules
    charges: tuple[Charge, ...]


class PoolRules:
    """The rules and the capacities over the slots of one table."""

    def __init__(self, settings: QuotaSettings, terms: RequestReader, slots: Table, env: Environment) -> None:
        engine = settings.gridengine
        codes, first, names = _machines(slots)
        self._one_slot_each, self._env = slots.take(first), env
        self._situation = Situation(env, slots.names())
        self._terms, self._engine = terms, engine
        self._hosts = Hosts(names, engine.hostgroups, ignore_domain=engine.ignore_fqdn)
        self._told: dict[str, Sequence[str | None]] = {}
        values = {name: self._numbers(name) for name in sorted(terms.formulas)}
        self.spots = HostQueueIndex(self._hosts, np.arange(len(first)), codes, (), values)
        complexes = engine.all_complexes
        self._rules = Rules(settings.sets, complexes, engine.usersets, self.spots)
        offers = Offers(engine.everywhere, self._of_host, lru_cache(1000)(self._of_queue))
        self._capacities = Capacities(offers, Complexes(terms.complexes), self.spots)
        self._kept = BoundedCache[_Read](_KEPT)
        self._last: tuple[Request, _Read] | None = None

    def charges(self, request: Request) -> Sequence[Charge]:
        """What each match of a request is charged; where something can't be read it is filtered, and what runs still counts."""
        return self._read(request).charges

    def filters(self, request: Request) -> Iterable[Filter]:
        """Where a request must not be matched, whatever is used."""
        read = self._read(request)
        reading = read.reading
        if not (reading.wrong or reading.asked.values or self._capacities.forced):
            return ()
        return self._filters(reading, read.account)

    def _filters(self, read: QuotaRequest, account: ClaimantRules) -> Iterator[Filter]:
        nowhere = np.zeros(len(self.spots.codes), np.bool_)
        if read.wrong:
            text = printable(f"what the job asks for can't be read: {read.wrong}"[:500])
            verdict = Verdict.MISCONFIGURED
            yield Filter(rule="request", allow=nowhere, code="request_unreadable", text=text, verdict=verdict)
            return
        for bound in account.refusals(read.asked):
            quota = bound.quota
            allow = nowhere if bound.where is None else ~bound.where
            yield Filter(
                rule=quota.rule, allow=allow, code=quota.code, text=bound.text(), source=quota.source
            )
        for shortage in self._capacities.shortages(read.claimant.queue, read.asked, read.requested):
            name = f"complex {shortage.complex.name}"
            yield Filter(
                rule=name, allow=shortage.allow, code=CAPACITY, text=f"cannot run because {shortage.text}"
            )

    def _read(self, request: Request) -> _Read:
        if self._last is None or self._last[0] is not request:  # asked about twice in a row
            said = self._terms.said(request, self._situation)
            try:
                read = self._kept.get(said.key, self._fresh, said)
            except TypeError:  # a list, or an ad
                read = self._fresh(said)
            self._last = request, read
        return self._last[1]

    def _fresh(self, said: RequestValues) -> _Read:
        reading = self._terms.read(said)
        claimant, asked = reading.claimant, reading.asked
        account = self._rules.account(claimant)
        charges = (*account.charges(asked), *self._capacities.charges(claimant.queue, asked))
        return _Read(reading, account, charges)

    def _of_host(self, name: str) -> Sequence[str | None]:
        """What each host has of a complex, (H,): as it is declared, else as its slots say."""
        if name not in self._told:
            column = evaluate_table(self._terms.value_of(name), self._one_slot_each, env=self._env)
            found = [_offered(column.value(row)) for row in range(len(column))]
            for host, values in self._engine.of_hosts.items():
                for row in np.flatnonzero(self._hosts.named(host)).tolist() if name in values else ():
                    found[row] = values[name]
            self._told[name] = found
        return self._told[name]

    def _of_queue(self, queue: str) -> Mapping[str, str]:
        """What a queue has on each of its hosts."""
        found: dict[str, str] = {}
        for name, values in self._engine.of_queues.items():
            if queue_matches(name, queue):
                found |= values
        return found

    def _numbers(self, name: str) -> Sequence[Fraction | None]:
        complex_ = self._engine.all_complexes.find(name)
        if complex_ is None:
            return [None] * len(self._hosts)
        return [_number(complex_, text) for text in self._of_host(name)]


def _machines(slots: Table) -> tuple[Codes, NDArray[np.intp], list[str]]:
    """The number of each slot's host, (N,), the first slot of each host, (H,), and the hosts' names. Names have no case.

    Slots that name no machine are on one host, without a name: what that has is shared.
    """
    numbers: dict[str, int] = {}
    told = [printable((name or "")[:_MAX_HOST]) for name in slots.strings("Machine").tolist()]
    codes = np.array([numbers.setdefault(name.lower(), len(numbers)) for name in told], np.int32)
    first = np.unique(codes, return_index=True)[1]
    return codes, first, [told[row] for row in first.tolist()]


def _offered(value: Value) -> str | None:
    """What a slot says of a complex, if it says anything; what has no value in Grid Engine fits nobody."""
    return None if value is UNDEFINED else text_of(value) or unparse_value(value)


def _number(complex_: Complex, text: str | None) -> Fraction | None:
    try:
        return None if text is None else parse_number(complex_.type, text)
    except ValueError:
        return None
