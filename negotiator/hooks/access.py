"""What a plugin that decides about access works with."""

from __future__ import annotations

import enum

import attrs

from negotiator.records import Source


class AccessKind(enum.StrEnum):
    """What somebody wants to do."""

    SUBMIT = "submit"  # applications to a queue
    ADMINISTER = "administer"  # the applications of a queue: move them, take them out of matching
    CONFIGURE = "configure"  # the scheduler: change its configuration, administer any queue


class AccessDecision(enum.StrEnum):
    """What one policy says. Whoever is granted something by one policy and forbidden it by none may do it."""

    GRANT = "grant"
    FORBID = "forbid"  # whatever others grant
    ABSTAIN = "abstain"  # it does not give access; with nobody who does, it is denied


@attrs.frozen(cache_hash=True)
class AccessQuestion:
    """The question whether a user may do something somewhere.

    ``queue`` is a full path in lower case, of a queue that may not exist yet; it is empty where ``act`` is CONFIGURE.
    """

    user: str
    groups: tuple[str, ...]
    act: AccessKind
    queue: str = ""


@attrs.frozen
class Access:
    """The answer of one policy: ``rule`` names what decided it, ``text`` is a sentence for people."""

    decision: AccessDecision
    rule: str
    text: str
    source: Source | None = None


@attrs.frozen
class UserGroups:
    """The groups of a user, the primary one first."""

    user: str
    groups: tuple[str, ...]


@attrs.frozen
class QueueNotice:
    """What became of a queue, or that it is draining still, for whoever is to be notified of it.

    ``change`` is created, changed, managed, draining, restored or removed; ``since`` is when the queue got its state,
    in seconds since the epoch. ``owners`` are the users with applications in it; ``administrators`` is who its access
    control lists let administer it, as they are written: users first, then groups with an @ before them.
    """

    queue: str
    change: str
    since: float
    owners: tuple[str, ...] = ()
    administrators: tuple[str, ...] = ()
