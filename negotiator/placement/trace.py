"""The trace of a placement, rule by rule."""

from __future__ import annotations

import attrs

from negotiator.hooks.access import Access
from negotiator.hooks.placement import Application
from negotiator.records import Source

MATCHED = "matched"
NO_RULE_MATCHED = "no_rule_matched"


@attrs.frozen
class PlacementStep:
    """One rule that was tried, the queue it gave (empty for none), and the result.

    ``code`` is ``matched``; or a mismatch, after which the next rule is tried: ``filtered``, ``no_value``,
    ``queue_missing``, ``queue_is_parent``, ``queue_draining``, ``access_denied``, ``queue_reserved``; or a failure that
    rejects the application at once: ``invalid_queue_name``, ``parent_is_leaf``, ``create_under_leaf``,
    ``create_under_draining``, ``plugin_error``.
    """

    rule: str
    queue: str
    code: str
    text: str
    plugin: str
    version: str
    source: Source
    access: Access | None = None  # the answer of the access policies for the queue, if they were asked


@attrs.frozen
class Placement:
    """The queue of an application, empty if it is rejected; ``code`` is that of the last step, or ``no_rule_matched``."""

    queue: str
    code: str
    steps: tuple[PlacementStep, ...]

    @property
    def placed(self) -> bool:
        """True if the application has a queue."""
        return bool(self.queue)


@attrs.frozen
class ApplicationPlacement:
    """The placement of new applications that are alike in all that rules read: one of them, and how many jobs."""

    application: Application
    jobs: int
    first_job: str
    placement: Placement
