"""The placement rules of the older document: user name, primary and secondary group, application type.

Source: "Scheduler Configuration", Placement Rules definition. YuniKorn never had them under these names, so they are
unknown unless a bundle loads this plugin: ``plugins: modules: [negotiator_placement_classic]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from negotiator.plugin import Application, ConfiguredRule, PlacementRule, QueueTarget, hookimpl

_TYPE = "ApplicationType"


@hookimpl
def negotiator_placement_rules() -> Iterable[PlacementRule]:
    """Return the types of rules, the group rules also under the shorter names in use."""
    own = partial(PlacementRule, takes_value=False)
    yield own(name="username", target=_user, absent="the application has no user")
    for name in ("primarygroupname", "primarygroup"):
        yield own(name=name, target=_primary, absent="the user is in no group")
    for name in ("secondarygroupname", "secondarygroup"):
        yield own(name=name, target=_secondary, absent="no secondary group of the user matches")
    yield own(
        name="applicationtype", target=_type, absent="the application has no type", tags=lambda _: [_TYPE]
    )


def _user(application: Application, _rule: ConfiguredRule) -> QueueTarget | None:
    return QueueTarget.child(application.user) if application.user else None


def _primary(application: Application, _rule: ConfiguredRule) -> QueueTarget | None:
    return QueueTarget.child(application.groups[0]) if application.groups else None


def _secondary(application: Application, rule: ConfiguredRule) -> QueueTarget | None:
    """Return the first secondary group that passes the rule's own filter."""
    found = next(filter(rule.lets_through, application.groups[1:]), None)
    return QueueTarget.child(found) if found else None


def _type(application: Application, _rule: ConfiguredRule) -> QueueTarget | None:
    kind = application.tags.get(_TYPE.lower(), "")
    return QueueTarget.child(kind) if kind else None
