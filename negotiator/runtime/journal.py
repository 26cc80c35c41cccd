"""The journal of matches that were handed out.

They are charged until the pool shows their claims, or until it is proven that ``claim_timeout`` has passed; then as long as
the pool shows them. A claim may also begin and end between two cycles: the slot then has another claim id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

import attrs

from negotiator.cycle.claims import ClaimIndex, match_claims
from negotiator.cycle.journal import JournalEntry

DYNAMIC_SLOT_SECONDS: Final = 5.0
"""How long a collector may have the new ad of a partitionable slot, and not yet that of the dynamic slot made of it."""


@attrs.frozen
class FreeSlot:
    """A slot that has no claim, and the fingerprints of its claim ids."""

    name: str
    claims: frozenset[str]
    is_partitionable: bool


@attrs.define
class Journal:
    """The entries by the key of the match, in the order in which they were made.

    Beside each are the proven time when it was made, and the fingerprint of the claim id that it was handed out with, if that
    is known.
    """

    _entries: dict[str, JournalEntry] = attrs.field(factory=dict)
    _made: dict[str, float] = attrs.field(factory=dict)
    _claims: dict[str, str] = attrs.field(factory=dict)
    #: Keys of matches whose slots had another claim id in the last cycle, and the proven time since when.
    _replaced: dict[str, float] = attrs.field(factory=dict)

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries.values())

    def add(
        self,
        entries: Iterable[JournalEntry],
        made: float,
        fingerprint: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """Add matches, before they are handed out.

        :param made: the proven time when they were made (see ``JournalTime``).
        :param fingerprint: returns that of the next claim id of a slot; None if it has none.
        """
        for entry in entries:
            self._entries[entry.key] = entry
            self._made[entry.key] = made
            if claim := fingerprint(entry.slot):
                self._claims[entry.key] = claim

    def restore(self, entry: JournalEntry, made: float, claim: str | None) -> None:
        """Add a match that an earlier process handed out."""
        self.add([entry], made, lambda _: claim)

    def note_claims(
        self, entries: Iterable[JournalEntry], taken: Callable[[str], str | None]
    ) -> dict[str, str]:
        """Note the claim ids that matches were handed out with: a slot with several gives each match another one.

        Entries that were removed since are left out.

        :param taken: returns the fingerprint of a claim id by the id of its match; None if it is not known.
        :return: the fingerprints by the keys of the entries.
        """
        found = {
            entry.key: claim for entry in entries if (claim := taken(entry.id)) and entry.key in self._entries
        }
        self._claims |= found
        return found

    def drop(self, keys: Collection[str]) -> None:
        """Remove entries by their keys."""
        for key in keys:
            self._entries.pop(key, None)
            self._made.pop(key, None)
            self._claims.pop(key, None)

    def ended_claims(self, free: Iterable[FreeSlot], now: float) -> frozenset[str]:
        """Return the keys of the matches on slots that have no claim, and other claim ids than the one handed out.

        A partitionable slot must have had another one in the last cycle, and for ``DYNAMIC_SLOT_SECONDS``: the dynamic slot of
        the match may appear after the partitionable slot has its next claim id.

        :param now: the proven time (see ``JournalTime``).
        """
        slots = {each.name: each for each in free}
        found = {
            key: slot
            for key, claim in self._claims.items()
            if (slot := slots.get(self._entries[key].slot)) is not None and claim not in slot.claims
        }
        before = self._replaced
        self._replaced = {key: before.get(key, now) for key in found}
        return frozenset(
            key
            for key, slot in found.items()
            if not slot.is_partitionable or (key in before and now - before[key] >= DYNAMIC_SLOT_SECONDS)
        )

    def update(self, in_use: ClaimIndex, before: float, ended: Collection[str] = ()) -> JournalChange:
        """Mark the matches that the pool shows, and remove those that ended.

        A match has ended if the pool showed it and shows it no more; or if the pool has never shown it, and its key is among ``ended``
        or it was made before the proven time ``before``.
        """
        entries = self.entries
        unseen = frozenset(match_claims(entries, in_use).unseen) if entries else frozenset[int]()
        gone, shown = [], []
        for number, entry in enumerate(entries):
            if number not in unseen:
                if not entry.shown:
                    shown.append(attrs.evolve(entry, shown=True))
            elif entry.shown or self._made[entry.key] < before or entry.key in ended:
                gone.append(entry.key)
        self.drop(gone)
        self._entries.update((entry.key, entry) for entry in shown)
        return JournalChange(tuple(shown), tuple(gone))


@attrs.frozen
class JournalChange:
    """The matches that the pool shows for the first time, and the keys of those that ended."""

    shown: tuple[JournalEntry, ...]
    gone: tuple[str, ...]
