"""What a cycle has to know beside the ads: what earlier cycles and administrators left, and who is in which group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import attrs

from negotiator.bundle.model import Bundle
from negotiator.queues import QueueTree
from negotiator.queues.register import ApplicationId, Register


@attrs.frozen
class Hold:
    """An application that an administrator took out of matching: who, when, and why."""

    by: str
    at: float
    note: str = ""


@attrs.frozen
class Standing:
    """The queues as they are, the applications in them, those that are held, and the groups of users.

    A user whom nobody knows is in no group. Groups that could not be had, since a plugin failed, are None: what would
    depend on them is rejected. A cycle changes nothing of this; what it changed is in its result.
    """

    queues: QueueTree
    register: Register = attrs.field(factory=Register)
    held: Mapping[ApplicationId, Hold] = attrs.field(factory=dict)
    groups: Mapping[str, tuple[str, ...] | None] = attrs.field(factory=dict)

    @classmethod
    def new(cls, bundle: Bundle, now: float) -> Self:
        """The beginning: the configured queues, and nothing in them."""
        return cls(QueueTree.of(bundle.partition.root, now))
