"""Queues in the shape of YuniKorn's REST interface, as far as their settings decide it: ``/ws/v1`` and ``queues --json`` have these values.

Source: YuniKorn's documentation, "Scheduler" (REST API), Partition queues; its ``GetPartitionQueueDAOInfo``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import attrs

from negotiator.bundle import Bundle
from negotiator.queues import ROOT, Queue, QueueTree
from negotiator.queues.checks.structure import PREEMPTION
from negotiator.queues.model import ChildTemplate
from negotiator.queues.names import parent_of
from negotiator.queues.quantities import Resources, is_zero
from negotiator.queues.settings import (
    PREEMPTION_DELAY,
    PREEMPTION_POLICY,
    PRIORITY_OFFSET,
    PRIORITY_POLICY,
    SORT_POLICY,
    SORT_PRIORITY,
    PreemptionPolicy,
    PriorityPolicy,
    QueueSettings,
    duration_text,
    effective_properties,
    effective_settings,
)


@attrs.frozen(eq=False)
class QueueValues:
    """What cycles make of the settings of queues under one bundle.

    ``properties`` and ``settings`` are the effective ones, by path. ``followed`` are the keys of queues that the order of the bundle
    follows: what it does not follow has no effect, and is shown so. ``preempts`` is False if there is no preemption between queues at all.
    """

    queues: QueueTree
    partition: str
    properties: Mapping[str, Mapping[str, str]]
    settings: Mapping[str, QueueSettings]
    followed: frozenset[str]
    preempts: bool

    @classmethod
    def of(cls, queues: QueueTree, bundle: Bundle) -> Self:
        """Return the values of a tree of queues."""
        chosen = bundle.ordering.chosen
        followed = frozenset() if chosen is None else frozenset(chosen.record.queue_keys)
        return cls(
            queues,
            bundle.partition.name,
            effective_properties(queues),
            effective_settings(queues),
            followed,
            bundle.partition.preemption and PREEMPTION in followed,
        )

    def entry(self, queue: Queue, maximum: Resources) -> dict[str, Any]:
        """Return the values of a queue, without its use; a key is missing if its value is zero or empty, unless YuniKorn always writes it.

        Amounts are raw integers: memory and the like in bytes, vcore in thousandths.

        :param maximum: what it may use at most.
        """
        config, path, own = queue.config, queue.path, self.settings[queue.path]
        optional = {
            "status": str(queue.state),
            "maxResource": dict(maximum),
            "guaranteedResource": {} if is_zero(config.guaranteed) else dict(config.guaranteed),
            "properties": dict(self.properties[path]),
            "parent": parent_of(path) if path != ROOT else "",
            "template": {} if queue.leaf else _template(self.queues.template(path)),
            "maxRunningApps": config.applications,
            "sortingPolicy": self._if_followed(SORT_POLICY, str(own.sort), ""),
            "priorityOffset": self._if_followed(PRIORITY_OFFSET, own.offset, 0),
            "preemptionDelay": self._if_followed(PREEMPTION_DELAY, duration_text(own.preemption_delay), ""),
        }
        policy = self._if_followed(PREEMPTION_POLICY, own.preemption, PreemptionPolicy.DISABLED)
        priority = self._if_followed(PRIORITY_POLICY, own.priority, PriorityPolicy.DEFAULT)
        return {
            "queuename": path,
            "partition": self.partition,
            "isLeaf": queue.leaf,
            "isManaged": queue.managed,
            "currentPriority": 0,
            "prioritySorting": self._if_followed(SORT_PRIORITY, own.by_priority, False),
            "preemptionEnabled": self.preempts and policy is not PreemptionPolicy.DISABLED,
            "isPreemptionFence": policy is PreemptionPolicy.FENCE,
            "isPriorityFence": priority is PriorityPolicy.FENCE,
            **_filled(optional),
        }

    def _if_followed(self, key: str, value: Any, otherwise: Any) -> Any:
        return value if key in self.followed else otherwise


def _template(template: ChildTemplate | None) -> dict[str, Any]:
    if template is None:
        return {}
    return _filled(
        {
            "maxApplications": template.applications,
            "maxResource": dict(template.max),
            "guaranteedResource": dict(template.guaranteed),
            "properties": dict(template.properties),
        }
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}
