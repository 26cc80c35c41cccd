"""What the jobs of a queue use."""

from __future__ import annotations

import attrs

from negotiator.queues.quantities import Resources


@attrs.frozen
class QueueUsage:
    """The usage of one queue and those below it: the amount of each resource, and the number of applications."""

    resources: Resources
    applications: int
