"""Compare the resources and application numbers of queues with those of the queues above."""

from __future__ import annotations

from negotiator.queues.checks.findings import Findings
from negotiator.queues.model import QueueConfig
from negotiator.queues.quantities import (
    Resources,
    added,
    compared,
    exceeding,
    is_zero,
    smaller,
)


def check_resources(root: QueueConfig, findings: Findings) -> None:
    """Check that maxima are within those above, and guaranteed resources within both, on all levels."""
    _guaranteed(root, {}, findings)


def check_applications(root: QueueConfig, findings: Findings) -> None:
    """Check that children of a queue with a maximum of applications have one too, and not a larger one."""
    for queue in root.walk():
        for child in queue.children if queue.applications else ():
            if not child.applications:
                message = (
                    f"{child.path} has no maxapplications, and {queue.path} above it has {queue.applications}"
                )
                code, hint = (
                    "queue_maxapps_unset_under_limited_parent",
                    f"set it to at most {queue.applications}",
                )
                findings.error(code, child.source, message, hint)
            elif child.applications > queue.applications:
                message = f"{child.path}: {child.applications} applications are more than the {queue.applications} of {queue.path}"
                findings.error(
                    "queue_maxapps_exceeds_parent", child.source, message, "lower one or raise the other"
                )


def _guaranteed(queue: QueueConfig, above: Resources, findings: Findings) -> Resources:
    """Return the guaranteed resources of a queue; ``above`` is the smallest maximum of the queues above."""
    own = exceeding(queue.guaranteed, queue.max)
    if own:
        message = f"{queue.path}: guaranteed resources exceed the maximum: {compared(own, queue.guaranteed, queue.max)}"
        findings.error("guaranteed_exceeds_max", queue.source, message, "lower one or raise the other")
    over = exceeding(queue.max, above)
    if over:
        message = f"{queue.path}: the maximum exceeds that of the queues above it: {compared(over, queue.max, above)}"
        findings.error(
            "child_max_exceeds_parent_max", queue.source, message, "lower it, or raise those above"
        )
    maximum = smaller(queue.max, above)
    total: Resources = {}
    for child in queue.children:
        total = added(total, _guaranteed(child, maximum, findings))
    below = exceeding(total, queue.guaranteed)
    if below:
        message = f"{queue.path}: the guaranteed resources of its children exceed its own: {compared(below, total, queue.guaranteed)}"
        findings.error("children_guaranteed_exceed_parent_guaranteed", queue.source, message)
    too_much = exceeding(total, maximum)
    if too_much and queue.children:
        message = f"{queue.path}: the guaranteed resources of its children exceed its maximum: {compared(too_much, total, maximum)}"
        findings.error("children_guaranteed_exceed_max", queue.source, message)
    return total if is_zero(queue.guaranteed) else queue.guaranteed
