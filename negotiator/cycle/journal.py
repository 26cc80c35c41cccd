"""The journal: what each match was charged for, from the match to the end of its claim.

It stores attributes of jobs as plain data, so that no ad has to be parsed again.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import attrs

from negotiator.classad import Ad, ClassAdValue

#: None if the attribute is missing, undefined, an error, or of a type that no charge reads.
PlainValue: TypeAlias = bool | int | float | str | None


_LONGEST = 1 << 16  # characters of a text


def plain_value(value: ClassAdValue) -> PlainValue:
    """Return a value as plain data; None if it is not a finite number, a boolean or a text of reasonable length."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else None


def checked_value(value: object) -> PlainValue:
    """Return a value read from a file.

    :raises ValueError: it is not plain data, or an integer of more than 64 bits.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"expected a number, a boolean, a text or null, got {str(value)[:60]!r}")


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
