"""The limits of a queue configuration, indexed once for as long as the configuration lives."""

from __future__ import annotations

from weakref import finalize

from negotiator.plugin import ROOT, QueueConfig, QueueTree
from negotiator_limits.limit_index import LimitIndex

# By the identity of the root queue's configuration: it is compared by value otherwise, queue by queue. An entry is
# removed with its configuration, before the identity can be used again.
_INDEXES: dict[int, LimitIndex] = {}


def limits_of(queues: QueueTree) -> LimitIndex:
    """Return the limits of the configuration that a queue tree was made from."""
    root = queues.get(ROOT)
    if root is None:
        return LimitIndex(QueueConfig(ROOT, leaf=False))
    key = id(root.config)
    index = _INDEXES.get(key)
    if index is None:
        index = _INDEXES[key] = LimitIndex(root.config)
        finalize(root.config, _INDEXES.pop, key, None).atexit = False
    return index
