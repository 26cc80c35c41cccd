"""The amounts that a job requests, in the units of queues.yaml: memory in bytes, vcore in thousandths, others in whole units."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    ClassAdValue,
    Environment,
    JobExpression,
    Kind,
    Table,
    evaluate_table,
)
from negotiator.cycle.claim_amounts import LEAST, MOST, exceeds, is_request
from negotiator.queues.quantities import LARGEST

#: The amount of each resource, and the resources whose amount is not specified.
ResourceAmounts: TypeAlias = tuple[dict[str, int], frozenset[str]]

#: The least that a claim counts for, as an ad.
_LEAST = Ad([(name, int(amount)) for name, amount in LEAST.items()])


@attrs.frozen(eq=False)
class RequestedAmounts:
    """Finds the amount of each resource that jobs request, and the resources whose amount they do not specify.

    A job without ``RequestName`` requests 0 of that resource, except of memory and vcore, which it must specify. A
    negative amount, a value that is not a number, and an amount that depends on the slot specify nothing. Fractions are
    rounded up; a request larger than any machine is 2^63 - 1. A job requests at least one core and one MiB.

    ``elsewhere`` are the attributes that slots have, in lower case: an expression that refers to one depends on the slot.
    """

    bundle: Bundle
    env: Environment
    elsewhere: Collection[str] = ()
    _least: dict[str, int] = attrs.field(factory=dict, init=False)

    def of_ad(self, job: Ad) -> ResourceAmounts:
        """Return the amounts of one job."""
        found: dict[str, int | None] = {}
        for name, expression in self.bundle.resource_expressions.items():
            try:
                value = expression.value(job, self.env, self.elsewhere)
            except ValueError:
                value = ERROR
            requests = filter(is_request, expression.names)
            if _is_number(value) and exceeds(job, requests, self.env):
                found[name] = LARGEST
            else:
                found[name] = self._amount(name, value, is_missing=f"Request{name}" not in job)
        return _amounts(found)

    def of_jobs(self, jobs: Table) -> list[ResourceAmounts]:
        """Return the amounts of each job: by columns where the attributes that are read are constants."""
        expressions = self.bundle.resource_expressions
        is_constant = np.ones(len(jobs), np.bool_)
        for name in frozenset[str]().union(*(each.names for each in expressions.values())):
            column = jobs.column(name)
            is_constant &= ~(column.where(Kind.EXPRESSION) | column.where(Kind.OTHER))
        rows = np.flatnonzero(is_constant)
        constants = jobs.take(rows)
        columns = [self._of_constants(name, each, constants) for name, each in expressions.items()]
        found: list[ResourceAmounts | None] = [None] * len(jobs)
        for place, row in enumerate(rows.tolist()):
            found[row] = _amounts(
                {name: column[place] for name, column in zip(expressions, columns, strict=True)}
            )
        return [self.of_ad(jobs.ad(row)) if each is None else each for row, each in enumerate(found)]

    def _of_constants(self, name: str, expression: JobExpression, jobs: Table) -> Sequence[int | None]:
        """Return the amount of a resource for each job, all that it reads being constants; None if it is not specified."""
        every = np.arange(len(jobs))
        values = evaluate_table(expression.tree, jobs, env=self.env).values(every)
        missing = np.broadcast_to(jobs.column(f"Request{name}").where(Kind.ABSENT), (len(jobs),)).tolist()
        found = [
            self._amount(name, value, is_missing=is_missing)
            for value, is_missing in zip(values, missing, strict=True)
        ]
        for request in filter(is_request, expression.names):
            with np.errstate(invalid="ignore"):
                larger = np.flatnonzero(np.abs(jobs.column(request).numbers()) > MOST)
            for row in larger.tolist():
                found[row] = LARGEST if _is_number(values[row]) else found[row]
        return found

    def _amount(self, name: str, value: ClassAdValue, *, is_missing: bool) -> int | None:
        """Return the amount of a resource that a value is; None if it specifies none."""
        if value is UNDEFINED and is_missing and name not in self.bundle.required_resources:
            return 0
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if not math.isfinite(value) or value < 0:
            return None
        return max(min(math.ceil(value), LARGEST), self._least_amount(name))

    def _least_amount(self, name: str) -> int:
        """Return the amount of a resource that one core and one MiB are."""
        if name not in self._least:
            value = self.bundle.resource_expressions[name].value(_LEAST, self.env)
            is_amount = (
                isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST
            )
            self._least[name] = math.ceil(value) if is_amount and isinstance(value, int | float) else 0
        return self._least[name]


def _is_number(value: ClassAdValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _amounts(found: Mapping[str, int | None]) -> ResourceAmounts:
    unknown = frozenset(name for name, amount in found.items() if amount is None)
    known = {name: amount for name, amount in found.items() if amount is not None}
    return {**dict.fromkeys(sorted(unknown), 0), **known}, unknown
