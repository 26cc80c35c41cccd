"""The charges that plugins declare for requests, and the answers of plugins about requests in general.

A plugin is asked once for all requests that it does not tell apart. What it reads of a request is noted. Its answer holds for all requests with the
same values of what it read: fields of the request, and of the job the attributes that it declared, with what their expressions refer to. An answer is
for one request alone if the plugin read how many jobs it has or which, if it failed, or if the owner of the request has no steps left.

On slots that several jobs share, amounts of slots become those of what one job takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.charges import Charges, quota_of
from negotiator.cycle.divisible_slots import Consumption
from negotiator.cycle.numbering import AlikeJobs, Numbers, combined
from negotiator.cycle.work_accounts import is_exceeded
from negotiator.hooks import specs
from negotiator.hooks.answers import Answers, Attributed, HookFailure, WrongAnswerError, check_exactly
from negotiator.hooks.charges import Charge, KeyCharge, PartAmounts, Quota
from negotiator.hooks.failures import describe_error
from negotiator.hooks.guard import Guarded
from negotiator.hooks.hook import Hook
from negotiator.hooks.manager import HookManager
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.plugin_output import raise_if_interrupted
from negotiator.hooks.records import Cycle, Request
from negotiator.hooks.watched_request import RESOURCES, RequestWatch, WatchedRequest
from negotiator.ledger import Ints
from negotiator.queues import QueueTree

R = TypeVar("R")
T = TypeVar("T")

#: Of an answer: the names of the fields that were read of a request, and numbers of their values.
_Fields: TypeAlias = tuple[str, ...]
_Key: TypeAlias = tuple[int, ...]
#: Sets of fields that one implementation reads, depending on what it reads first.
_MOST_SETS = 16


@attrs.define(eq=False)
class RequestGroups:
    """Which requests of a cycle have equal fields; ``alike`` has the first job of each, (R,)."""

    requests: Sequence[QueuedRequest]
    alike: AlikeJobs
    _fields: dict[str, list[int]] = attrs.field(factory=dict, init=False)

    def of_field(self, name: str) -> list[int]:
        """Return a number for each request: those with equal values of a field share it."""
        if name not in self._fields:
            known: dict[object, int] = {}
            values = (_hashable(queued.request, name) for queued in self.requests)
            self._fields[name] = [known.setdefault(value, len(known)) for value in values]
        return self._fields[name]

    def of_jobs(self, implementation: Guarded) -> tuple[list[int], frozenset[str]]:
        """Return a number for each request: those whose jobs are alike in what a plugin may read share it, -1 for one alike to none.

        Return also the attributes that it may read.
        """
        reads, count = implementation.reads, len(self.requests)
        if reads is None:
            return [-1] * count, frozenset()
        names = tuple(sorted(reads.names))
        found: Numbers = self.alike.equal(names).copy() if names else np.zeros(count, np.int64)
        others, further = np.flatnonzero(~self.alike.with_constants(names)), frozenset[str]()
        if len(others):
            groups, further = self.alike.refined(others, names, reads.of_job)
            found[others] = np.where(groups < 0, -1, groups + count)
        return found.tolist(), further.union(names)


def _hashable(request: Request, name: str) -> object:
    if name == RESOURCES:
        return tuple(request.resources)
    if name == "resources":
        return tuple(request.resources.items())
    if name == "claim":  # requests of idle jobs have none
        return None
    return getattr(request, name)


@attrs.define(eq=False)
class RequestAnswers(Generic[R, T]):
    """The answers of one hook in one cycle; ``prepare`` makes of them what the cycle uses.

    All other arguments of the hook are the same in each call. An answer is kept by the fields that were read for it, and by the numbers
    of their values; the field ``ad`` has other numbers for each implementation, by what it declared.
    """

    hook: Hook[..., R]
    implementations: tuple[Guarded, ...]
    groups: RequestGroups
    prepare: Callable[[Answers[R]], T]
    _kept: list[dict[_Fields, dict[_Key, tuple[Attributed[R], ...]]]] = attrs.field(init=False)
    _jobs: dict[int, tuple[list[int], frozenset[str]]] = attrs.field(factory=dict, init=False)
    #: Of each request, a number of all values that were read for any answer so far, -1 if it shares none; None: to be found anew.
    _numbers: list[int] | None = attrs.field(default=None, init=False)
    _prepared: dict[int, T] = attrs.field(factory=dict, init=False)
    _read: frozenset[str] = attrs.field(
        default=frozenset(), init=False
    )  # attributes of jobs that may be read
    _number: int = attrs.field(default=0, init=False)
    _attributes: frozenset[str] = attrs.field(default=frozenset(), init=False)
    _cycle: Cycle | None = attrs.field(default=None, init=False)
    _watch: RequestWatch = attrs.field(factory=RequestWatch, init=False)

    def __attrs_post_init__(self) -> None:
        self._kept = [{} for _ in self.implementations]

    def of(
        self,
        hooks: HookManager,
        queued: QueuedRequest,
        attributes: frozenset[str],
        arguments: Callable[[], dict[str, Any]],
    ) -> T:
        """Return the prepared answers about a request.

        :param attributes: those of the turn, in lower case, which replace attributes of its job.
        :param arguments: returns those of the hook; ``cycle`` has the account of the request's owner.
        """
        number = self._shared_number(queued, attributes)
        if number in self._prepared:
            return self._prepared[number]
        given = arguments()
        self._number, self._attributes, self._cycle = queued.number, attributes, given["cycle"]
        answers = hooks.ask_of_request(self.hook, self, **given)
        prepared = self.prepare(answers)
        if number >= 0 and self._numbers is not None and self._is_known():
            self._prepared[number] = prepared
        return prepared

    def may_read(self, attributes: frozenset[str]) -> bool:
        """True if an answer may depend on some attributes of jobs, in lower case."""
        for place, implementation in enumerate(self.implementations):
            if implementation.reads is None or not self._column(place, "ad")[1].isdisjoint(attributes):
                return True
        return False

    def _shared_number(self, queued: QueuedRequest, attributes: frozenset[str]) -> int:
        """Return a number that requests of one answer share; -1 for one that shares it with no other."""
        if self._numbers is None:
            self._number_requests()
        number = -1 if self._numbers is None else self._numbers[queued.number]
        return number if self._read.isdisjoint(attributes) else -1

    def known(self, place: int) -> tuple[Attributed[R], ...] | None:
        """Return the answer of an implementation, by its place, about the current request; None if it is not known."""
        for fields, answers in self._kept[place].items():
            key = self._key(place, fields)
            if key is not None and key in answers:
                return answers[key]
        return None

    def watched(self, request: Request) -> Request:
        """Return the current request for the next implementation: it notes what is read of it."""
        self._watch = RequestWatch()
        return WatchedRequest.of(request, self._watch)

    def keep(self, place: int, answer: tuple[Attributed[R], ...]) -> None:
        """Keep an answer about the current request, if it holds for others."""
        watch = self._watch
        if watch.distinguishes or self._cycle is None or is_exceeded(self._cycle):
            return
        fields, kept = tuple(sorted(watch.fields)), self._kept[place]
        if fields not in kept:
            if len(kept) == _MOST_SETS:
                return
            kept[fields] = {}
            self._numbers = None
            self._prepared.clear()
        key = self._key(place, fields)
        if key is not None:
            kept[fields][key] = answer

    def _key(self, place: int, fields: _Fields) -> _Key | None:
        """Return the numbers of the current request's values; None if it shares them with no other."""
        key = []
        for name in fields:
            column, read = self._column(place, name)
            if column[self._number] < 0 or not read.isdisjoint(self._attributes):
                return None
            key.append(column[self._number])
        return tuple(key)

    def _column(self, place: int, name: str) -> tuple[list[int], frozenset[str]]:
        if name != "ad":
            return self.groups.of_field(name), frozenset()
        if place not in self._jobs:
            self._jobs[place] = self.groups.of_jobs(self.implementations[place])
        return self._jobs[place]

    def _is_known(self) -> bool:
        return all(self.known(place) is not None for place in range(len(self.implementations)))

    def _number_requests(self) -> None:
        columns, reads = [np.zeros(len(self.groups.requests), np.int64)], [frozenset[str]()]
        for place, kept in enumerate(self._kept):
            for name in set().union(*kept):
                column, read = self._column(place, name)
                columns.append(np.array(column, np.int64))
                reads.append(read)
        alone = np.logical_or.reduce([column < 0 for column in columns])
        self._numbers = np.where(alone, -1, combined(*columns)[0]).tolist()
        self._read = frozenset[str]().union(*reads)


def charges_of_parts(
    answers: Answers[Charge | KeyCharge], consumption: Consumption
) -> Answers[Charge | KeyCharge]:
    """Return the charges with the amounts of what a request takes of each slot (``Quota.of_part``).

    A failure of a plugin is added to those of the answers.
    """
    records, failures = [], []
    for each in answers.records:
        try:
            records.append(_of_parts(each, consumption))
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            raise_if_interrupted(error)
            text = describe_error(error)
            failures.append(HookFailure(each.plugin, each.version, "negotiator_charges", text))
    return Answers(tuple(records), (*answers.failures, *failures))


def _of_parts(
    attributed: Attributed[Charge | KeyCharge], consumption: Consumption
) -> Attributed[Charge | KeyCharge]:
    record = attributed.record
    label = record.label
    if not isinstance(record, Charge) or not isinstance(label, Quota) or label.of_part is None:
        return attributed
    amounts = _amounts(record, label.of_part, consumption)
    return attributed._replace(record=attrs.evolve(record, amount=amounts))


def _amounts(charge: Charge, of_part: PartAmounts, consumption: Consumption) -> Ints:
    """Return the amount of each slot, (S,)."""
    divisible = consumption.divisible
    parts = of_part(divisible.part, consumption.rest)
    check_exactly(parts, np.ndarray, "a NumPy array of of_part of a Quota")
    if parts.dtype != np.int64 or parts.shape != (len(divisible.rows),) or parts.min(initial=0) < 0:
        message = f"expected {len(divisible.rows)} int64 of 0 or more of of_part of a Quota, got others"
        raise WrongAnswerError(message)
    amounts = np.array(np.broadcast_to(charge.amount, len(divisible.slots)), np.int64)
    amounts[divisible.rows] = parts
    return amounts


@attrs.define(eq=False)
class ChargeAnswers:
    """The charges of a request, or of all alike ones, and the failures of plugins."""

    answers: Answers[Charge | KeyCharge]
    _made: dict[bool, Charges] = attrs.field(factory=dict, init=False)
    _codes: dict[str, bool] = attrs.field(factory=dict, init=False)

    @property
    def records(self) -> tuple[Attributed[Charge | KeyCharge], ...]:
        """The charges as plugins declared them."""
        return self.answers.records

    @property
    def failures(self) -> tuple[HookFailure, ...]:
        """The failures of plugins."""
        return self.answers.failures

    def charges(self, request: Request, *, enforcing: bool) -> Charges:
        """Return the charges that enforce, or the others, of one of the requests."""
        return self.of_alike(enforcing=enforcing).of_request(request)

    def of_alike(self, *, enforcing: bool) -> Charges:
        """Return the charges that enforce, or the others, as they are the same for all of the requests."""
        if enforcing not in self._made:
            self._made[enforcing] = Charges.of(self.answers.records, enforcing=enforcing)
        return self._made[enforcing]

    def has_code(self, code: str) -> bool:
        """True if a quota with this code may refuse the requests."""
        if code not in self._codes:
            sums = self.of_alike(enforcing=True).declared_sums
            self._codes[code] = any(quota_of(each).code == code for each in sums)
        return self._codes[code]


@attrs.define(eq=False)
class DeclaredCharges:
    """Calls the plugins for the charges of a request over the slots of a cycle.

    The charges of the latest request are kept: its order may have read them before the turn.
    """

    slots: Table
    queues: QueueTree
    bundle: Bundle
    groups: RequestGroups | None = None  # None: each request is asked for by itself
    #: Plugins may have named the hook as unused under the queues of the bundle, not under others.
    _follows: bool = attrs.field(init=False)
    _shared: RequestAnswers[Charge | KeyCharge, ChargeAnswers] | None = attrs.field(init=False)
    _latest: tuple[Request, ChargeAnswers] | None = None

    def __attrs_post_init__(self) -> None:
        self._follows = self.queues.follows(self.bundle.partition.root)
        hook, self._shared = specs.negotiator_charges, None
        if self.groups is not None:
            implementations = self.bundle.hooks.implementations(hook, used=self._follows)
            self._shared = RequestAnswers(hook, implementations, self.groups, ChargeAnswers)

    def of(
        self,
        request: Request,
        cycle: Cycle,
        consumption: Consumption | None = None,
        queued: QueuedRequest | None = None,
    ) -> ChargeAnswers:
        """Return the charges, and the failures of plugins.

        :param consumption: what the request takes of slots that several jobs share.
        :param queued: the request at its turn; None if it is not one of the cycle's queue.
        """
        declared = self._of_slots(request, cycle, queued)
        return (
            declared
            if consumption is None
            else ChargeAnswers(charges_of_parts(declared.answers, consumption))
        )

    def _of_slots(self, request: Request, cycle: Cycle, queued: QueuedRequest | None) -> ChargeAnswers:
        if self._latest is not None and self._latest[0] is request:
            return self._latest[1]
        hooks = self.bundle.hooks
        arguments = partial(self._arguments, request, cycle)
        if queued is not None and self._shared is not None:
            declared = self._shared.of(hooks, queued, frozenset(), arguments)
        else:
            ask = hooks.ask if self._follows else hooks.ask_all
            declared = ChargeAnswers(ask(specs.negotiator_charges, **arguments()))
        self._latest = request, declared
        return declared

    def _arguments(self, request: Request, cycle: Cycle) -> dict[str, Any]:
        return {
            "request": request,
            "slots": self.slots,
            "queues": self.queues,
            "cycle": cycle,
            "order": self.bundle.ordering.name,
            "settings": self.bundle.settings,
        }
