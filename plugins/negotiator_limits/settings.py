"""The keys of ``pool.yaml`` for limits of groups."""

from __future__ import annotations

import enum

import attrs


class GroupTracking(enum.StrEnum):
    """Which applications the limits of groups count.

    SPECIFICATION: users in no group of a limit, or in no group at all, count for the wildcard; an application without a
    group gets one when a limit names one of its groups. YUNIKORN: users in no group count for none, and an application
    that was first seen without a group stays without.
    """

    SPECIFICATION = "specification"
    YUNIKORN = "yunikorn"


@attrs.frozen
class LimitSettings:
    """``group_limits``: follow the specification, or YuniKorn's code where it differs."""

    group_limits: GroupTracking = GroupTracking.SPECIFICATION
