"""The matches that were handed out and that the pool does not show yet: they count, until it does or time is over."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.running_jobs import running_jobs, shown_matches
from negotiator.pool.snapshot import Snapshot


@attrs.define
class Journal:
    """The entries by match, in the order in which they were made."""

    _entries: dict[str, JournalEntry] = attrs.field(factory=dict)

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All that still count."""
        return tuple(self._entries.values())

    def add(self, entries: Iterable[JournalEntry]) -> None:
        """Note matches before they are handed out."""
        self._entries.update((entry.key, entry) for entry in entries)

    def drop(self, keys: Collection[str]) -> None:
        """Forget matches, by the keys of their entries."""
        for key in keys:
            self._entries.pop(key, None)

    def expire(self, snapshot: Snapshot, before: float) -> tuple[str, ...]:
        """Forget the matches that the pool shows, and those from before a time; gives their keys.

        Matches of one ad stay as long as one of them is not shown: by itself it could not be told from a job's only one.
        """
        if not self._entries:
            return ()
        entries = self.entries
        seen = shown_matches(entries, running_jobs(snapshot.jobs))
        left = {_ad(entry) for entry, is_seen in zip(entries, seen, strict=True) if not is_seen}
        gone = tuple(
            key for key, entry in self._entries.items() if entry.at < before or _ad(entry) not in left
        )
        self.drop(gone)
        return gone


def _ad(entry: JournalEntry) -> tuple[str, str, float]:
    """What matches that were made for one ad have in common."""
    return entry.schedd, entry.job, entry.at
