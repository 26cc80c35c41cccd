"""Collects the ads that a live pool sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from negotiator.pool.ad_kind import PoolAdKind
from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.longform import larger_blocks, read_long_blocks, whole_lines
from negotiator.pool.private_ads import SlotKey, ad_texts, slot_claims, slot_key
from negotiator.pool.snapshot_builder import SnapshotBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from negotiator.classad import Table
    from negotiator.pool.snapshot import Snapshot
    from negotiator.pool.vault import ClaimVault
    from negotiator.records import Problem

MAX_UPDATES: Final = 30
"""Cycles whose slots are those of the cycle before with changes; then all are read anew, and old values take no more room."""


@attrs.frozen(eq=False)
class PoolReading:
    """The ads of a cycle as they were read, for the next cycle. ``updates`` counts the cycles since all slots were read."""

    builder: SnapshotBuilder
    alike: AlikeReader
    updates: int = 0

    @classmethod
    def begin(cls) -> PoolReading:
        """Return a reading without ads."""
        builder = SnapshotBuilder()
        return cls(builder, AlikeReader(builder.dictionary, builder.budget))

    def continued(self, slots: frozenset[SlotKey]) -> PoolReading:
        """Return a reading that begins with these slots and their claim ids."""
        builder = self.builder.continued(slots)
        return PoolReading(builder, self.alike.continued(builder.budget), self.updates + 1)

    @property
    def slots(self) -> Table:
        """The slots that were read so far."""
        return self.builder.ads[PoolAdKind.SLOT].table()


class PoolAds:
    """The ads of a pool at one moment: fetched from its daemons, read as those of files are.

    Ads that cannot be used are set aside, and are among the problems of the snapshot. Claim ids go to ``claims``, and are in
    no ad.

    :param significant: returns the job attributes, in lower case, that decisions with these slots read of any job; for a pool
        that is observed only, none.
    :param before: that of the last cycle; None if there is none.
    """

    def __init__(
        self,
        significant: Callable[[Table], frozenset[str]] = lambda _: frozenset(),
        before: PoolReading | None = None,
    ) -> None:
        self._significant = significant
        self.unanswered: list[Problem] = []
        self._before = before if before is not None and before.updates < MAX_UPDATES else None
        self.reading = PoolReading.begin()

    def add(self, daemon: str, texts: Iterable[str]) -> None:
        """Add ads in the long form: a line for each attribute, and a blank line after each ad.

        Ads of all kinds may be mixed. Larger texts are read faster.

        :param daemon: the daemon that sent them, for messages.
        :param texts: may end anywhere, even within a line.
        """
        blocks = larger_blocks(whole_lines(texts))
        self.reading.builder.add_results(
            daemon, read_long_blocks(blocks, daemon, self.reading.alike, keep_claims=True)
        )

    def add_claims(self, daemon: str, texts: Iterable[str]) -> None:
        """Add the claim ids of slots: their private ads, as ``add`` reads them."""
        others = []
        for ad in ad_texts(texts):
            found = slot_claims(ad)
            if found is None:
                others.append(f"{ad}\n\n")
            else:
                self.reading.builder.put_private_claims(*found)
        if others:
            self.add(daemon, others)

    @property
    def can_update(self) -> bool:
        """True if ``update`` can be called."""
        return self._before is not None

    @property
    def last_heard_from(self) -> int:
        """The time of the last update of a slot that the last cycle has read (``LastHeardFrom``, of the collector's clock)."""
        if self._before is None:
            return 0
        times = self._before.slots.numbers("LastHeardFrom", default=0.0)
        return int(np.max(times, initial=0.0))

    @property
    def slots_without_claim(self) -> tuple[str, ...]:
        """The names of the slots of the last cycle whose claim ids were handed out, or never known."""
        return () if self._before is None else self._before.builder.without_claim()

    def update(self, present: Iterable[str]) -> None:
        """Begin with the slots of the last cycle, and their claim ids; ads of slots that are added take the place of their earlier ones.

        Call this before any ad is added, and add the ads of all slots that changed since: those with a ``LastHeardFrom`` of
        ``last_heard_from`` or later.

        :param present: in long form, the attributes Name and MyAddress of all slots that the pool has.
        """
        if self._before is None:
            raise ValueError("there is no last cycle to update")
        keys = frozenset(filter(None, map(slot_key, ad_texts(present))))
        self.reading, self._before = self._before.continued(keys), None

    def significant_attributes(self) -> frozenset[str]:
        """Return the attributes, in lower case, in which jobs of one request must be equal, for the slots that were added.

        A schedd adds what its jobs' own expressions read.
        """
        return self._significant(self.reading.slots)

    def add_problem(self, problem: Problem) -> None:
        """Report what could not be fetched."""
        self.unanswered.append(problem)
        self.reading.builder.problems.append(problem)

    @property
    def claims(self) -> ClaimVault:
        """The claim ids of the slots."""
        return self.reading.builder.vault

    def snapshot(self) -> Snapshot:
        """Return the ads as tables."""
        return self.reading.builder.snapshot()
