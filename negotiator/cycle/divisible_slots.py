"""Slots that several matches share: those with a consumption policy, and with ``match: fill`` all partitionable ones.

A slot with a consumption policy says what each match takes of its resources, and stays in the cycle with the rest of
them. A slot that is filled goes to one request, for as many of its jobs as it holds; what they take is what they
request. Source: HTCondor manual, "Consumption Policy for a Partitionable Slot"; condor_negotiator 25.14.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Environment, Expr, Kind, Side, Table, bind, evaluate_table, parse
from negotiator.classad.syntax import Literal
from negotiator.hooks.order import SlotAllowance
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows

#: What all partitionable slots have (HTCondor manual, MachineResources).
_USUAL = ("Cpus", "Memory", "Disk")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
#: Resources of one pool: hostile ads may name any number.
MOST_RESOURCES = 32
_MOST_COPIES = 1 << 20
_PARTITIONABLE = bind(parse("MY.PartitionableSlot =?= true"))


@attrs.frozen(eq=False)
class SlotCopies:
    """How many jobs of one request each slot may get, (N,)."""

    counts: NDArray[np.int64]

    def repeated(self, rows: Rows, ranks: NDArray[np.float64]) -> tuple[Rows, NDArray[np.float64]]:
        """Return each slot as often as it may get a job, and its rank."""
        times = self.counts[rows]
        return np.repeat(rows, times), np.repeat(ranks, times)

    def at_most(self, granted: Rows) -> SlotCopies:
        """Return the same, but no more for a slot than it is granted."""
        rows, times = np.unique(granted, return_counts=True)
        counts = self.counts.copy()
        counts[rows] = times
        return SlotCopies(counts)


@attrs.frozen(eq=False)
class Consumption:
    """What one job of a request takes of each divisible slot: amounts (R, D), and the rest after one job, a table of D."""

    copies: SlotCopies
    amounts: NDArray[np.float64]
    rest: Table
    divisible: DivisibleSlots

    def allowance(self, allowance: SlotAllowance | None) -> SlotAllowance | None:
        """Return an allowance in which a divisible slot weighs what one job takes of it."""
        if allowance is None or allowance.weigh is None:
            return allowance
        weights = allowance.weights.copy()
        weights[self.divisible.rows] = allowance.weigh(self.divisible.part, self.rest)
        return attrs.evolve(allowance, weights=weights)


def undivided_slots(slots: Table, env: Environment, *, fill: Mask | None) -> Mask:
    """Return the partitionable slots that give one match a cycle, (N,): the schedd that gets one divides it.

    :param fill: slots that several jobs of a request share if they are partitionable, (N,): ``filled_slots``.
    """
    partitionable = evaluate_table(_PARTITIONABLE, slots, env=env).is_true()
    divisible = DivisibleSlots.of(slots, env, fill=fill)
    if divisible is not None:
        partitionable = partitionable.copy()
        partitionable[divisible.rows] = False
    return partitionable


@attrs.define(eq=False)
class DivisibleSlots:
    """The divisible slots of one cycle: ``rows`` (D,), and which of them have a consumption policy, (D,).

    ``slots`` are all slots as they were at the beginning, ``part`` is the table of the divisible ones as they are now.
    """

    slots: Table
    resources: tuple[str, ...]
    rows: Rows
    has_policy: Mask
    left: NDArray[np.float64]  # resources, (R, D); NaN for those that a slot does not have
    part: Table = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.part = self.slots.take(self.rows)

    def offered(self, slots: Table) -> None:
        """Read the slots as the order of the cycle offers them."""
        self.slots, self.part = slots, slots.take(self.rows)

    @classmethod
    def of(cls, slots: Table, env: Environment, *, fill: Mask | None) -> Self | None:
        """Return the divisible slots; None if there are none.

        :param fill: as in ``undivided_slots``.
        """
        partitionable = evaluate_table(_PARTITIONABLE, slots, env=env).is_true()
        if not partitionable.any():
            return None
        listed = slots.strings("MachineResources")
        policies = np.zeros(len(slots), np.bool_)
        texts = sorted({text for text in listed[partitionable].tolist() if text})
        for text in texts:
            policies |= partitionable & (listed == text) & _has_policy(slots, text)
        rows = np.flatnonzero(policies if fill is None else policies | (partitionable & fill))
        if not len(rows):
            return None
        named = {name.lower(): name for text in texts for name in resource_names(text)}
        resources = tuple(({name.lower(): name for name in _USUAL} | named).values())[:MOST_RESOURCES]
        has = [evaluate_table(bind(parse(f"MY.{name}")), slots.take(rows), env=env) for name in resources]
        left = np.array([each.numbers() for each in has])
        return cls(slots, resources, rows, policies[rows], left)

    @property
    def policies(self) -> Rows:
        """The rows of the slots with a consumption policy."""
        return self.rows[self.has_policy]

    @property
    def filled(self) -> Rows:
        """The rows of the slots that go to one request."""
        return self.rows[~self.has_policy]

    def consumption(self, job: Ad, env: Environment) -> Consumption:
        """Return what one job of a request takes; ``env`` has the allowances that pay for it."""
        amounts = np.array([self._amount(name, job, env) for name in self.resources])
        has = self.left
        with np.errstate(invalid="ignore", divide="ignore"):
            holds = np.where(amounts > 0, np.floor(has / amounts), np.inf)
        holds = np.where(np.isnan(holds), np.where(self.has_policy, 0, np.inf), holds)
        most = holds.min(axis=0)
        takes = (amounts > 0).any(axis=0)
        invalid = (~np.isfinite(amounts) | (amounts < 0)).any(axis=0) | ~takes
        most = np.where(
            self.has_policy, np.where(invalid, 0, most), np.where(invalid, 1, np.maximum(most, 1))
        )
        counts = np.ones(len(self.slots), np.int64)
        counts[self.rows] = most.clip(0, _MOST_COPIES).astype(np.int64)
        amounts = np.where(np.isfinite(amounts), amounts, 0).clip(min=0)
        everything = np.arange(len(self.rows), dtype=np.intp)
        rest = with_resources(self.part, self.resources, everything, has - amounts)
        return Consumption(SlotCopies(counts), amounts, rest, self)

    def take(self, consumption: Consumption, granted: Rows) -> Table | None:
        """Return the slots of the cycle after some matches; None if they are as they were: none has a policy."""
        rows, times = np.unique(granted, return_counts=True)
        taken = np.zeros(len(self.slots), np.int64)
        taken[rows] = times
        times = np.where(self.has_policy, taken[self.rows], 0)
        if not times.any():
            return None
        self.left = self.left - consumption.amounts * times
        slots = with_resources(self.slots, self.resources, self.rows, self.left)
        self.part = slots.take(self.rows)
        return slots

    def _amount(self, name: str, job: Ad, env: Environment) -> NDArray[np.float64]:
        """Return what one job takes of a resource, (D,); NaN for a policy that does not say a number."""
        requested = evaluate_table(parse(f"MY.Request{name}"), self.part, job, side=Side.TARGET, env=env)
        consumed = evaluate_table(bind(parse(f"MY.Consumption{name}")), self.part, job, env=env)
        absent = np.broadcast_to(self.part.column(f"Consumption{name}").where(Kind.ABSENT), len(self.rows))
        policy = np.where(absent, 0.0, consumed.numbers())
        return np.where(self.has_policy, policy, requested.numbers(0.0))


def resource_names(text: str | None) -> Iterator[str]:
    """Yield the resources of MachineResources, the usual ones without it; swap is not divided."""
    for name in _USUAL if text is None else re.split(r"[\s,]+", text):
        if _NAME.fullmatch(name) and name.lower() != "swap":
            yield name


def _has_policy(slots: Table, text: str) -> Mask:
    """Return which slots have a policy for each of these resources, (N,)."""
    found = np.ones(len(slots), np.bool_)
    names = list(resource_names(text))[:MOST_RESOURCES]
    for name in names:
        found &= ~np.broadcast_to(slots.column(f"Consumption{name}").where(Kind.ABSENT), len(slots))
    return found if names else np.zeros(len(slots), np.bool_)


def with_resources(slots: Table, names: Sequence[str], rows: Rows, left: NDArray[np.float64]) -> Table:
    """Return slots with these resources in some rows, (R, D); NaN leaves one as it is."""
    return slots.with_attributes(
        {
            name: _replaced(slots, name, rows, values)
            for name, values in zip(names, left, strict=True)
            if not np.isnan(values).all()
        }
    )


def _replaced(
    slots: Table, name: str, rows: Rows, values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], list[Expr | None]]:
    """Return an attribute of all slots with new values in some rows; NaN leaves it as it is."""
    codes, first = slots.group([name])
    own: list[Expr | None] = [slots.ad(row).get(name) for row in first.tolist()]
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known].clip(min=0), return_inverse=True)
    codes = codes.copy()
    codes[rows[known]] = len(own) + places
    return codes, own + [Literal(int(value) if value.is_integer() else value) for value in distinct.tolist()]
