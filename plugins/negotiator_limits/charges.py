"""The charges of a whole request, for admission of as many of its jobs as fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from negotiator.plugin import Charge, Ints, KeyCharge, LimitIndex
from negotiator_limits.levels import APPLICATIONS, levels


def charges_for(
    scope: LimitIndex,
    user: str,
    group: str,
    queue: str,
    resources: Mapping[str, int | Ints],
    applications: Sequence[str],
) -> tuple[list[Charge], list[KeyCharge]]:
    """What a request is charged for its user and its group, on each queue from the leaf to the root.

    Every counter is charged, whether or not there is a limit: a later configuration may have one. The label of each
    charge is a ``Label``.

    :param scope: the limits of the configuration; make it once for a cycle.
    :param group: what the applications count for (``LimitIndex.group``, kept from when they were first seen), or empty.
    :param queue: the path of the leaf, which need not be configured.
    :param resources: what one job takes of each resource, in the resource's unit: one value, or (N,) over the slots.
    :param applications: (M,), the application of each job.
    """
    found = levels(scope, user, group, queue.lower())
    sums = [
        Charge(level.key(name), amount, level.most(name), level.label(name))
        for level in found
        for name, amount in resources.items()
    ]
    keys = [
        KeyCharge(level.applications, applications, level.most_applications, level.label(APPLICATIONS))
        for level in found
    ]
    return sums, keys
