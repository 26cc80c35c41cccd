"""Fetches the slots of a pool and their claim ids: all of them, or only what changed since the last cycle."""

from __future__ import annotations

from typing import Final

import attrs

from negotiator.plugin import PoolAds
from negotiator_live.collector import SLOT_CLAIMS, SLOTS, Collector
from negotiator_live.wire.ads import quoted

_COLLECTOR: Final = "collector"


_KEYS: Final = ("Name", "MyAddress", "LastHeardFrom", "UpdateSequenceNumber")


#: What changes if dynamic slots come or go.
_OF_FREE: Final = ("State", "Cpus", "Memory", "NumDynamicSlots")


_PRESENT: Final = attrs.evolve(SLOTS, projection=(*_KEYS, *_OF_FREE))


_ALL: Final = "true"


_MAX_NAMES: Final = 200
"""Slots that a query names; if more are needed, those of all slots are fetched."""


def fetch_slots(collector: Collector, ads: PoolAds, *, decides: bool) -> None:
    """Add the slots of the pool and their claim ids, before any other ad.

    :param decides: False if no job is idle: ads of free slots are then not fetched again.
    :raises DaemonError: the collector does not answer.
    """
    changed, claims = _ALL, _ALL
    if ads.can_update:
        found = ads.update(collector.query(_PRESENT), decides=decides)
        if not found.are_any:
            return
        changed = _received(found.since, found.names)
        claims = _received(found.claims_since, found.claim_names)
    # The claim ids first: a slot that is claimed meanwhile must not be offered with the claim id that would preempt its job.
    ads.add_claims(_COLLECTOR, collector.query(attrs.evolve(SLOT_CLAIMS, requirements=claims)))
    ads.add(_COLLECTOR, collector.query(attrs.evolve(SLOTS, requirements=changed)), kind="Machine")


def _received(since: int, names: tuple[str, ...]) -> str:
    """Return the requirements of ads that the collector received since a time (its own), or that have one of these names."""
    if len(names) > _MAX_NAMES:
        return _ALL
    received = f"LastHeardFrom >= {since}"
    return f"{received} || member(Name, {{{', '.join(map(quoted, names))}}})" if names else received
