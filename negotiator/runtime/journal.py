"""The journal of matches that were handed out.

They are charged until the pool shows their claims, or until it is proven that ``claim_timeout`` has passed; then as long as
the pool shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs

from negotiator.cycle.claims import JobsInUse, match_claims
from negotiator.cycle.journal import JournalEntry


@attrs.define
class Journal:
    """The entries by the key of the match, in the order in which they were made; the proven time of each beside it."""

    _entries: dict[str, JournalEntry] = attrs.field(factory=dict)
    _made: dict[str, float] = attrs.field(factory=dict)

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries.values())

    def add(self, entries: Iterable[JournalEntry], made: float) -> None:
        """Add matches, before they are handed out.

        :param made: the proven time when they were made (see ``JournalTime``).
        """
        for entry in entries:
            self._entries[entry.key] = entry
            self._made[entry.key] = made

    def drop(self, keys: Collection[str]) -> None:
        """Remove entries by their keys."""
        for key in keys:
            self._entries.pop(key, None)
            self._made.pop(key, None)

    def update(self, in_use: Sequence[JobsInUse], before: float) -> JournalChange:
        """Mark the matches that the pool shows, and remove those that ended.

        A match has ended if the pool showed it and shows it no more, or if it was made before the proven time ``before`` and the pool has
        never shown it.
        """
        entries = self.entries
        unseen = frozenset(match_claims(entries, in_use).unseen) if entries else frozenset[int]()
        gone, shown = [], []
        for number, entry in enumerate(entries):
            if number not in unseen:
                if not entry.shown:
                    shown.append(attrs.evolve(entry, shown=True))
            elif entry.shown or self._made[entry.key] < before:
                gone.append(entry.key)
        self.drop(gone)
        self._entries.update((entry.key, entry) for entry in shown)
        return JournalChange(tuple(shown), tuple(gone))


@attrs.frozen
class JournalChange:
    """The matches that the pool shows for the first time, and the keys of those that ended."""

    shown: tuple[JournalEntry, ...]
    gone: tuple[str, ...]
