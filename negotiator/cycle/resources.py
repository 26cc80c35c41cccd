"""The amounts that a job requests, in the units of queues.yaml: memory in bytes, vcore in thousandths, others in whole units."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import ERROR, UNDEFINED, ClassAd, Column, Environment, Kind, Table, evaluate_table
from negotiator.queues.quantities import LARGEST

_BEYOND = 2.0**63  # the first real number that no counter holds


def requested(
    job: ClassAd, bundle: Bundle, env: Environment, elsewhere: Collection[str] = ()
) -> tuple[dict[str, int], frozenset[str]]:
    """Return the amount of each resource that a job requests, and the resources whose amount it does not specify.

    A job without ``RequestName`` requests 0 of that resource, except of memory and vcore, which it must specify. A
    negative amount, a value that is not a number, and an amount that depends on the slot specify nothing. Fractions
    are rounded up; an amount beyond 2^63 - 1 is that.

    :param elsewhere: the attributes that slots have, in lower case: an expression that refers to one depends on the slot.
    """
    found: dict[str, int] = {}
    unknown = set()
    for name, expression in bundle.resource_expressions.items():
        try:
            value = expression.value(job, env, elsewhere)
        except ValueError:
            value = ERROR
        if value is UNDEFINED and name not in bundle.required_resources and f"Request{name}" not in job:
            found[name] = 0
        elif (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and value >= 0
        ):
            found[name] = min(math.ceil(value), LARGEST)
        else:
            found[name] = 0
            unknown.add(name)
    return found, frozenset(unknown)


def amounts(jobs: Table, bundle: Bundle, env: Environment) -> dict[str, NDArray[np.int64]]:
    """Return the amounts of each resource that jobs request, (N,): 0 where a job does not specify it."""
    return {name: _amounts(evaluate_table(tree, jobs, env=env)) for name, tree in bundle.resources.items()}


def _amounts(column: Column) -> NDArray[np.int64]:
    found = np.zeros(len(column), np.int64)
    if column.has(Kind.INTEGER):
        found = np.where(column.where(Kind.INTEGER), column.data[Kind.INTEGER], found)
    if column.has(Kind.REAL):
        reals = np.ceil(column.data[Kind.REAL])
        sound = column.where(Kind.REAL) & np.isfinite(reals)
        counted = np.where(sound & (reals < _BEYOND), reals, 0.0).astype(np.int64)
        found = np.where(sound, np.where(reals < _BEYOND, counted, LARGEST), found)
    return np.maximum(found, 0)
