"""What became of an application, rule by rule."""

from __future__ import annotations

import attrs

from negotiator.records import Source

MATCHED = "matched"
NO_RULE_MATCHED = "no_rule_matched"


@attrs.frozen
class PlacementStep:
    """One rule that was tried: the queue it made, empty where it made none, and what came of it.

    ``code`` is ``matched``; or why the rule does not serve and the next is tried: ``filtered``, ``no_value``,
    ``queue_missing``, ``queue_is_parent``, ``queue_draining``, ``access_denied``, ``queue_reserved``; or what rejects
    the application at once: ``invalid_queue_name``, ``parent_is_leaf``, ``create_under_leaf``,
    ``create_under_draining``, ``plugin_error``.
    """

    rule: str
    queue: str
    code: str
    text: str
    plugin: str
    version: str
    source: Source


@attrs.frozen
class Placement:
    """Where an application goes, or why nowhere: ``code`` is that of the last step, or ``no_rule_matched``."""

    queue: str
    code: str
    steps: tuple[PlacementStep, ...]

    @property
    def placed(self) -> bool:
        """Whether it goes anywhere."""
        return bool(self.queue)
