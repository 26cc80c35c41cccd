"""The resources that a pool has: what all of its slots together could give to jobs.

Source: "Scheduler Configuration", Queue Definition: the resources of the root queue are those of the registered nodes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment, Table
from negotiator.cycle.claim_amounts import MOST, PREFIX, is_request, number


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
    amounts = [_amount(bundle, name, dict(zip(requests, shape, strict=True))) for shape in shapes.T.tolist()]
    return amounts, kinds.reshape(-1)


def _sizes(slots: Table, request: str) -> list[float]:
    """Return what each slot has of a requested resource, 0 without a valid number, (S,)."""
    sizes = slots.numbers(request.removeprefix(PREFIX))
    with np.errstate(invalid="ignore"):
        valid: list[float] = np.where((sizes >= 0) & (sizes <= MOST), sizes, 0.0).tolist()
    return valid


def _amount(bundle: Bundle, name: str, requests: dict[str, float]) -> int:
    """Return what a job with these requests would be charged of a resource; 0 if that is not a number."""
    job = Ad([(request, number(size)) for request, size in requests.items()])
    value = bundle.resource_expressions[name].value(job, Environment(now=0.0))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, math.floor(value))
