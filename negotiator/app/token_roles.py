"""The roles of tokens; this module imports next to nothing, so that help is quick."""

from __future__ import annotations

import enum


class Role(enum.StrEnum):
    """What a token may be used for, each role with what those before it may do.

    The access policies of the bundle decide what its user may do.
    """

    VIEWER = "viewer"
    QUEUE_ADMINISTRATOR = "queue-administrator"
    SCHEDULER_ADMINISTRATOR = "scheduler-administrator"

    def includes(self, other: Role) -> bool:
        """True if a token of this role may do what the other one may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)
