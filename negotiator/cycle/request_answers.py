"""The answers of plugins about the requests of a cycle: each is asked once for all requests that it does not tell apart.

What a plugin reads of a request is noted. Its answer holds for all requests with the same values of what it read: fields of the request,
and of the job the attributes that it declared, with what their expressions refer to. An answer is for one request alone if the plugin
read how many jobs it has or which, if it failed, or if the owner of the request has no steps left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import attrs
import numpy as np

from negotiator.cycle.alike_jobs import AlikeJobs
from negotiator.cycle.numbering import Numbers
from negotiator.cycle.work_accounts import is_exceeded
from negotiator.hooks.guard import Guarded
from negotiator.hooks.hook import Hook
from negotiator.hooks.manager import Answers, Attributed, HookManager
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle, Request
from negotiator.hooks.watched_request import RESOURCES, RequestWatch

R = TypeVar("R")
T = TypeVar("T")

#: Of an answer: numbers of the values that were read of a request.
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
    if name == "claim":
        return id(request.claim) if len(request.claim) else None
    return getattr(request, name)


@attrs.define(eq=False)
class _KeptAnswers(Generic[R]):
    """The answers of one implementation: for each set of fields that it read, by the numbers of their values."""

    implementation: Guarded
    groups: RequestGroups
    _by_fields: dict[tuple[str, ...], dict[_Key, tuple[Attributed[R], ...]]] = attrs.field(
        factory=dict, init=False
    )

    def known(self, number: int, attributes: frozenset[str]) -> tuple[Attributed[R], ...] | None:
        for fields, answers in self._by_fields.items():
            key = self._key(fields, number, attributes)
            if key is not None and key in answers:
                return answers[key]
        return None

    def keep(
        self, number: int, attributes: frozenset[str], fields: set[str], answer: tuple[Attributed[R], ...]
    ) -> None:
        names = tuple(sorted(fields))
        key = self._key(names, number, attributes)
        if key is not None and (names in self._by_fields or len(self._by_fields) < _MOST_SETS):
            self._by_fields.setdefault(names, {})[key] = answer

    def _key(self, fields: tuple[str, ...], number: int, attributes: frozenset[str]) -> _Key | None:
        key = []
        for name in fields:
            if name == "ad":
                jobs, read = self._of_jobs
                if jobs[number] < 0 or not read.isdisjoint(attributes):
                    return None
                key.append(jobs[number])
            else:
                key.append(self.groups.of_field(name)[number])
        return tuple(key)

    @cached_property
    def _of_jobs(self) -> tuple[list[int], frozenset[str]]:
        return self.groups.of_jobs(self.implementation)


@attrs.define(eq=False)
class RequestAnswers(Generic[R, T]):
    """The answers of one hook in one cycle; ``prepare`` makes of them what the cycle uses.

    All other arguments of the hook are the same in each call.
    """

    hook: Hook[..., R]
    implementations: tuple[Guarded, ...]
    groups: RequestGroups
    prepare: Callable[[Answers[R]], T]
    _kept: list[_KeptAnswers[R]] = attrs.field(init=False)
    _prepared: dict[_Key, tuple[list[Any], T]] = attrs.field(factory=dict, init=False)
    _number: int = attrs.field(default=0, init=False)
    _attributes: frozenset[str] = attrs.field(default=frozenset(), init=False)
    _cycle: Cycle | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._kept = [_KeptAnswers[R](each, self.groups) for each in self.implementations]

    def of(
        self, hooks: HookManager, queued: QueuedRequest, attributes: frozenset[str], arguments: dict[str, Any]
    ) -> T:
        """Return the prepared answers about a request.

        :param attributes: those of the turn, in lower case, which replace attributes of its job.
        :param arguments: of the hook; ``cycle`` has the account of the request's owner.
        """
        self._number, self._attributes, self._cycle = queued.number, attributes, arguments["cycle"]
        known = [each.known(queued.number, attributes) for each in self._kept]
        key = tuple(map(id, known))
        if None not in known and key in self._prepared:
            return self._prepared[key][1]
        prepared = self.prepare(hooks.ask_of_request(self.hook, self, **arguments))
        if None not in known:  # the entry holds the answers, so that their ids stay their own
            self._prepared[key] = known, prepared
        return prepared

    def known(self, place: int) -> tuple[Attributed[R], ...] | None:
        """Return the answer of an implementation, by its place, about the current request; None if it is not known."""
        return self._kept[place].known(self._number, self._attributes)

    def keep(self, place: int, answer: tuple[Attributed[R], ...], watch: RequestWatch) -> None:
        """Keep an answer about the current request, if it holds for others."""
        if not watch.distinguishes and self._cycle is not None and not is_exceeded(self._cycle):
            self._kept[place].keep(self._number, self._attributes, watch.fields, answer)
