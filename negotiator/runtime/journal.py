"""The journal of matches that were handed out.

They are charged until the pool shows their claims, or until ``claim_timeout`` has passed; then as long as it shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs

from negotiator.cycle.claims import JobsInUse, match_claims
from negotiator.cycle.journal import JournalEntry


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

    def update(self, in_use: Sequence[JobsInUse], before: float) -> JournalChange:
        """Mark the matches that the pool shows, and remove those that ended.

        A match has ended if the pool showed it and shows it no more, or if it was made before ``before`` and the pool has
        never shown it.
        """
        entries = self.entries
        unseen = frozenset(match_claims(entries, in_use).unseen) if entries else frozenset[int]()
        gone, shown = [], []
        for number, entry in enumerate(entries):
            if number not in unseen:
                if not entry.shown:
                    shown.append(attrs.evolve(entry, shown=True))
            elif entry.shown or entry.at < before:
                gone.append(entry.key)
        self.drop(gone)
        self.add(shown)
        return JournalChange(tuple(shown), tuple(gone))


@attrs.frozen
class JournalChange:
    """The matches that the pool shows for the first time, and the keys of those that ended."""

    shown: tuple[JournalEntry, ...]
    gone: tuple[str, ...]
