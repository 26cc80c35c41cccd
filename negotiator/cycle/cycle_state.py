"""What a cycle has to know beside the ads: what earlier cycles and administrators left, and who is in which group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import attrs

from negotiator.bundle.model import Bundle
from negotiator.classad import ClassAd, parse_ad, unparse
from negotiator.classad.syntax import RecordExpr
from negotiator.hooks.records import Request
from negotiator.queues import QueueTree
from negotiator.queues.applications import ApplicationId, ApplicationRegistry


@attrs.frozen
class ApplicationHold:
    """An application that an administrator took out of matching: who, when, and why."""

    by: str
    at: float
    note: str = ""


def ad_text(ad: ClassAd) -> str:
    """An ad as text that ``parse_ad`` reads back."""
    return unparse(RecordExpr(tuple(ad.items())))


@attrs.frozen
class JournalEntry:
    """A match that was handed out: all that its charges are made of, for as long as the pool does not show it.

    ``ad`` is the ad of its request, as text. ``at`` is in seconds since the epoch.
    """

    id: str
    at: float
    submitter: str
    schedd: str
    job: str  # "cluster.proc"
    slot: str
    queue: str
    user: str
    group: str
    application: str
    resources: tuple[tuple[str, int], ...]
    ad: str

    @property
    def key(self) -> str:
        """What tells it from all others: without an audit log the ids of matches begin anew with each process."""
        return f"{self.id} {self.at!r}"

    @property
    def kind(self) -> tuple[object, ...]:
        """What is the same for matches that are charged alike."""
        return self.submitter, self.schedd, self.queue, self.user, self.group, self.resources, self.ad

    def request(self, applications: Sequence[str]) -> Request:
        """The request that this match, and others of its kind, were made for."""
        return Request(
            submitter=self.submitter,
            schedd=self.schedd,
            ad=parse_ad(self.ad),
            count=len(applications),
            first_job=self.job,
            queue=self.queue,
            user=self.user,
            group=self.group,
            resources=dict(self.resources),
            applications=tuple(applications),
        )


@attrs.frozen
class CycleState:
    """The queues as they are, the applications in them, those that are held, and the groups of users.

    A user whom nobody knows is in no group. Groups that could not be had, since a plugin failed, are None: what would
    depend on them is rejected. A cycle changes nothing of this; what it changed is in its result.
    """

    queues: QueueTree
    registry: ApplicationRegistry = attrs.field(factory=ApplicationRegistry)
    held: Mapping[ApplicationId, ApplicationHold] = attrs.field(factory=dict)
    journal: tuple[JournalEntry, ...] = ()  # matches that were handed out, in their order
    groups: Mapping[str, tuple[str, ...] | None] = attrs.field(factory=dict)

    @classmethod
    def new(cls, bundle: Bundle, now: float) -> Self:
        """The beginning: the configured queues, and nothing in them."""
        return cls(QueueTree.of(bundle.partition.root, now))
