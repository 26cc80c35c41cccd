"""Use case: the tree of queues, with the applications and the usage of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

from negotiator.app.pool_view import PoolView
from negotiator.errors import NotFoundError
from negotiator.hooks.answers import HookFailure
from negotiator.queues import ROOT, QueueTree
from negotiator.queues.model import QueueUsage
from negotiator.queues.names import upwards
from negotiator.queues.quantities import Resources
from negotiator.records.text import suggest


@attrs.frozen(eq=False)
class QueueReport:
    """The queues from ``top`` down; with a pool, the maximum of the root queue is what the slots of the pool have.

    ``applications`` counts those in each queue and below it, None without a state. ``usage`` is by path, None without a
    pool; a missing path uses nothing. ``failures`` are of plugins, so that ``usage`` is incomplete.
    """

    tree: QueueTree
    top: str
    applications: Mapping[str, int] | None = None
    usage: Mapping[str, QueueUsage] | None = None
    failures: tuple[HookFailure, ...] = ()


def queue_report(view: PoolView, top: str = ROOT) -> QueueReport:
    """Return the queues of the bundle; with a state those of the negotiator, with a pool the usage too.

    :raises NotFoundError: unknown queue ``top``.
    :raises PoolError: the pool cannot be read.
    :raises StateError: the state cannot be read.
    """
    usage = view.queue_usage if view.paths else None
    tree = usage.queues if usage else view.queues
    if tree.get(top) is None:
        hint = suggest(top, (queue.path for queue in tree), listed=False)
        raise NotFoundError(f"unknown queue {top}{f': {hint}' if hint else ''}")
    applications = _with_descendants(view.manager.registry.counts()) if view.targets.state_location else None
    if usage is None:
        return QueueReport(tree, top, applications)
    from negotiator.cycle.claim_amounts import pool_capacity  # noqa: PLC0415 - imports NumPy; only with a pool

    shown = _with_capacity(tree, pool_capacity(view.snapshot.slots, view.bundle))
    return QueueReport(shown, top, applications, usage.usage, usage.failures)


def _with_capacity(tree: QueueTree, capacity: Resources) -> QueueTree:
    """Return the queues with the resources of the pool as the maximum of the root queue."""
    queues = {queue.path: queue for queue in tree}
    root = queues[ROOT]
    queues[ROOT] = attrs.evolve(root, config=attrs.evolve(root.config, max=capacity))
    return QueueTree(queues)


def _with_descendants(counts: Mapping[str, int]) -> Counter[str]:
    """Add the applications of each leaf to all queues above it."""
    total: Counter[str] = Counter()
    for path, count in counts.items():
        for each in upwards(path):
            total[each] += count
    return total
