"""Capacities of the pool, of hosts and of queues: the layers below the resource quota sets.

Source: "Resource Quota Sets", layer order; complex(5), "Overriding attributes". A job has to fit every layer: first the
quota sets, then the values of the whole pool (host ``global``), of its host, and of its queue on that host. A layer can only
restrict further: if a level above has true, a request for false does not fit on any level below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Charge, CounterKey, Family, Grouping, Ints, Mask, Mode, Quota, printable
from negotiator_quotasets.complexes import (
    Complex,
    Complexes,
    Relation,
    Requestable,
    limit_units,
    parse_number,
    satisfies,
    units_of,
)
from negotiator_quotasets.matching import HostIndex
from negotiator_quotasets.requests import RequestedResources

CODE = "resource_capacity"

#: Limits of a queue for each of its jobs, unlimited by default (queue_conf(5)).
_QUEUE_LIMITS = frozenset(
    f"{kind}_{name}"
    for kind in "hs"
    for name in ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")
)
_Values = Mapping[str, str]
_MAX_QUEUES = 64  # in the caches: users may create queues
_MAX_SHOWN, _MAX_SHOWN_LENGTH = 3, 60  # values in a reason, and characters of each


@attrs.frozen
class OfferedValues:
    """The values that each layer offers, as texts by full names of complexes.

    ``of_host`` returns a complex's value on each host, (H,); ``of_queue`` the values of a queue on each of its hosts.
    """

    of_pool: _Values
    of_host: Callable[[str], Sequence[str | None]]
    of_queue: Callable[[str], _Values]


@attrs.frozen(eq=False)
class Shortage:
    """Slots that lack a requested resource: ``allow`` (N,) is true where it is available."""

    complex: Complex
    allow: Mask
    text: str


_CapacityCharge: TypeAlias = tuple[Complex, CounterKey | Grouping, int | Ints, Quota]


@attrs.frozen(eq=False)
class _Layer:
    """The values of a complex on one layer: the distinct texts, None for no value, and the number of each host's, (H,)."""

    texts: Sequence[str | None]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, offered: Sequence[str | None]) -> _Layer:
        numbers: dict[str | None, int] = {}
        codes = np.array([numbers.setdefault(text, len(numbers)) for text in offered], np.intp)
        return cls(tuple(numbers), codes)


class Capacities:
    """The layers below the quota sets, over the hosts of a pool."""

    def __init__(
        self, offered: OfferedValues, complexes: Complexes, index: HostIndex, mode: Mode = Mode.ENFORCE
    ) -> None:
        self._mode = mode
        self._offered, self._complexes, self._index = offered, complexes, index
        self.forced = [each for each in complexes if each.requestable is Requestable.FORCED]
        self._of_queue = lru_cache(_MAX_QUEUES)(lambda queue: tuple(self._queue_charges(queue)))
        self._layers = lru_cache(_MAX_QUEUES)(self._find_layers)

    def charges(self, queue: str, requested: RequestedResources) -> Iterator[Charge]:
        """Yield the charges of a job in a queue on the capacities of the pool, of its host and of its queue."""
        for complex_, counter, limit, quota in (*self._above_queues, *self._of_queue(queue)):
            amount = requested.amounts.get(complex_.name)
            if amount is not None:
                yield Charge(counter, amount, limit, quota, probes=not amount)

    def shortages(
        self, queue: str, requested: RequestedResources, by_job: Mapping[str, object]
    ) -> Iterator[Shortage]:
        """Yield the slots where a job can't run, regardless of usage.

        Either its request is not available there, or it lacks a request for a complex that must be requested (FORCED).

        :param by_job: the complexes that the job itself requests, by full name.
        """
        for name, value in requested.values.items():
            complex_ = self._complexes.find(name)
            if complex_ is not None:
                yield from self._unsatisfied(complex_, value, queue)
        for complex_ in self.forced:
            if complex_.name not in by_job:
                known = self._known(complex_.name, queue)
                if known.any():
                    text = f'it does not request "forced" resource "{complex_.name}"'
                    yield Shortage(complex_, ~known, text)

    def _unsatisfied(self, complex_: Complex, value: str, queue: str) -> Iterator[Shortage]:
        for layer in self._layers(complex_.name, queue):
            fits = np.array([text is None or _fits(complex_, value, text) for text in layer.texts], np.bool_)
            if not fits.all():
                offered = sorted(text for text in layer.texts if text is not None)[:_MAX_SHOWN]
                shown = printable(", ".join(text[:_MAX_SHOWN_LENGTH] for text in offered))
                text = f"it offers only {complex_.name}={shown}"
                yield Shortage(complex_, fits[layer.codes][self._index.codes], text)
        if complex_.name not in _QUEUE_LIMITS:
            known = self._known(complex_.name, queue)
            if not known.all():
                yield Shortage(complex_, known, f"job requests unknown resource ({complex_.name})")

    def _known(self, name: str, queue: str) -> Mask:
        """Return the slots with a value of a complex on any layer, (N,)."""
        known = np.zeros(len(self._index), np.bool_)
        for layer in self._layers(name, queue):
            known |= np.array([text is not None for text in layer.texts], np.bool_)[layer.codes]
        return known[self._index.codes]

    def _find_layers(self, name: str, queue: str) -> tuple[_Layer, ...]:
        of_pool = [self._offered.of_pool.get(name)] * len(self._index)
        of_queue = [self._queue_value(queue, name)] * len(self._index)
        return tuple(_Layer.of(each) for each in (of_pool, self._offered.of_host(name), of_queue))

    def _queue_value(self, queue: str, name: str) -> str | None:
        return queue if name == "qname" else self._offered.of_queue(queue).get(name)

    def _countable(self) -> Iterator[Complex]:
        return (each for each in self._complexes if each.is_consumable and each.relation is not Relation.EXCL)

    @cached_property
    def _above_queues(self) -> tuple[_CapacityCharge, ...]:
        """The charges on the capacities of the pool and its hosts."""
        return tuple(self._pool_and_host_charges())

    def _pool_and_host_charges(self) -> Iterator[_CapacityCharge]:
        for each in self._countable():
            of_pool = self._offered.of_pool.get(each.name)
            if of_pool is not None:
                text = "cannot run globally because it exceeds what the pool has"
                yield (
                    each,
                    ("global", each.name),
                    _capacity(each, of_pool),
                    _quota("global", each, text, None, self._mode),
                )
            of_host = self._offered.of_host(each.name)
            if any(text is not None for text in of_host):
                text, after = 'cannot run at host "', '" because it exceeds what the host has'
                quota = _quota("host", each, text, after, self._mode)
                yield self._by_host(each, "host", of_host, self._index.hosts.names, quota)

    def _queue_charges(self, queue: str) -> Iterator[_CapacityCharge]:
        """Yield the charges on the capacities of a queue on each host."""
        for each in self._countable():
            value = self._queue_value(queue, each.name)
            if value is not None:
                instances = [f"{queue}@{host}" for host in self._index.hosts.names]
                text, after = 'cannot run in queue "', '" because it exceeds what the queue has'
                quota = _quota("queue", each, text, after, self._mode)
                yield self._by_host(each, "queue", [value] * len(instances), instances, quota)

    def _by_host(
        self,
        complex_: Complex,
        layer: str,
        offered: Sequence[str | None],
        names: Sequence[str],
        quota: Quota,
    ) -> _CapacityCharge:
        """Return the charge on one counter per host; a host without a value is not charged."""
        by_text = {text: -1 if text is None else _capacity(complex_, text) for text in set(offered)}
        limits = np.array([by_text[text] for text in offered], np.int64)
        counters = np.where(limits < 0, -1, np.arange(len(limits))).astype(np.int32)
        codes = self._index.codes
        grouping = Grouping(counters[codes], Family((layer, complex_.name), names))
        return complex_, grouping, limits[codes], quota


def _fits(complex_: Complex, requested: str, offered: str) -> bool:
    """True if an offered value satisfies a request; an invalid one does not: slots may report any value."""
    try:
        return satisfies(complex_, requested, offered)
    except ValueError:
        return False


def _capacity(complex_: Complex, text: str) -> int:
    """Return the capacity of a consumable in units of the counter; 0 if it is invalid."""
    try:
        return max(0, limit_units(complex_, parse_number(complex_.type, text)))
    except ValueError:
        return 0


def _quota(layer: str, complex_: Complex, text: str, after: str | None, mode: Mode) -> Quota:
    return Quota(
        rule=f"{layer} {complex_.name}",
        text=text,
        text_after=after,
        subject="the pool" if layer == "global" else layer,
        resource=complex_.name,
        code=CODE,
        scale=units_of(complex_),
        mode=mode,
    )
