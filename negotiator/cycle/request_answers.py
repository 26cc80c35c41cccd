"""The answers of plugins about the requests of a cycle: each is asked once for all requests that it does not tell apart.

What a plugin reads of a request is noted. Its answer holds for all requests with the same values of what it read: fields of the request,
and of the job the attributes that it declared, with what their expressions refer to. An answer is for one request alone if the plugin
read how many jobs it has or which, if it failed, or if the owner of the request has no steps left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import attrs
import numpy as np

from negotiator.cycle.numbering import AlikeJobs, Numbers, combined
from negotiator.cycle.work_accounts import is_exceeded
from negotiator.hooks.answers import Answers, Attributed
from negotiator.hooks.guard import Guarded
from negotiator.hooks.hook import Hook
from negotiator.hooks.manager import HookManager
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle, Request
from negotiator.hooks.watched_request import RESOURCES, RequestWatch, WatchedRequest

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
