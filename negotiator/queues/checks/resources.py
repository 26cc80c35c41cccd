"""Amounts against those of the queues above: guaranteed and maximum resources, numbers of applications."""

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
    """Each queue's maximum within its parent's, what is guaranteed within both, on all levels."""
    _guaranteed(root, {}, findings)


def check_applications(root: QueueConfig, findings: Findings) -> None:
    """A child of a queue with a number of applications has one too, and none larger."""
    for queue in root.walk():
        for child in queue.children if queue.applications else ():
            if not child.applications:
                message = (
                    f"{child.path} has no maxapplications, and {queue.path} above it has {queue.applications}"
                )
                code, hint = "queue_maxapps_unset_under_limited_parent", f"say at most {queue.applications}"
                findings.error(code, child.source, message, hint)
            elif child.applications > queue.applications:
                message = f"{child.path}: {child.applications} applications are more than the {queue.applications} of {queue.path}"
                findings.error(
                    "queue_maxapps_exceeds_parent", child.source, message, "lower one, or raise the other"
                )


def _guaranteed(queue: QueueConfig, above: Resources, findings: Findings) -> Resources:
    """What is guaranteed in a queue and below; ``above`` is the maximum of all that is above it."""
    own = exceeding(queue.guaranteed, queue.max)
    if own:
        message = (
            f"{queue.path}: more is guaranteed than the maximum: {compared(own, queue.guaranteed, queue.max)}"
        )
        findings.error("guaranteed_exceeds_max", queue.source, message, "lower one, or raise the other")
    over = exceeding(queue.max, above)
    if over:
        message = f"{queue.path}: the maximum is above that of the queues above it: {compared(over, queue.max, above)}"
        findings.error(
            "child_max_exceeds_parent_max", queue.source, message, "lower it, or raise those above"
        )
    maximum = smaller(queue.max, above)
    total: Resources = {}
    for child in queue.children:
        total = added(total, _guaranteed(child, maximum, findings))
    below = exceeding(total, queue.guaranteed)
    if below:
        message = f"{queue.path}: its children are guaranteed more than it is: {compared(below, total, queue.guaranteed)}"
        findings.error("children_guaranteed_exceed_parent_guaranteed", queue.source, message)
    too_much = exceeding(total, maximum)
    if too_much and queue.children:
        message = f"{queue.path}: its children are guaranteed more than its maximum: {compared(too_much, total, maximum)}"
        findings.error("children_guaranteed_exceed_max", queue.source, message)
    return total if is_zero(queue.guaranteed) else queue.guaranteed
