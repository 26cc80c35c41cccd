"""The journal of matches that were handed out and are not yet visible in the pool's ads.

They are charged until their jobs are seen running, or until ``claim_timeout`` has passed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.running_jobs import shown_matches
from negotiator.pool.snapshot import Snapshot


@attrs.define
class Journal:
    """The entries by the key of the match, in the order in which they were made."""

    _entries: dict[str, JournalEntry] = attrs.field(factory=dict)

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries.values())

    def add(self, entries: Iterable[JournalEntry]) -> None:
        """Add matches, before they are handed out."""
        self._entries.update((entry.key, entry) for entry in entries)

    def drop(self, keys: Collection[str]) -> None:
        """Remove entries by their keys."""
        for key in keys:
            self._entries.pop(key, None)

    def expire(self, snapshot: Snapshot, before: float) -> tuple[str, ...]:
        """Remove the matches that the pool shows and those made before ``before``; return their keys.

        Matches made for the same ad in the same cycle are removed together. The ads of the jobs do not show which of the
        copies is running, so a remaining entry could be taken for a running one.
        """
        if not self._entries:
            return ()
        entries = self.entries
        is_shown = shown_matches(entries, snapshot.running)
        missing = {_ad(entry) for entry, seen in zip(entries, is_shown, strict=True) if not seen}
        gone = tuple(
            key for key, entry in self._entries.items() if entry.at < before or _ad(entry) not in missing
        )
        self.drop(gone)
        return gone


def _ad(entry: JournalEntry) -> tuple[str, str, float]:
    """Return what matches made for the same ad in the same cycle have in common."""
    return entry.schedd, entry.job, entry.at
