"""Who sends a command, and HTCondor's authorization levels.

Source: ``condor_perms.h`` (``DCpermissionHierarchy``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Self

import attrs

UNAUTHENTICATED: Final = "unauthenticated@unmapped"
"""HTCondor's name of a peer that did not authenticate."""
_USER: Final = re.compile(r"[!-?A-~]{1,200}@[A-Za-z0-9_.-]{1,200}", re.ASCII)


def is_user(text: str) -> bool:
    """True if a text is ``name@domain`` in printable characters without blanks."""
    return _USER.fullmatch(text) is not None


class Level(StrEnum):
    """The authorization that a command needs."""

    ALLOW = "ALLOW"
    READ = "READ"
    WRITE = "WRITE"
    NEGOTIATOR = "NEGOTIATOR"
    ADMINISTRATOR = "ADMINISTRATOR"
    CONFIG = "CONFIG"
    DAEMON = "DAEMON"
    ADVERTISE_STARTD = "ADVERTISE_STARTD"
    ADVERTISE_SCHEDD = "ADVERTISE_SCHEDD"
    ADVERTISE_MASTER = "ADVERTISE_MASTER"

    @property
    def included_in(self) -> tuple[Level, ...]:
        """The levels that include this one themselves."""
        return tuple(level for level, included in _IMPLIED.items() if included is self)

    @property
    def with_implied(self) -> frozenset[Level]:
        """The level and those that it includes."""
        found, level = {self}, _IMPLIED.get(self)
        while level is not None:
            found.add(level)
            level = _IMPLIED.get(level)
        return frozenset(found)


_IMPLIED: Final = {
    Level.WRITE: Level.READ,
    Level.NEGOTIATOR: Level.READ,
    Level.ADMINISTRATOR: Level.WRITE,
    Level.CONFIG: Level.READ,
    Level.DAEMON: Level.WRITE,
    Level.ADVERTISE_STARTD: Level.READ,
    Level.ADVERTISE_SCHEDD: Level.READ,
    Level.ADVERTISE_MASTER: Level.READ,
}


@attrs.frozen
class Peer:
    """A peer: ``user`` is ``name@domain``, empty if it did not authenticate.

    ``limits`` are the only levels that it may use, as the scopes of a token say; None sets no limit. ``host`` is the address
    that it has connected from.
    """

    user: str = ""
    method: str = ""
    limits: frozenset[Level] | None = None
    host: str = ""

    @property
    def name(self) -> str:
        """The name for logs and records."""
        return self.user or UNAUTHENTICATED

    def may_use(self, level: Level) -> bool:
        """True if its limits include a level."""
        return level is Level.ALLOW or self.limits is None or level in self.limits

    def limited_to(self, levels: Iterable[Level]) -> Self:
        """Return the peer with no more than these levels and those that they include."""
        limits = frozenset[Level]().union(*(level.with_implied for level in levels))
        return attrs.evolve(self, limits=limits if self.limits is None else self.limits & limits)
