"""The maxima of queues: of each resource, and of running applications, in a queue and the queues below it together.

Source: "Scheduler Configuration", Queue Definition (resource settings, running application limit); YuniKorn's queue
configuration, ``resources: max:`` and ``maxapplications:``. The property ``negotiator.max.mode`` is their mode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from negotiator.plugin import MAXIMA_MODE, Mode, hookimpl, upwards

if TYPE_CHECKING:
    from negotiator.plugin import Charge, KeyCharge, QueueTree, Request


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Return no attributes: charges depend only on what every request has."""
    return ()


@hookimpl
def negotiator_charges(request: Request, queues: QueueTree) -> Iterable[Charge | KeyCharge]:
    """Charge each queue from the leaf to the root that has a maximum."""
    from negotiator.plugin import Charge, KeyCharge, Quota

    for path in upwards(request.queue):
        queue = queues.get(path)
        if queue is None:
            continue
        config = queue.config
        mode = queues.mode(path, MAXIMA_MODE) if config.max or config.applications else Mode.ENFORCE
        for resource, maximum in config.max.items():
            label = Quota(
                rule=f"maximum of {path}",
                text=f"queue {path}",
                resource=resource,
                source=config.source,
                mode=mode,
            )
            yield Charge((path, resource), request.resources.get(resource, 0), maximum, label)
        if config.applications:
            label = Quota(
                rule=f"maxapplications of {path}",
                text=f"running applications of {path}",
                source=config.source,
                mode=mode,
            )
            yield KeyCharge((path,), request.applications, config.applications, label)
