"""The attributes of jobs that charges read, as they are at a match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import attrs

from negotiator.classad import ClassAd, Environment, Expr, Table
from negotiator.classad.syntax import Literal, fold
from negotiator.cycle.claim_amounts import ClaimAmounts, is_request, number
from negotiator.cycle.plain_values import PlainValue, plain_value
from negotiator.ledger import Rows

#: By name in lower case, sorted.
Attributes: TypeAlias = tuple[tuple[str, PlainValue], ...]

_MAX_REQUESTS = 50  # of a job, beside those that policies read


@attrs.frozen(eq=False)
class MatchedAttributes:
    """Reads the attributes of matched jobs; ``read`` are those that charges read, None if plugins may read any."""

    slots: Table
    amounts: ClaimAmounts
    read: frozenset[str] | None

    def of(self, job: ClassAd, rows: Rows, env: Environment) -> Iterator[Attributes]:
        """Yield the attributes of each match of one request: its jobs are equal in what charges read.

        :param job: the ad of one of the jobs.
        :param rows: the slots of the matches, (G,).
        :param env: has the allowances that pay for the evaluations.
        """
        expressions = [(name, job.folded(name)) for name in self._names(job)]
        fixed = {name: _constant(expression) for name, expression in expressions}
        varying = [
            name for name, expression in expressions if expression is not None and not _is_literal(expression)
        ]
        shared: dict[tuple[PlainValue, ...], Attributes] = {}
        for row in rows.tolist():
            values = dict(fixed)
            for name in varying:
                values[name] = plain_value(job.evaluate(name, self.slots.ad(row), env))
            found = tuple((name, self._within(name, value, row)) for name, value in values.items())
            yield found if varying else shared.setdefault(tuple(value for _, value in found), found)

    def _names(self, job: ClassAd) -> list[str]:
        """Return the names to read, sorted: also requests that no policy reads now, since a later one may limit them."""
        own = [fold(name) for name, _ in job.items()]
        requests = sorted(filter(is_request, own))[:_MAX_REQUESTS]
        read = frozenset(own) - _MATCHING if self.read is None else self.read
        return sorted({*read, *requests, *self.amounts.names})

    def _within(self, name: str, value: PlainValue, row: int) -> PlainValue:
        """Return a value, an amount within what the slot holds."""
        if not is_request(name):
            return value
        amount = self.amounts.of_match(name, value, row)
        return value if amount is None else number(amount)


_MATCHING = frozenset({"requirements", "rank"})


def _is_literal(expression: Expr) -> bool:
    return isinstance(expression, Literal)


def _constant(expression: Expr | None) -> PlainValue:
    """Return the value of a constant; None for any other expression."""
    return plain_value(expression.value) if isinstance(expression, Literal) else None
