"""The amounts that a claim counts for: what its job requests, within what its slot holds; and what all slots together could give to jobs.

Users write job ads, and a request may change or become meaningless while the job runs. A claim counts for at least one
core and one MiB, and for no more than the slot holds; a request that is missing or invalid counts as all that the slot
has. A dynamic slot was made for its job: the job counts for at least what the slot has. An attribute ``RequestNAME`` of
a job is compared with the attribute ``NAME`` of its slot.

Source: HTCondor manual, Machine ClassAd Attributes (Cpus, Memory, TotalSlotCpus, SlotType) and "dynamic provisioning"; "Scheduler
Configuration", Queue Definition: the resources of the root queue are those of the registered nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment, Kind, Table, evaluate, evaluate_table
from negotiator.classad.syntax import reference
from negotiator.cycle.jobs import names
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows

#: (N,) of float64; NaN for an attribute that is missing.
Amounts: TypeAlias = NDArray[np.float64]

PREFIX = "request"
#: What every claim has: one core, and one MiB of memory.
LEAST: Mapping[str, float] = {"requestcpus": 1.0, "requestmemory": 1.0}
#: A larger request is invalid: no machine has as much, and products with it would exceed 64 bits.
MOST = 2.0**43


@attrs.frozen(eq=False)
class ClaimAmounts:
    """The requests of jobs, compared with the slots of a pool, (S,).

    ``names`` are the requests that the bundle counts as resources, in lower case. ``others`` are further requests that
    plugins read: their values may be texts, so that only numbers above what the slot has are replaced.
    """

    slots: Table
    names: tuple[str, ...]
    others: tuple[str, ...]
    _sizes: dict[str, Amounts] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, slots: Table, bundle: Bundle) -> ClaimAmounts:
        """Return the comparison for what a bundle reads of jobs."""
        read = frozenset[str]().union(*(each.names for each in bundle.resource_expressions.values()))
        counted = {name for name in read if is_request(name)} | LEAST.keys()
        others = {name for name in bundle.job_attributes or () if is_request(name)} - counted
        return cls(slots, tuple(sorted(counted)), tuple(sorted(others)))

    def columns(self, jobs: Table, rows: Rows, env: Environment) -> dict[str, tuple[Amounts, Mask]]:
        """Return, for each request, its amounts and which jobs' own values they replace, (N,) each; NaN removes one.

        :param rows: the slot of each job, -1 if it is not in the pool: the largest slot is then assumed.
        """
        found = {name: self._counted(name, _requests(name, jobs, env), rows) for name in self.names}
        return found | {name: self._capped(name, _requests(name, jobs, env)[0], rows) for name in self.others}

    def of_matches(self, name: str, values: Sequence[object], rows: Rows) -> list[float | None]:
        """Return the amounts of a request at matches with slots; None to leave a value as it is.

        :param values: of the request at each match, or one of all matches; None if it is missing.
        :param rows: the slots of the matches, (G,).
        :returns: one for each match, or one for all.
        """
        if name in self.names and values == [None]:
            return [None]
        if len(values) == 1 and LEAST.get(name, 0.0) <= (amount := _amount(values[0])) <= self._least(
            name, rows
        ):
            return [amount if name in self.names else None]  # the usual case: all slots hold it
        sizes = self._size(name)[rows]
        own = np.array([_amount(value) for value in values])
        with np.errstate(invalid="ignore"):
            if name not in self.names:
                within = np.where(own > sizes, sizes, np.nan)
            else:
                invalid = ~((own >= 0) & (own <= MOST))
                within = np.fmax(np.where(invalid, sizes, np.fmin(own, sizes)), LEAST.get(name, 0.0))
                within = np.where([value is None for value in values], np.nan, within)
        if (within == within[0]).all() or np.isnan(within).all():
            within = within[:1]
        return [None if np.isnan(amount) else amount for amount in within.tolist()]

    def are_beyond(self, name: str, values: Sequence[object], requests: Rows, rows: Rows) -> Mask:
        """Return at which matches ``of_matches`` may replace a request's value, (G,).

        :param values: of each request, (R,).
        :param requests: the request of each match, (G,).
        :param rows: its slot, (G,).
        """
        own = np.array([_amount(value) for value in values])[requests]
        sizes = self._size(name)[rows]
        with np.errstate(invalid="ignore"):
            if name not in self.names:
                return np.asarray(own > sizes)
            there = np.array([value is not None for value in values])[requests]
            return np.asarray(there & ~((own >= LEAST.get(name, 0.0)) & (own <= sizes)))

    def complete(self, ad: Ad, row: int) -> Ad:
        """Return the ad of a claim with what its slot has of processors and memory, where the ad lacks the request."""
        missing = [name for name in LEAST if name not in ad]
        if not missing:
            return ad
        sizes = {name: float(self.size(name, np.array([row]))[0]) for name in missing}
        return ad.replaced({name: number(float(np.fmax(size, LEAST[name]))) for name, size in sizes.items()})

    def of_claim(self, ad: Ad, row: int) -> Ad:
        """Return the ad of a match with at least what its slot has, if the slot was made for the job."""
        if row < 0 or not self._is_carved[row]:
            return ad
        sizes = {name: float(self._size(name)[row]) for name in self.names}
        more = {
            name: number(size)
            for name, size in sizes.items()
            if size > 0 and not (ad.real(name) or 0.0) >= size
        }
        return ad.replaced(more) if more else ad

    def _counted(self, name: str, requests: tuple[Amounts, Mask], rows: Rows) -> tuple[Amounts, Mask]:
        (own, absent), size = requests, self.size(name, rows)
        with np.errstate(invalid="ignore"):
            valid = (own >= 0) & (own <= MOST)
        amounts = np.where(valid, np.fmin(own, size), size)
        amounts = np.fmax(amounts, LEAST[name]) if name in LEAST else amounts
        carved = self.carved(rows)
        amounts = np.where(carved, np.fmax(amounts, size), amounts)
        # A job without a request for another resource requests none, unless its slot was made with some.
        return amounts, ~absent | (carved & (size > 0))

    def _capped(self, name: str, own: Amounts, rows: Rows) -> tuple[Amounts, Mask]:
        size = self.size(name, rows)
        with np.errstate(invalid="ignore"):
            return size, own > size

    def carved(self, rows: Rows) -> Mask:
        """Return which slots were made for their jobs, (N,), by row; -1 is not in the pool."""
        return self._is_carved[rows]

    def size(self, name: str, rows: Rows) -> Amounts:
        """Return what each slot has of a requested resource; for one outside the pool, the most that any slot has."""
        sizes = self._size(name)
        if not len(sizes):
            return np.full(len(rows), np.nan)
        most = np.nan if np.isnan(sizes).all() else np.nanmax(sizes)
        return np.where(rows >= 0, sizes[rows], most)

    def _least(self, name: str, rows: Rows) -> float:
        """Return the least that some slots have of a requested resource; NaN if one of them has no such number."""
        sizes = self._size(name)
        return float(sizes[rows[0]] if len(rows) == 1 else sizes[rows].min())

    def _size(self, name: str) -> Amounts:
        """Return what each slot has of a requested resource, (S,): NaN if its ad has no such number."""
        if name not in self._sizes:
            attribute = name.removeprefix(PREFIX)
            sizes = _finite(self.slots.numbers(attribute))
            if self._is_divisible.any():  # its own amount is what is left of it
                total = _finite(self.slots.numbers(f"TotalSlot{attribute}"))
                sizes = np.where(self._is_divisible, np.fmax(sizes, total), sizes)
            self._sizes[name] = sizes
        return self._sizes[name]

    @cached_property
    def _is_divisible(self) -> Mask:
        return self.slots.alone("PartitionableSlot").is_true()

    @cached_property
    def _is_carved(self) -> Mask:
        """The slots that were made for one job; one more element, for no slot."""
        dynamic = self.slots.alone("DynamicSlot").is_true()
        types = np.fromiter(
            (each == "dynamic" for each in names(self.slots, "SlotType")), np.bool_, len(self.slots)
        )
        return np.append((dynamic | types) & ~self._is_divisible, False)


def _amount(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else np.nan


def is_request(name: str) -> bool:
    """True if an attribute of a job, in lower case, is the amount of a resource."""
    return name.startswith(PREFIX) and name != PREFIX


def exceeds(job: Ad, requests: Iterable[str], env: Environment) -> bool:
    """True if a request is larger than any machine: products with it may exceed 64 bits, and become small again."""
    for name in requests:
        value = evaluate(reference(name), job, None, env) if name in job else 0
        if isinstance(value, int | float) and abs(value) > MOST:
            return True
    return False


def number(amount: float) -> int | float:
    """Return an amount as ads have it: whole numbers are integers."""
    return int(amount) if amount.is_integer() else amount


def _requests(name: str, jobs: Table, env: Environment) -> tuple[Amounts, Mask]:
    """Return a request of each job, NaN if it is not a number, and which jobs lack it."""
    column = evaluate_table(reference(name), jobs, env=env)
    booleans = np.broadcast_to(column.where(Kind.BOOLEAN), (len(jobs),))
    absent = np.broadcast_to(jobs.column(name).kinds == Kind.ABSENT, (len(jobs),))
    return np.where(booleans, np.nan, column.numbers()), absent


def _finite(sizes: Amounts) -> Amounts:
    with np.errstate(invalid="ignore"):
        return np.where((sizes >= 0) & (sizes <= MOST), sizes, np.nan)


def pool_capacity(slots: Table, bundle: Bundle) -> dict[str, int]:
    """Return the amount of each resource that the slots have, in the units of queues.yaml.

    A slot has what a job that requests all of it would be charged: the attribute NAME for each RequestNAME that the
    resource's expression reads. A divisible slot counts for what is left of it, beside the slots that were made of it.
    A resource that no slot has is missing.
    """
    found = {}
    for name in bundle.resource_expressions:
        amounts, kinds = _amounts(slots, bundle, name)
        counts = np.bincount(kinds, minlength=len(amounts)).tolist()
        total = sum(amount * count for amount, count in zip(amounts, counts, strict=True))
        if total:
            found[name] = total
    return found


def slot_amounts(slots: Table, bundle: Bundle) -> dict[str, NDArray[np.float64]]:
    """Return the amount of each resource that each slot has, (S,), in the units of queues.yaml."""
    found = {}
    for name in bundle.resource_expressions:
        amounts, kinds = _amounts(slots, bundle, name)
        found[name] = np.array(amounts, np.float64)[kinds]
    return found


def _amounts(slots: Table, bundle: Bundle, name: str) -> tuple[list[int], NDArray[np.intp]]:
    """Return the amounts of a resource that slots have, each once, and the number of each slot's amount, (S,)."""
    requests = sorted(filter(is_request, bundle.resource_expressions[name].names))
    sizes = np.array([_sizes(slots, request) for request in requests]).reshape(len(requests), len(slots))
    shapes, kinds = np.unique(sizes, axis=1, return_inverse=True)
    amounts = [
        _charged_amount(bundle, name, dict(zip(requests, shape, strict=True))) for shape in shapes.T.tolist()
    ]
    return amounts, kinds.reshape(-1)


def _sizes(slots: Table, request: str) -> list[float]:
    """Return what each slot has of a requested resource, 0 without a valid number, (S,)."""
    sizes = slots.numbers(request.removeprefix(PREFIX))
    with np.errstate(invalid="ignore"):
        valid: list[float] = np.where((sizes >= 0) & (sizes <= MOST), sizes, 0.0).tolist()
    return valid


def _charged_amount(bundle: Bundle, name: str, requests: dict[str, float]) -> int:
    """Return what a job with these requests would be charged of a resource; 0 if that is not a number."""
    job = Ad([(request, number(size)) for request, size in requests.items()])
    value = bundle.resource_expressions[name].value(job, Environment(now=0.0))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, math.floor(value))
