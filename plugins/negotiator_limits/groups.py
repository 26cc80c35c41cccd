"""The group whose limits an application counts for.

Source: "User and Group Quota Enforcement", Wildcard interpretation; YuniKorn's group resolution, where an application
keeps the group that it had when it was first seen.
"""

from __future__ import annotations

from negotiator.plugin import PlacedApplication
from negotiator_limits.limit_index import LimitIndex
from negotiator_limits.settings import GroupTracking


def chosen_group(limits: LimitIndex, application: PlacedApplication, tracking: GroupTracking) -> str:
    """Return the group of an application: its present one as long as a limit of its queue or above names it.

    Limits that enforce come first: those in mode warn or dryrun must not take an application from them.
    """
    present, queue = application.group, application.queue
    follows_specification = tracking is GroupTracking.SPECIFICATION
    if present == "" and not follows_specification:
        return ""
    for index in dict.fromkeys((limits.enforcing, limits)):
        if present and index.names_group(present, queue):
            return present
        if found := index.group(application.groups, queue, everybody=follows_specification):
            return found
    # A group that no limit names is kept until another one is found: its limit may come back.
    return present or ""
