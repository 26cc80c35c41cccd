"""The attributes of jobs that charges read, as they are at a match."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import attrs
import numpy as np

from negotiator.classad import Ad, Environment, Table, evaluate_table
from negotiator.classad.syntax import Literal, NameIndex, Side
from negotiator.cycle.claim_amounts import ClaimAmounts, is_request, number
from negotiator.cycle.plain_values import PlainValue, plain_value
from negotiator.ledger import Rows

#: By name in lower case, sorted.
Attributes: TypeAlias = tuple[tuple[str, PlainValue], ...]

T = TypeVar("T")

_MAX_REQUESTS = 50  # of a job, beside those that policies read


@attrs.frozen(eq=False)
class MatchedAttributes:
    """Reads the attributes of matched jobs; ``read`` are those that charges read, None if plugins may read any."""

    slots: Table
    amounts: ClaimAmounts
    read: frozenset[str] | None
    _names_of: dict[NameIndex, list[str]] = attrs.field(factory=dict, init=False)

    def of(self, job: Ad, rows: Rows, env: Environment) -> list[Attributes]:
        """Return the attributes of each match of one request: its jobs are equal in what charges read.

        :param job: the ad of one of the jobs.
        :param rows: the slots of the matches, (G,), G > 0.
        :param env: has the allowances that pay for the evaluations.
        """
        names, slots = self._names(job), self.slots.take(rows)
        columns = [self._within(name, _values(job, name, slots, env), rows) for name in names]
        if max(map(len, columns)) == 1:  # equal for all slots
            return [tuple((name, value) for name, (value,) in zip(names, columns, strict=True))] * len(rows)
        each = zip(*(_repeated(column, len(rows)) for column in columns), strict=True)
        return [tuple(zip(names, found, strict=True)) for found in each]

    def _names(self, job: Ad) -> list[str]:
        """Return the names to read, sorted; they are found once for ads with the same names."""
        found = self._names_of.get(job.shape)
        if found is None:
            found = self._names_of[job.shape] = self._sorted_names(job.shape)
        return found

    def _sorted_names(self, shape: NameIndex) -> list[str]:
        """Return the names to read, sorted: also requests that no policy reads now, since a later one may limit them."""
        requests = sorted(filter(is_request, shape.index))[:_MAX_REQUESTS]
        read = frozenset(shape.index) - _MATCHING if self.read is None else self.read
        return sorted({*read, *requests, *self.amounts.names})

    def _within(self, name: str, values: list[PlainValue], rows: Rows) -> list[PlainValue]:
        """Return values, amounts within what the slots hold; one for all slots where they are equal."""
        if not is_request(name):
            return values
        amounts = self.amounts.of_matches(name, values, rows)
        if len(values) == len(amounts) == 1:
            amount = amounts[0]
            return values if amount is None else [number(amount)]
        size = max(len(values), len(amounts))
        pairs = zip(_repeated(values, size), _repeated(amounts, size), strict=True)
        return [value if amount is None else number(amount) for value, amount in pairs]


_MATCHING = frozenset({"requirements", "rank"})


def _values(job: Ad, name: str, slots: Table, env: Environment) -> list[PlainValue]:
    """Return the values of an attribute with each slot, one for all slots where they are equal."""
    expression = job.folded(name)
    if expression is None:
        return [None]
    if isinstance(expression, Literal):
        return [plain_value(expression.value)]
    column = evaluate_table(expression, slots, job, side=Side.TARGET, env=env)
    rows = range(1 if column.is_constant else len(column))
    return [plain_value(value) for value in column.values(np.array(rows, np.intp))]


def _repeated(values: list[T], size: int) -> list[T]:
    return values * size if len(values) == 1 else values
