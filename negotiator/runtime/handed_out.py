"""What earlier cycles of this run handed out, while the ads may not show it yet."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np

from negotiator.cycle.jobs import job_id, schedds
from negotiator.hooks.records import Match
from negotiator.pool.snapshot import Snapshot


@attrs.define
class HandedOut:
    """The slots and jobs of earlier matches of one run: neither is matched a second time."""

    _slots: set[str] = attrs.field(factory=set)
    _jobs: set[tuple[str, str]] = attrs.field(factory=set)  # (schedd, "cluster.proc")

    def add(self, matches: Iterable[Match]) -> None:
        """Remember matches that were delivered."""
        for match in matches:
            self._slots.add(match.slot)
            self._jobs.add((match.schedd, match.job))

    def without(self, snapshot: Snapshot) -> Snapshot:
        """Give the pool without what was handed out."""
        if not self._slots:
            return snapshot
        slots, jobs = snapshot.slots, snapshot.jobs
        names = zip(jobs.ads, schedds(jobs), strict=True)
        free = np.array([name not in self._slots for name in slots.strings("Name")], dtype=np.bool_)
        asking = np.array([(schedd, job_id(ad)) not in self._jobs for ad, schedd in names], dtype=np.bool_)
        return attrs.evolve(snapshot, slots=slots.take(free), jobs=jobs.take(asking))
