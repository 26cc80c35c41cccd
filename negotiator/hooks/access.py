"""The records of access policies, of groups of users, and of changes of queues."""

from __future__ import annotations

import enum

import attrs

from negotiator.records import Source


class AccessKind(enum.StrEnum):
    """The kinds of access."""

    SUBMIT = "submit"  # applications to a queue
    ADMINISTER = "administer"  # the applications of a queue: move, hold or kill them
    CONFIGURE = "configure"  # the scheduler: change its static settings
    CONFIGURE_QUEUES = "configure_queues"  # change the queues, their limits and the placement rules

    @property
    def of_configuration(self) -> bool:
        """True for a right that is about no queue in particular."""
        return self in {AccessKind.CONFIGURE, AccessKind.CONFIGURE_QUEUES}


class AccessDecision(enum.StrEnum):
    """The decision of one policy. Access is granted if one policy grants it and none forbids it."""

    GRANT = "grant"
    FORBID = "forbid"  # overrides the grants of others
    ABSTAIN = "abstain"  # neither; if all policies abstain, access is denied


@attrs.frozen(cache_hash=True)
class AccessQuestion:
    """The question whether a user has a kind of access to a queue.

    ``queue`` is a full path in lower case, of a queue that may not exist yet; it is empty if ``act`` is
    CONFIGURE or CONFIGURE_QUEUES.
    """

    user: str
    groups: tuple[str, ...]
    act: AccessKind
    queue: str = ""


@attrs.frozen
class Access:
    """The answer of one policy: ``rule`` names the rule that decided, ``text`` is a sentence for people."""

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
    """A change of a queue, or that it is still draining.

    ``change`` is created, changed, managed, draining, restored or removed. ``since`` is the time of the last change of
    state, in seconds since the epoch. ``owners`` are the users with applications in the queue. ``administrators`` are the
    names in its access control lists for administration: users first, then groups with an @ before them.
    """

    queue: str
    change: str
    since: float
    owners: tuple[str, ...] = ()
    administrators: tuple[str, ...] = ()
