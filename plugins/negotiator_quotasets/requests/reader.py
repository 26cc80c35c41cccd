"""How a bundle reads requests: whose jobs they are and what these ask for, in the words of Grid Engine.

What a job asks for of a complex is its ``RequestNAME``, where ``gridengine.yaml`` says nothing else. What can't be read is
taken not to be asked for, so that a job that runs counts all the same, and is told, so that none is matched for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple, TypeVar

from negotiator.plugin import (
    UNDEFINED,
    ClassAd,
    Environment,
    Expr,
    JobExpression,
    Request,
    Value,
    parse,
    unparse_value,
)
from negotiator_quotasets.complexes import LARGEST, SLOTS, Complex, satisfies
from negotiator_quotasets.requests.resources import Claimant, RequestedResources, requested_resources
from negotiator_quotasets.settings import QuotaSettings

T = TypeVar("T")

#: What a host has, where its slots say it by another name.
_OF_SLOTS = {
    "num_proc": parse("MY.num_proc ?: MY.TotalCpus ?: MY.DetectedCpus ?: MY.Cpus"),
    "hostname": parse("MY.Machine"),
}
_MAX_NAME = 200  # characters of what ads call things: it stands in reasons and in counters


class Situation(NamedTuple):
    """What expressions are evaluated in, and which attributes slots have (in lower case): no job may borrow these."""

    env: Environment
    of_slots: frozenset[str] = frozenset()


class QuotaRequest(NamedTuple):
    """A request, as the rules understand it; ``wrong`` says why what it asks for can't be read."""

    claimant: Claimant
    asked: RequestedResources
    requested: Mapping[str, object]  # what the job says itself
    wrong: str


class _Unreadable(NamedTuple):
    """In the place of a value: why there is none."""

    why: str


class RequestValues(NamedTuple):
    """What a request says: whose it is, and the values of all that is read of it."""

    user: str
    groups: tuple[str, ...]
    queue: str
    values: tuple[Value | _Unreadable, ...]

    @property
    def key(self) -> Hashable:
        """What is equal for requests that are alike to all rules; not to be hashed where a value is a list or an ad."""
        return (*self, *map(type, self.values))  # 1, 1.0 and true are equal


class RequestReader:
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
        self._project, self._pe = JobExpression(engine.job.project.tree), JobExpression(engine.job.pe.tree)
        self._slots = JobExpression(engine.job.slots.tree)
        requests = {name: each.request.tree for name, each in declared.items() if each.request}
        self._requests = [
            (each, JobExpression(requests.get(each.name) or _attribute(f"Request{each.name}")))
            for each in self.complexes
            if each.name != SLOTS
        ]
        self._in_order = [self._project, self._pe, self._slots, *(said for _, said in self._requests)]
        self._values = {name: each.value.tree for name, each in declared.items() if each.value}

    def attributes(self) -> frozenset[str]:
        """The attributes of jobs that are read, in lower case."""
        if not self.active:
            return frozenset()
        return frozenset().union(*(said.names for said in self._in_order))

    def said(self, request: Request, at: Situation) -> RequestValues:
        """All that is read of a request, as it stands there."""
        user = request.user or request.ad.string("Owner") or ""  # where nothing places jobs in queues
        values = [_value(said, request.ad, at) for said in self._in_order]
        return RequestValues(user, request.groups, request.queue, tuple(values))

    def read(self, said: RequestValues) -> QuotaRequest:
        """Whose the jobs of a request are, and what each of them asks for."""
        wrong: list[str] = []
        project, pe, slots, *asked = said.values
        requested: dict[str, str | Fraction] = {}
        for (complex_, _), value in zip(self._requests, asked, strict=True):
            found = _tried(wrong, None, partial(_said, complex_), value)
            if found is not None:
                requested[complex_.name] = found
        claimant = Claimant(
            _tried(wrong, None, partial(_name, "user"), said.user) or "",
            said.groups,
            _tried(wrong, None, partial(_name, "project"), project),
            _tried(wrong, None, partial(_name, "parallel environment"), pe),
            said.queue,
        )
        amounts = requested_resources(self.complexes, requested, _tried(wrong, 1, _slots, slots))
        return QuotaRequest(claimant, amounts, requested, "; ".join(wrong))

    def value_of(self, name: str) -> Expr:
        """What a host has of a complex, of the ad of one of its slots."""
        return self._values.get(name) or _OF_SLOTS.get(name) or _attribute(name)


def _value(said: JobExpression, job: ClassAd, at: Situation) -> Value | _Unreadable:
    try:
        return said.by(job, *at)
    except ValueError as error:
        return _Unreadable(str(error))


def _tried(wrong: list[str], otherwise: T, read: Callable[[Value], T], value: Value | _Unreadable) -> T:
    """What is read of a value, or something else where it can't be: ``wrong`` gets why."""
    if isinstance(value, _Unreadable):
        wrong.append(value.why)
        return otherwise
    try:
        return read(value)
    except ValueError as error:
        wrong.append(str(error) or "it is none")
        return otherwise


def _name(what: str, value: Value) -> str | None:
    """What an ad calls a thing; None where it calls it nothing."""
    if value is UNDEFINED:
        return None
    text = text_of(value)
    if text is None or len(text) > _MAX_NAME or not text.isprintable():
        raise ValueError(f"the {what} is no name of up to {_MAX_NAME} printable characters")
    return text or None


def _said(complex_: Complex, value: Value) -> str | Fraction | None:
    """What a job says that it asks for: a number of what is consumed, a text otherwise; None where it says nothing."""
    if value is UNDEFINED:
        return None
    if complex_.is_consumable and not isinstance(value, bool | str):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{complex_.name} is {unparse_value(value)[:80]}: write a number")
        if value < 0:
            raise ValueError(f"{complex_.name} is {value}: the least is 0")
        return Fraction(repr(value))  # 0.1 is a tenth, as it was written
    text = text_of(value)
    if text is None:
        raise ValueError(f"{complex_.name} is {unparse_value(value)[:80]}: write a text or a number")
    satisfies(complex_, text, text)  # raises where the one or the other is no value of it
    return text


def _slots(value: Value) -> int:
    """How many slots a job takes: 1 at least."""
    if value is UNDEFINED:
        return 1
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("the number of slots is none")
    return min(LARGEST, max(1, math.ceil(value)))


def text_of(value: Value) -> str | None:
    """A value as Grid Engine writes it; None for what has no value there."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int | str) else None


def _attribute(name: str) -> Expr:
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return parse(f"MY.'{quoted}'")
