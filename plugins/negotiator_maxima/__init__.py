"""The maxima of queues: of each resource, and of running applications, in a queue and the queues below it together.

Source: "Scheduler Configuration", Queue Definition (resource settings, running application limit); YuniKorn's queue
configuration, ``resources: max:`` and ``maxapplications:``. The property ``negotiator.max.mode`` is their mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from negotiator.plugin import MAXIMA_MODE, Mode, Section, hookimpl, upwards

if TYPE_CHECKING:
    from negotiator.plugin import Charge, DeclaredRule, KeyCharge, QueueConfig, QueueTree, Request


@attrs.frozen
class MaximaSettings:
    """No keys: maxima are part of the queues."""


@hookimpl
def negotiator_section() -> Section:
    """Name the maxima of the queues as rules."""
    return Section(schema=MaximaSettings, rules=_declared_rules)


def _declared_rules(settings: MaximaSettings, root: QueueConfig) -> Iterator[DeclaredRule]:
    from negotiator.plugin import DeclaredRule, configured_modes, format_amounts

    del settings
    modes = configured_modes(root, MAXIMA_MODE)
    for queue in root.walk():
        texts = {_maximum(queue.path): format_amounts(queue.max)}
        texts[_applications(queue.path)] = str(queue.applications or "")
        for rule, text in texts.items():
            if text:
                yield DeclaredRule(rule=rule, text=text, source=queue.source, mode=modes[queue.path])


def _maximum(path: str) -> str:
    return f"maximum of {path}"


def _applications(path: str) -> str:
    return f"maxapplications of {path}"


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Return no attributes: charges depend only on what every request has."""
    return ()


@hookimpl
def negotiator_unused_hooks(queues: QueueTree) -> Iterable[str]:
    """Charge nothing if no queue has a maximum, nor can get one by a template."""
    parts = [each for queue in queues for each in (queue.config, queue.config.template) if each is not None]
    return () if any(each.max or each.applications for each in parts) else ["negotiator_charges"]


@hookimpl
def negotiator_charges(request: Request, queues: QueueTree) -> Iterable[Charge | KeyCharge]:
    """Charge each queue from the leaf to the root that has a maximum."""
    from negotiator.plugin import KeyCharge, Quota, RequestedCharge

    for path in upwards(request.queue):
        queue = queues.get(path)
        if queue is None:
            continue
        config = queue.config
        mode = queues.mode(path, MAXIMA_MODE) if config.max or config.applications else Mode.ENFORCE
        for resource, maximum in config.max.items():
            label = Quota(
                rule=_maximum(path),
                text=f"queue {path}",
                resource=resource,
                source=config.source,
                mode=mode,
            )
            yield RequestedCharge.of(request, (path, resource), resource, maximum, label)
        if config.applications:
            label = Quota(
                rule=_applications(path),
                text=f"running applications of {path}",
                source=config.source,
                mode=mode,
            )
            yield KeyCharge((path,), request.applications, config.applications, label)
