"""What the pool, its hosts and its queues have: the layers below the resource quota sets.

Source: "Resource Quota Sets", layer order; complex(5), "Overriding attributes". A job has to fit every layer: first the
quota sets, then what is declared for the whole pool (global), for its host, for its queue on that host. No layer takes
back what one above it says, so that a boolean that is true above is never false below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Charge, CounterKey, Family, Grouping, Ints, Mask, Quota, printable
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
from negotiator_quotasets.matching import HostQueueIndex
from negotiator_quotasets.requests import RequestedResources

CODE = "resource_capacity"

#: What a queue says of each of its jobs: no limit, where it says nothing (queue_conf(5)).
_OF_QUEUES = frozenset(
    f"{kind}_{name}"
    for kind in "hs"
    for name in ("rt", "cpu", "fsize", "data", "stack", "core", "rss", "vmem")
)
_Values = Mapping[str, str]


@attrs.frozen
class Offers:
    """What each layer says, as texts by the full names of complexes.

    ``of_host`` gives for a complex what each host has, (H,), ``of_queue`` what a queue has on each of its hosts.
    """

    everywhere: _Values
    of_host: Callable[[str], Sequence[str | None]]
    of_queue: Callable[[str], _Values]


@attrs.frozen(eq=False)
class Shortage:
    """Slots that do not have what a job asks for: ``allow`` (N,) is true where they do."""

    complex: Complex
    allow: Mask
    text: str


_Consumed: TypeAlias = tuple[Complex, CounterKey | Grouping, int | Ints, Quota]
#: So many queues are kept; so many values of a complex are told, each of so many characters.
_QUEUES, _TOLD, _MAX_TOLD = 64, 3, 60


@attrs.frozen(eq=False)
class _Layer:
    """What one layer says of a complex: each text once, None for nothing, and which of them each place has, (P,)."""

    texts: Sequence[str | None]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, offered: Sequence[str | None]) -> _Layer:
        numbers: dict[str | None, int] = {}
        codes = np.array([numbers.setdefault(text, len(numbers)) for text in offered], np.intp)
        return cls(tuple(numbers), codes)


class Capacities:
    """The layers below the quota sets, over the places of a pool."""

    def __init__(self, offers: Offers, complexes: Complexes, spots: HostQueueIndex) -> None:
        self._offers, self._complexes, self._spots = offers, complexes, spots
        self.forced = [each for each in complexes if each.requestable is Requestable.FORCED]
        # Users may make queues: what these have on their hosts is not kept for all of them.
        self._of_instances = lru_cache(_QUEUES)(lambda queue: tuple(self._by_instance(queue)))
        self._layered = lru_cache(_QUEUES)(self._find_layers)

    def charges(self, queue: str, asked: RequestedResources) -> Iterator[Charge]:
        """What a job in a queue takes of what is consumed; an empty queue where places have their own."""
        for complex_, counter, limit, quota in (*self._consumed, *self._of_instances(queue)):
            amount = asked.amounts.get(complex_.name)
            if amount is not None:
                yield Charge(counter, amount, limit, quota, probes=not amount)

    def shortages(
        self, queue: str, asked: RequestedResources, requested: Mapping[str, object]
    ) -> Iterator[Shortage]:
        """Where a job can't run, whatever is used: what it asks for is not there, or it does not ask for what it must."""
        for name, value in asked.values.items():
            complex_ = self._complexes.find(name)
            if complex_ is not None:
                yield from self._compared(complex_, value, queue)
        for complex_ in self._complexes:
            if complex_.requestable is Requestable.FORCED and complex_.name not in requested:
                there = self._there(complex_.name, queue)
                if there.any():
                    yield Shortage(
                        complex_, ~there, f'it does not request "forced" resource "{complex_.name}"'
                    )

    def _compared(self, complex_: Complex, value: str, queue: str) -> Iterator[Shortage]:
        codes = self._spots.codes
        for layer in self._layered(complex_.name, queue):
            fits = np.array([text is None or _fits(complex_, value, text) for text in layer.texts], np.bool_)
            if not fits.all():
                told = sorted(text for text in layer.texts if text is not None)[:_TOLD]
                said = printable(", ".join(text[:_MAX_TOLD] for text in told))
                text = f"it offers only {complex_.name}={said}"
                yield Shortage(complex_, fits[layer.codes][codes], text)
        if complex_.name not in _OF_QUEUES:
            known = self._there(complex_.name, queue)
            if not known.all():
                yield Shortage(complex_, known, f"job requests unknown resource ({complex_.name})")

    def _there(self, name: str, queue: str) -> Mask:
        """Which slots have a value of a complex on any layer."""
        known = np.zeros(len(self._spots), np.bool_)
        for layer in self._layered(name, queue):
            known |= np.array([text is not None for text in layer.texts], np.bool_)[layer.codes]
        return known[self._spots.codes]

    def _find_layers(self, name: str, queue: str) -> tuple[_Layer, ...]:
        """What each layer says of a complex at each place."""
        spots, hosts = self._spots, self._offers.of_host(name)
        everywhere = [self._offers.everywhere.get(name)] * len(spots)
        of_hosts = [hosts[host] for host in spots.host_of.tolist()]
        return tuple(_Layer.of(each) for each in (everywhere, of_hosts, self._of_queues(queue, name)))

    def _of_queues(self, queue: str, name: str) -> Sequence[str | None]:
        """What the queue of each place says of a complex, (P,)."""
        queues = self._queues(queue)
        known = {each: self._of_queue(each, name) for each in set(queues)}
        return [known[each] for each in queues]

    def _queues(self, queue: str) -> Sequence[str]:
        return self._spots.queues or [queue] * len(self._spots)

    def _of_queue(self, queue: str, name: str) -> str | None:
        if name == "qname":
            return queue
        return self._offers.of_queue(queue).get(name)

    def _countable(self) -> Iterator[Complex]:
        return (each for each in self._complexes if each.is_consumable and each.relation is not Relation.EXCL)

    @cached_property
    def _consumed(self) -> tuple[_Consumed, ...]:
        """What the pool and its hosts have."""
        return tuple(self._above_queues())

    def _above_queues(self) -> Iterator[_Consumed]:
        spots = self._spots
        for each in self._countable():
            most = self._offers.everywhere.get(each.name)
            if most is not None:
                quota = _quota(
                    "global", each, "cannot run globally because it exceeds what the pool has", None
                )
                yield each, ("global", each.name), _most(each, most), quota
            hosts = self._offers.of_host(each.name)
            if any(text is not None for text in hosts):
                had = {text: -1 if text is None else _most(each, text) for text in set(hosts)}
                limits = np.array([had[text] for text in hosts], np.int64)
                codes = np.where(limits < 0, -1, np.arange(len(limits))).astype(np.int32)[spots.host_of][
                    spots.codes
                ]
                quota = _quota("host", each, 'cannot run at host "', '" because it exceeds what the host has')
                counter = Grouping(codes, Family(("host", each.name), spots.hosts.names))
                yield each, counter, limits[spots.host_of][spots.codes], quota

    def _by_instance(self, queue: str) -> Iterator[_Consumed]:
        """What each queue has on each host."""
        for each in self._countable():
            offered = self._of_queues(queue, each.name)
            if any(text is not None for text in offered):
                yield self._instances(each, self._queues(queue), offered)

    def _instances(self, each: Complex, queues: Sequence[str], offered: Sequence[str | None]) -> _Consumed:
        spots = self._spots
        most = {text: -1 if text is None else _most(each, text) for text in set(offered)}
        limits = np.array([most[text] for text in offered], np.int64)
        names = spots.hosts.names
        instances = [
            f"{queue}@{names[host]}" for queue, host in zip(queues, spots.host_of.tolist(), strict=True)
        ]
        codes = np.where(limits < 0, -1, np.arange(len(limits))).astype(np.int32)[spots.codes]
        quota = _quota("queue", each, 'cannot run in queue "', '" because it exceeds what the queue has')
        return each, Grouping(codes, Family(("queue", each.name), instances)), limits[spots.codes], quota


def _fits(complex_: Complex, value: str, offered: str) -> bool:
    """Whether what is offered will do; what can't be read does not: slots say what they like."""
    try:
        return satisfies(complex_, value, offered)
    except ValueError:
        return False


def _most(complex_: Complex, text: str) -> int:
    """What there is of a consumable; nothing where that can't be read."""
    try:
        return max(0, limit_units(complex_, parse_number(complex_.type, text)))
    except ValueError:
        return 0


def _quota(layer: str, complex_: Complex, text: str, after: str | None) -> Quota:
    return Quota(
        rule=f"{layer} {complex_.name}",
        text=text,
        text_after=after,
        resource=complex_.name,
        code=CODE,
        scale=units_of(complex_),
    )
