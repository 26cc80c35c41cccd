"""The journal: what each match was charged for, from the match to the end of its claim."""

from __future__ import annotations

import attrs

from negotiator.classad import Ad
from negotiator.cycle.plain_values import PlainValue


@attrs.frozen
class JournalEntry:
    """A match of this cycle or an earlier one: all data that its charges depend on, as they were at the match.

    ``attributes`` has the values of the job's attributes that charges read, by name in lower case and sorted, evaluated
    with the slot of the match; None for one that was missing. Amounts are what the claim counts for: at least one core,
    and no more than the slot holds. ``groups`` are those of the user. ``at`` is in seconds since the epoch.

    ``claim`` is the public part of the claim id that it was handed out with (``PublicClaimId``), empty if it is not known; several
    matches that share a slot may have one. ``is_copy``: the ad of the request stood for several jobs, so that ``job`` may not be the one that runs. ``shown``:
    the pool has shown the claim; the entry lasts as long as it does.
    """

    id: str
    at: float
    submitter: str
    schedd: str
    job: str  # "cluster.proc"
    slot: str
    queue: str
    user: str
    groups: tuple[str, ...]
    group: str
    application: str
    attributes: tuple[tuple[str, PlainValue], ...]
    is_copy: bool = False
    shown: bool = False
    claim: str = ""

    @property
    def key(self) -> str:
        """A unique key: without an audit log the ids of matches start anew with each process."""
        return f"{self.id} {self.at!r}"

    @property
    def typed_attributes(self) -> tuple[object, ...]:
        """The attributes as a key that tells 1, 1.0 and true apart."""
        return self.attributes, tuple(type(value) for _, value in self.attributes)

    @property
    def job_key(self) -> tuple[str, str, str]:
        """The key of its job: schedd, user and ``cluster.proc``, as ``job_keys`` returns it."""
        return self.schedd, self.user, self.job

    @property
    def kind(self) -> tuple[object, ...]:
        """The data that matches with equal charges share."""
        where = self.submitter, self.schedd, self.queue, self.user, self.group, self.groups
        return *where, *self.typed_attributes

    @property
    def charged_ad(self) -> Ad:
        """The attributes that charges read, as an ad."""
        return Ad([(name, value) for name, value in self.attributes if value is not None])

    def over(self, ad: Ad) -> Ad:
        """Return an ad with the attributes of the match in place of its own."""
        return ad.replaced(dict(self.attributes))
