"""The rules over the slots of a pool: what job and slot ads say, in the words of Grid Engine.

Hosts are the slots' machines, and the queue is the job's. What a job asks for of a complex is its ``RequestNAME``, what a
host has is the slot's attribute of that name, where ``gridengine.yaml`` says nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from negotiator.classad import (
    UNDEFINED,
    Environment,
    Expr,
    Table,
    Value,
    evaluate_table,
    parse,
    unparse_value,
)
from negotiator.hooks import Charge, Filter, Request
from negotiator.records import Verdict
from negotiator.records.text import printable
from negotiator_quotasets.capacities import CODE as CAPACITY
from negotiator_quotasets.capacities import Capacities, Offers
from negotiator_quotasets.complexes import Complex, Complexes
from negotiator_quotasets.jobs import LARGEST, SLOTS, Asked, Claimant, asked_for
from negotiator_quotasets.names import Hosts, queue_matches
from negotiator_quotasets.rules import Account, Rules
from negotiator_quotasets.said import Said
from negotiator_quotasets.settings import QuotaSettings
from negotiator_quotasets.spots import Codes, Spots
from negotiator_quotasets.values import matches, number

T = TypeVar("T")

#: What a host has, where its slots say it by another name.
_OF_SLOTS = {
    "num_proc": parse("MY.num_proc ?: MY.TotalCpus ?: MY.DetectedCpus ?: MY.Cpus"),
    "hostname": parse("MY.Machine"),
}


#: Characters of what ads call things: it stands in reasons and in counters.
_MAX_NAME, _MAX_HOST = 200, 255


class Situation(NamedTuple):
    """What expressions are evaluated in, and which attributes slots have (in lower case): no job may borrow these."""

    env: Environment
    of_slots: frozenset[str] = frozenset()


class Terms:
    """How a bundle reads jobs and slots: the complexes that count, and the expressions of each."""

    def __init__(self, settings: QuotaSettings) -> None:
        engine = settings.gridengine
        declared = {each.name: each for each in engine.complexes}
        limited = {limit.resource for each in settings.sets for rule in each.rules for limit in rule.limits}
        offered = set(engine.everywhere).union(*engine.of_hosts.values(), *engine.of_queues.values())
        self.active = bool(settings.sets or offered)
        self.complexes: tuple[Complex, ...] = tuple(
            each for each in engine.all_complexes if each.name in {*declared, *limited, *offered}
        )
        self.formulas = {
            term.complex
            for each in settings.sets
            for rule in each.rules
            for limit in rule.limits
            for term in limit.terms
            if term.complex
        }
        self._project, self._pe = Said(engine.job.project.tree), Said(engine.job.pe.tree)
        self._slots = Said(engine.job.slots.tree)
        requests = {name: each.request.tree for name, each in declared.items() if each.request}
        self._requests = [
            (each, Said(requests.get(each.name) or _attribute(f"Request{each.name}")))
            for each in self.complexes
            if each.name != SLOTS
        ]
        self._values = {name: each.value.tree for name, each in declared.items() if each.value}

    def attributes(self) -> frozenset[str]:
        """The attributes of jobs that are read, in lower case."""
        if not self.active:
            return frozenset()
        read = (self._project, self._pe, self._slots, *(said for _, said in self._requests))
        return frozenset().union(*(said.names for said in read))

    def claimant(self, request: Request, at: Situation, wrong: list[str]) -> Claimant:
        """Whose the jobs of a request are; ``wrong`` gets what can't be read, which they are taken not to have."""
        project = _tried(wrong, None, lambda: _name("project", self._project.by(request.ad, *at)))
        pe = _tried(wrong, None, lambda: _name("parallel environment", self._pe.by(request.ad, *at)))
        owner = request.user or request.ad.string("Owner") or ""  # where nothing places jobs in queues
        user = _tried(wrong, None, lambda: _name("user", owner)) or ""
        return Claimant(user, request.groups, project, pe, request.queue)

    def asked(self, request: Request, at: Situation, wrong: list[str]) -> tuple[Asked, Mapping[str, object]]:
        """What each job of a request asks for; and what it says of it itself.

        ``wrong`` gets what can't be read; that is taken not to be asked for, so that a job that runs counts all the same.
        """
        requested: dict[str, str | Fraction] = {}
        for complex_, said in self._requests:
            value = _tried(wrong, None, lambda: _said(complex_, said.by(request.ad, *at)))  # noqa: B023 - asked at once
            if value is not None:
                requested[complex_.name] = value
        slots = _tried(wrong, 1, lambda: _slots(self._slots.by(request.ad, *at)))
        return asked_for(self.complexes, requested, slots), requested

    def value_of(self, name: str) -> Expr:
        """What a host has of a complex, of the ad of one of its slots."""
        return self._values.get(name) or _OF_SLOTS.get(name) or _attribute(name)


class _Read(NamedTuple):
    """A request, as the rules understand it; ``wrong`` says why what it asks for can't be read."""

    request: Request
    queue: str
    account: Account
    asked: Asked
    requested: Mapping[str, object]
    wrong: str


class PoolRules:
    """The rules and the capacities over the slots of one table."""

    def __init__(self, settings: QuotaSettings, terms: Terms, slots: Table, env: Environment) -> None:
        engine = settings.gridengine
        codes, first, names = _machines(slots)
        self._one_slot_each, self._env = slots.take(first), env
        self._situation = Situation(env, slots.names())
        self._terms, self._engine = terms, engine
        self._hosts = Hosts(names, engine.hostgroups, ignore_domain=engine.ignore_fqdn)
        self._told: dict[str, Sequence[str | None]] = {}
        values = {name: self._numbers(name) for name in sorted(terms.formulas)}
        self.spots = Spots(self._hosts, np.arange(len(first)), codes, (), values)
        complexes = engine.all_complexes
        self._rules = Rules(settings.sets, complexes, engine.usersets, self.spots)
        offers = Offers(engine.everywhere, self._of_host, lru_cache(1000)(self._of_queue))
        self._capacities = Capacities(offers, Complexes(terms.complexes), self.spots)
        self._last: _Read | None = None

    def charges(self, request: Request) -> Iterator[Charge]:
        """What each match of a request is charged; where something can't be read it is filtered, and what runs still counts."""
        read = self._read(request)
        yield from read.account.charges(read.asked)
        yield from self._capacities.charges(read.queue, read.asked)

    def filters(self, request: Request) -> Iterable[Filter]:
        """Where a request must not be matched, whatever is used."""
        read = self._read(request)
        if not (read.wrong or read.asked.values or self._capacities.forced):
            return ()
        return self._filters(read)

    def _filters(self, read: _Read) -> Iterator[Filter]:
        nowhere = np.zeros(len(self.spots.codes), np.bool_)
        if read.wrong:
            text = printable(f"what the job asks for can't be read: {read.wrong}"[:500])
            verdict = Verdict.MISCONFIGURED
            yield Filter(rule="request", allow=nowhere, code="request_unreadable", text=text, verdict=verdict)
            return
        for bound in read.account.refusals(read.asked):
            quota = bound.quota
            allow = nowhere if bound.where is None else ~bound.where
            yield Filter(
                rule=quota.rule, allow=allow, code=quota.code, text=bound.text(), source=quota.source
            )
        for shortage in self._capacities.shortages(read.queue, read.asked, read.requested):
            name = f"complex {shortage.complex.name}"
            yield Filter(
                rule=name, allow=shortage.allow, code=CAPACITY, text=f"cannot run because {shortage.text}"
            )

    def on_host(self, name: str) -> Mapping[str, Fraction | None]:
        """What formulas may know of a host."""
        rows = np.flatnonzero(self._hosts.named(name))
        return {key: values[rows[0]] for key, values in self.spots.values.items()} if len(rows) else {}

    def _read(self, request: Request) -> _Read:
        if self._last is None or self._last.request is not request:  # asked about twice in a row
            wrong: list[str] = []
            claimant = self._terms.claimant(request, self._situation, wrong)
            asked, requested = self._terms.asked(request, self._situation, wrong)
            account = self._rules.account(claimant)
            self._last = _Read(request, claimant.queue, account, asked, requested, "; ".join(wrong))
        return self._last

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


def _tried(wrong: list[str], otherwise: T, read: Callable[[], T]) -> T:
    """What is read, or something else where it can't be: ``wrong`` gets why."""
    try:
        return read()
    except ValueError as error:
        wrong.append(str(error) or "it is none")
        return otherwise


def _name(what: str, value: Value) -> str | None:
    """What an ad calls a thing; None where it calls it nothing."""
    if value is UNDEFINED:
        return None
    text = _text(value)
    if text is None or len(text) > _MAX_NAME or not text.isprintable():
        raise ValueError(f"the {what} is no name of up to {_MAX_NAME} printable characters")
    return text or None


def _attribute(name: str) -> Expr:
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return parse(f"MY.'{quoted}'")


def _said(complex_: Complex, value: Value) -> str | Fraction | None:
    """What a job says that it asks for: a number of what is consumed, a text otherwise; None where it says nothing."""
    if value is UNDEFINED:
        return None
    if complex_.is_consumable and not isinstance(value, bool | str):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{complex_.name} is {unparse_value(value)[:80]}: write a number")
        if value < 0:
            raise ValueError(f"{complex_.name} is {value}: the least is 0")
        return Fraction(value)
    text = _text(value)
    if text is None:
        raise ValueError(f"{complex_.name} is {unparse_value(value)[:80]}: write a text or a number")
    matches(complex_, text, text)  # raises where the one or the other is no value of it
    return text


def _offered(value: Value) -> str | None:
    """What a slot says of a complex, if it says anything; what has no value in Grid Engine fits nobody."""
    return None if value is UNDEFINED else _text(value) or unparse_value(value)


def _text(value: Value) -> str | None:
    """A value as Grid Engine writes it; None for what has no value there."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int | str) else None


def _slots(value: Value) -> int:
    """How many slots a job takes: 1 at least."""
    if value is UNDEFINED:
        return 1
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("the number of slots is none")
    return min(LARGEST, max(1, math.ceil(value)))


def _number(complex_: Complex, text: str | None) -> Fraction | None:
    try:
        return None if text is None else number(complex_.type, text)
    except ValueError:
        return None
