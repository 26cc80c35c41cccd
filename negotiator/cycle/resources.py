"""The amounts that a job requests, in the units of queues.yaml: memory in bytes, vcore in thousandths, others in whole units."""

from __future__ import annotations

import math
from collections.abc import Collection

from negotiator.bundle.model import Bundle
from negotiator.classad import ERROR, UNDEFINED, ClassAd, Environment
from negotiator.cycle.claim_amounts import LEAST, exceeds, is_request
from negotiator.queues.quantities import LARGEST

#: The least that a claim counts for, as an ad.
_LEAST = ClassAd([(name, int(amount)) for name, amount in LEAST.items()])


def requested(
    job: ClassAd, bundle: Bundle, env: Environment, elsewhere: Collection[str] = ()
) -> tuple[dict[str, int], frozenset[str]]:
    """Return the amount of each resource that a job requests, and the resources whose amount it does not specify.

    A job without ``RequestName`` requests 0 of that resource, except of memory and vcore, which it must specify. A
    negative amount, a value that is not a number, and an amount that depends on the slot specify nothing. Fractions are
    rounded up; a request larger than any machine is 2^63 - 1. A job requests at least one core and one MiB.

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
        elif isinstance(value, bool) or not isinstance(value, int | float):
            unknown.add(name)
        elif exceeds(job, filter(is_request, expression.names), env):
            found[name] = LARGEST
        elif math.isfinite(value) and value >= 0:
            found[name] = max(min(math.ceil(value), LARGEST), least(name, bundle, env))
        else:
            unknown.add(name)
    return {**dict.fromkeys(sorted(unknown), 0), **found}, frozenset(unknown)


def least(name: str, bundle: Bundle, env: Environment) -> int:
    """Return the amount of a resource that one core and one MiB are."""
    value = bundle.resource_expressions[name].value(_LEAST, env)
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST
    return math.ceil(value) if is_amount and isinstance(value, int | float) else 0
