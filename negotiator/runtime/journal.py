"""The matches that were handed out and that the pool does not show yet: they count, until it does or time is over."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from negotiator.cycle import jobs as job_columns
from negotiator.cycle.standing import JournalEntry
from negotiator.cycle.usage import running
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

    def look(self, snapshot: Snapshot, before: float) -> tuple[str, ...]:
        """Forget the matches that the pool shows, and those from before a time; gives their keys."""
        if not self._entries:
            return ()
        jobs = running(snapshot.jobs)
        names = map(job_columns.job_id, jobs.ads)
        seen = set(zip(job_columns.schedds(jobs), names, strict=True))
        gone = tuple(
            key
            for key, entry in self._entries.items()
            if entry.at < before or (entry.schedd, entry.job) in seen
        )
        self.drop(gone)
        return gone
