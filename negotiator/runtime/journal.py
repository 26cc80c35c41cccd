"""The journal of matches that were handed out.

They are charged until the pool shows their claims, or until it is proven that ``claim_timeout`` has passed; then as long as
the pool shows them. A claim id that its slot does not offer any more, and that the pool does not show either, was used between
two cycles, or is replaced: the match has ended. A slot's name identifies nothing: that of a dynamic slot is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

import attrs

from negotiator.classad import Ad, Table
from negotiator.classad.syntax import ListExpr, Literal
from negotiator.cycle.claims import CLAIMED, ClaimIndex, match_claims, undivided
from negotiator.cycle.jobs import is_in
from negotiator.cycle.journal import JournalEntry
from negotiator.pool.vault import ClaimVault

DYNAMIC_SLOT_SECONDS: Final = 5.0
"""How long a collector may have the new ad of a partitionable slot, and not yet that of the dynamic slot made of it."""

#: Whose claim waits until the present one of a slot has ended (HTCondor manual, Machine ClassAd Attributes).
_PREEMPTING: Final = ("PreemptingAccountingGroup", "PreemptingUser", "PreemptingOwner")


@attrs.frozen
class SlotClaims:
    """What a slot shows of its claims: the public parts of the claim ids that it offered last and of its claim, and who waits for it.

    ``claims`` are empty if those are not known. ``waiting`` are submitters in lower case whose claim begins once the present one has ended: its id is not offered any more.
    ``is_incomplete``: dynamic slots that were made of it may be missing in the pool.
    """

    claims: frozenset[str]
    waiting: frozenset[str] = frozenset()
    is_incomplete: bool = False

    @classmethod
    def of(cls, slots: Table, entries: Iterable[JournalEntry], vault: ClaimVault) -> dict[str, SlotClaims]:
        """Return what the slots of matches show, by name; also those that dynamic slots were taken from.

        Source: ``Resource::publish_private``, ``Claim::publishPreemptingClaim`` (condor_startd 25.14.1).
        """
        wanted = {name for entry in entries for name in (entry.slot, undivided(entry.slot)) if name}
        names = slots.strings("Name")
        present = frozenset(names.tolist())
        rows = is_in(names, wanted).nonzero()[0].tolist()
        return {
            names[row]: cls._of_ad(slots.ad(row), vault.public_parts(names[row]), present) for row in rows
        }

    @classmethod
    def _of_ad(cls, ad: Ad, offered: frozenset[str], present: frozenset[str]) -> SlotClaims:
        waiting = frozenset(filter(None, ((ad.string(name) or "").lower() for name in _PREEMPTING)))
        claim, is_claimed = ad.string("PublicClaimId"), (ad.string("State") or "").lower() in CLAIMED
        if is_claimed and not (ad.string("RemoteUser") or ad.string("RemoteOwner")):
            # A claim for an owner capacity unit without a job is that of nobody: condor_negotiator matches such a slot as a free one
            # (``Accountant::IsClaimed``, ``Matchmaker::matchmakingAlgorithm``), so the match that made it is over.
            claim = ""
        elif is_claimed and not claim:  # it may be that of a match
            return cls(frozenset())
        claims = offered | {claim} if offered and claim else offered
        if ad.evaluate("PartitionableSlot") is not True:
            return cls(claims, waiting)
        children = ad.get("ChildName")
        is_complete = isinstance(children, ListExpr) and all(
            isinstance(child, Literal) and child.value in present for child in children.items
        )
        return cls(claims, waiting, not is_complete)


@attrs.define
class Journal:
    """The entries by the key of the match, in the order in which they were made.

    Beside each is the proven time when it was made.
    """

    _entries: dict[str, JournalEntry] = attrs.field(factory=dict)
    _made: dict[str, float] = attrs.field(factory=dict)
    #: Keys of matches whose claim ids were not offered in the last cycle, and the proven time since when.
    _replaced: dict[str, float] = attrs.field(factory=dict)

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

    def note_claims(
        self, entries: Iterable[JournalEntry], taken: Callable[[str], str | None]
    ) -> dict[str, str]:
        """Note the claim ids that matches were handed out with: a slot with several gives each match another one.

        Entries that were removed since are left out.

        :param taken: returns the public part of a claim id by the id of its match; None if it is not known.
        :return: what changed, by the keys of the entries.
        """
        found = {}
        for entry in entries:
            own, claim = self._entries.get(entry.key), taken(entry.id)
            if own is not None and claim and claim != own.claim:
                self._entries[entry.key] = attrs.evolve(own, claim=claim)
                found[entry.key] = claim
        return found

    def drop(self, keys: Collection[str]) -> None:
        """Remove entries by their keys."""
        for key in keys:
            self._entries.pop(key, None)
            self._made.pop(key, None)

    @property
    def pending(self) -> tuple[JournalEntry, ...]:
        """The matches that the pool has not shown yet, and whose claim ids are known."""
        return tuple(entry for entry in self._entries.values() if entry.claim and not entry.shown)

    def ended_claims(self, slots: Mapping[str, SlotClaims], now: float) -> frozenset[str]:
        """Return the keys of the pending matches whose claim ids were used or replaced, unless the pool shows them.

        If the ad of the dynamic slot made for the match may be missing, ``DYNAMIC_SLOT_SECONDS`` must have passed since the claim id
        was missed first, in an earlier cycle.

        :param slots: what the slots show, by name (``SlotClaims.of``).
        :param now: the proven time (see ``JournalTime``).
        """
        missed = dict(self._missed(slots))
        before = self._replaced
        self._replaced = {key: before.get(key, now) for key in missed}
        return frozenset(
            key
            for key, at_once in missed.items()
            if at_once or (key in before and now - before[key] >= DYNAMIC_SLOT_SECONDS)
        )

    def _missed(self, slots: Mapping[str, SlotClaims]) -> Iterator[tuple[str, bool]]:
        """Yield the keys of the pending matches whose claim ids are not offered, and whether that is certain."""
        for entry in self.pending:
            slot = slots.get(entry.slot)
            if slot is None:
                if undivided(entry.slot) in slots:  # its machine is there, and the dynamic slot is not
                    yield entry.key, False
            elif (
                slot.claims and entry.claim not in slot.claims and entry.submitter.lower() not in slot.waiting
            ):
                yield entry.key, not slot.is_incomplete

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
