"""Fetches the slots of a pool and their claim ids: all of them, or only what changed since the last cycle."""

from __future__ import annotations

from typing import Final

import attrs

from negotiator.plugin import PoolAds
from negotiator_live.collector import SLOT_CLAIMS, SLOTS, Collector
from negotiator_live.wire.ads import quoted

_COLLECTOR: Final = "collector"
_PRESENT: Final = attrs.evolve(SLOTS, projection=("Name", "MyAddress"))
_MAX_NAMES: Final = 200
"""Slots that a query names; if more are needed, those of all slots are fetched."""


def fetch_slots(collector: Collector, ads: PoolAds) -> None:
    """Add the slots of the pool and their claim ids, before any other ad.

    :raises DaemonError: the collector does not answer.
    """
    changed, claims = "true", "true"
    if ads.can_update:
        # The collector's own clock: what arrived in the second of the last update may have come after it.
        changed = f"LastHeardFrom >= {ads.last_heard_from}"
        claims = _changed_claims(changed, ads.slots_without_claim)
        ads.update(collector.query(_PRESENT))
    # The claim ids first: a slot that is claimed meanwhile must not be offered with the claim id that would preempt its job.
    ads.add_claims(_COLLECTOR, collector.query(attrs.evolve(SLOT_CLAIMS, requirements=claims)))
    ads.add(_COLLECTOR, collector.query(attrs.evolve(SLOTS, requirements=changed)))


def _changed_claims(changed: str, names: tuple[str, ...]) -> str:
    """Return the requirements of the private ads that changed, or belong to slots whose claim ids were handed out."""
    if not names:
        return changed
    if len(names) > _MAX_NAMES:
        return "true"
    return f"{changed} || member(Name, {{{', '.join(map(quoted, names))}}})"
