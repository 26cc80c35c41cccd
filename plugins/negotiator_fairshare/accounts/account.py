"""One row of the accounts, and the record of one slot in use."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

MIN_PRIORITY = 0.5
UNLIMITED = -1


@attrs.frozen(kw_only=True)
class AccountRecord:
    """The account of a submitter or an accounting group.

    Usage is in slot seconds, weighted usage in seconds times slot weight; times are in seconds since the epoch, 0 if
    there is none. ``factor`` is None until the negotiator sees the name for the first time. ``ceiling`` is -1 if there is
    none. While a lease holds (its expiration is not 0), the value before the lease is the one to return to.
    ``others`` are attributes without meaning here, as ClassAd text; they are kept for export.
    """

    priority: float = MIN_PRIORITY
    factor: float | None = None
    accumulated_usage: float = 0.0
    weighted_accumulated_usage: float = 0.0
    begin_usage: int = 0
    last_usage: int = 0
    resources_used: int = 0
    weighted_resources_used: float = 0.0
    hierarchical_weighted_resources_used: float = 0.0
    uncharged_time: int = 0
    weighted_uncharged_time: float = 0.0
    ceiling: int = UNLIMITED
    ceiling_lease_expiration: int = 0
    ceiling_before_lease: int = UNLIMITED
    floor: int = 0
    floor_lease_expiration: int = 0
    floor_before_lease: int = 0
    factor_lease_expiration: int = 0
    factor_before_lease: float | None = None
    others: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class ResourceRecord:
    """A slot in use: its user, its weight, and the time of the cycle that saw it last.

    ``concurrency_limits`` are those that its match counts for. ``others`` are attributes without meaning here.
    """

    user: str
    weight: float = 1.0
    start_time: int = 0
    concurrency_limits: str = ""
    others: Mapping[str, str] = attrs.field(factory=dict)
