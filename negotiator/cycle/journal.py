"""The journal: matches of earlier cycles that count until the pool shows them."""

from __future__ import annotations

import attrs

from negotiator.classad import ClassAd, unparse
from negotiator.classad.syntax import RecordExpr


@attrs.frozen
class JournalEntry:
    """A match of an earlier cycle not yet visible in the pool: all data that its charges depend on.

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
        """A unique key: without an audit log the ids of matches start anew with each process."""
        return f"{self.id} {self.at!r}"

    @property
    def kind(self) -> tuple[object, ...]:
        """The data that matches with equal charges share."""
        return self.submitter, self.schedd, self.queue, self.user, self.group, self.resources, self.ad


def ad_text(ad: ClassAd) -> str:
    """Return an ad as text that ``parse_ad`` reads back."""
    return unparse(RecordExpr(tuple(ad.items())))
