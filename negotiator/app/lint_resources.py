"""Reports amounts of resources that nobody has: limits and maxima that limit nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Table, evaluate_table
from negotiator.classad.syntax import Attr, fold
from negotiator.queues import QueueConfig
from negotiator.queues.quantities import Resources
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

if TYPE_CHECKING:
    from negotiator.pool import Snapshot

#: Resources of every HTCondor pool beside those that the queues always know.
_STANDARD = ("cpu", "cpus", "disk", "gpus", "memory", "vcore")
_SHORT = 80


def lint_resources(bundle: Bundle, pool: Snapshot | None, now: float) -> Iterator[Problem]:
    """Yield a problem for each amount of a resource that nobody has, once at each place.

    With a pool it is an error: no slot has the resource and no job requests it. Without one, a name that is neither a
    standard resource nor configured is a warning.

    :param now: the time that expressions of jobs see, in seconds since the epoch.
    """
    configured = bundle.required_resources
    there = configured if pool is None else configured | _in_pool(bundle, pool, now)
    for source, path, amounts in _amounts(bundle.partition.root):
        for name in amounts:
            if name in there or (pool is None and fold(name) in _STANDARD):
                continue
            yield _problem(name, path, source, in_pool=pool is not None, known={*_STANDARD, *there})


def _problem(name: str, path: str, source: Source, *, in_pool: bool, known: set[str]) -> Problem:
    short = name[:_SHORT]
    hint = suggest(name, known, listed=False)
    if in_pool:
        message = (
            f"{path}: no slot of this pool has {short}, and no job requests it: this amount limits nothing"
        )
        remedy = f"remove it, or configure how jobs request it: placement: resources: {short}:"
        return Problem(Severity.ERROR, source, message, hint or remedy, code="resource_unknown")
    message = f"{path}: {short} is not a resource of every pool: it limits jobs with Request{short} only"
    remedy = "use check --pool to see whether anybody has it"
    return Problem(Severity.WARNING, source, message, hint or remedy, code="resource_unknown")


def _amounts(root: QueueConfig) -> Iterator[tuple[Source, str, Resources]]:
    """Yield the place, the queue, and the amounts of each maximum, template and limit."""
    for queue in root.walk():
        yield queue.source, queue.path, {**queue.guaranteed, **queue.max}
        if queue.template is not None:
            yield queue.source, queue.path, {**queue.template.guaranteed, **queue.template.max}
        for limit in queue.limits:
            yield limit.source, queue.path, limit.resources


def _in_pool(bundle: Bundle, pool: Snapshot, now: float) -> frozenset[str]:
    """Return the resources that a slot of the pool has, or a job requests."""
    from negotiator.cycle.claim_amounts import pool_capacity

    requested = (
        name
        for name, expression in bundle.resource_expressions.items()
        if any(_is_requested(each, pool.jobs, now) for each in expression.names)
    )
    return frozenset(pool_capacity(pool.slots, bundle)).union(requested)


def _is_requested(attribute: str, jobs: Table, now: float) -> bool:
    """True if a job has another value of an attribute than 0; an expression may have any value on a slot."""
    column = evaluate_table(Attr(attribute), jobs, env=Environment(now=now))
    return bool(np.any(column.numbers() > 0))
