"""The placement rules of YuniKorn: provided, user, fixed and tag.

Source: "App Placement Rules", Rules. The core implements filters, parents, ``create``, access, and the rule for forced
applications (recovery).
"""

from __future__ import annotations

from collections.abc import Iterable

from negotiator.plugin import Application, ConfiguredRule, PlacementRule, QueueTarget, hookimpl


@hookimpl
def negotiator_placement_rules() -> Iterable[PlacementRule]:
    """Return the four types of rules."""
    yield PlacementRule(
        name="provided", target=_provided, absent="the application names no queue", takes_value=False
    )
    yield PlacementRule(name="user", target=_user, absent="the application has no user", takes_value=False)
    yield PlacementRule(name="fixed", target=_fixed, needs_value=True, fixed=True)
    yield PlacementRule(
        name="tag",
        target=_tag,
        absent="the application does not have the tag",
        needs_value=True,
        tags=lambda value: [value],
    )


def _provided(application: Application, _rule: ConfiguredRule) -> QueueTarget | None:
    return QueueTarget.given(application.queue) if application.queue else None


def _user(application: Application, _rule: ConfiguredRule) -> QueueTarget | None:
    return QueueTarget.child(application.user) if application.user else None


def _fixed(_application: Application, rule: ConfiguredRule) -> QueueTarget | None:
    """Return a path below the root, or below the parent rule's queue; ``root`` alone is the root."""
    path = rule.value.lower()
    return QueueTarget(path, qualified=path == "root" or path.startswith("root."))


def _tag(application: Application, rule: ConfiguredRule) -> QueueTarget | None:
    value = application.tags.get(rule.value.lower(), "")
    return QueueTarget.given(value) if value else None
