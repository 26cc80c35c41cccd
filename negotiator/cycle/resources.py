"""What a job asks for, in the units of queues.yaml: memory in bytes, vcore in thousandths, all else as it is counted."""

from __future__ import annotations

import math

from negotiator.bundle.model import Bundle
from negotiator.classad import UNDEFINED, ClassAd, Environment, evaluate
from negotiator.queues.quantities import LARGEST


def requested(job: ClassAd, bundle: Bundle, env: Environment) -> tuple[dict[str, int], frozenset[str]]:
    """The amounts of each resource that a job asks for, and the resources of which it does not tell how much.

    Where a job has no ``RequestName`` it asks for nothing of that name; memory and vcore it has to tell. What is less
    than nothing, or no number, tells nothing, and neither does what depends on the slot; what is more than can be
    counted is the most that can.
    """
    found: dict[str, int] = {}
    unknown = set()
    for name, tree in bundle.resources.items():
        value = evaluate(tree, job, None, env)
        if value is UNDEFINED and name not in bundle.told and f"Request{name}" not in job:
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
