"""The journal of matches that were handed out, and the clock by which they age.

They are charged until the pool shows their claims, or until it is proven that ``claim_timeout`` has passed; then as long as
the pool shows them. A claim id that its slot does not offer any more, and that the pool does not show either, was used between
two cycles, or is replaced: the match has ended. A slot's name identifies nothing: that of a dynamic slot is used again.

The time of records and accounts never goes back. That of the journal advances only as far as it is proven that time passed: a wall clock that jumps
forward would end ``claim_timeout`` at once, and matches would be handed out twice. Time is proven by the uptime of the machine (a clock that nobody
sets, and that goes on between processes), and by the times in the ads of the pool, as far as the wall clock agrees with them: they are written by
other machines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from negotiator.classad import Ad, Table
from negotiator.classad.syntax import ListExpr, Literal
from negotiator.cycle.claims import CLAIMED, ClaimIndex, match_claims, undivided
from negotiator.cycle.jobs import is_in
from negotiator.cycle.journal import JournalEntry
from negotiator.pool.vault import ClaimVault

#: A wall clock that differs by more from the proven time, in seconds, is reported.
TOLERANCE: Final = 60.0

_LONGEST_SET_BACK: Final = 86400.0  # seconds
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIMES = ("LastHeardFrom", "MyCurrentTime", "ServerTime")
DYNAMIC_SLOT_SECONDS: Final = 5.0
"""How long a collector may have the new ad of a partitionable slot, and not yet that of the dynamic slot made of it."""
#: Whose claim waits until the present one of a slot has ended (HTCondor manual, Machine ClassAd Attributes).
_PREEMPTING: Final = ("PreemptingAccountingGroup", "PreemptingUser", "PreemptingOwner")


@attrs.define
class OrderedClock:
    """The wall clock, but never going back: cycles, records and accounts keep their order.

    After the wall clock was set back, time goes on at half the pace until it has caught up. One that was set back by more than a day
    was wrong before, and is followed. Any thread may call this.

    :param wall: returns the time in seconds since the epoch.
    :param monotonic: returns seconds that only increase.
    :param report: called with a sentence when the wall clock was set back.
    """

    wall: Callable[[], float]
    monotonic: Callable[[], float] = time.monotonic
    report: Callable[[str], None] = lambda _: None
    _last: tuple[float, float, float] | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def __call__(self) -> float:
        """Return the time in seconds since the epoch."""
        with self._lock:
            wall, now = self.wall(), self.monotonic()
            before, then, wall_then = self._last or (wall, now, wall)
            is_followed = not 0 < before - wall <= _LONGEST_SET_BACK
            found = wall if is_followed else before + max(0.0, now - then) / 2
            self._last = found, now, wall
        if wall_then - wall > TOLERANCE:
            goes_on = (
                "it is followed" if is_followed else "times go on at half the pace until it has caught up"
            )
            self.report(f"the clock was set back by {wall_then - wall:.0f} s: {goes_on}")
        return found


@attrs.frozen
class Uptime:
    """Seconds since the machine started, and an id of that start.

    Without an id, a later start is noticed only if the uptime is less than before; the difference is still time that passed.
    """

    seconds: float
    boot: str = ""


@attrs.frozen
class PoolTimes:
    """The times in the ads of a pool, in seconds since the epoch: of the newest ad, and the median."""

    newest: float
    median: float


@attrs.frozen
class JournalTime:
    """The proven time, and the clocks when it was determined last.

    ``time`` and ``wall`` are in seconds since the epoch. ``anchor`` is the first pair of a time of the pool and the wall
    clock that was seen, with the proven time then: (time, wall, pool).
    """

    time: float
    wall: float
    uptime: Uptime
    anchor: tuple[float, float, float] | None = None

    @classmethod
    def begin(cls, wall: float, uptime: Uptime) -> JournalTime:
        """Return the first time, for an empty journal: that of the wall clock."""
        return cls(wall, wall, uptime)

    def advanced(self, wall: float, uptime: Uptime, pool: PoolTimes | None) -> JournalTime:
        """Return the proven time now; it never moves back."""
        now = self.time
        if uptime.boot == self.uptime.boot:
            now += max(0.0, uptime.seconds - self.uptime.seconds)
        anchor = self.anchor
        if pool and anchor is None:
            anchor = (now, wall, pool.newest)
        elif pool and anchor:
            then, wall_then, pool_then = anchor
            now = max(now, then + min(pool.median - pool_then, wall - wall_then))
        return JournalTime(now, wall, uptime, anchor)

    def jump(self, before: JournalTime) -> float:
        """Return by how many seconds the wall clock moved more than is proven since then; negative if it moved less."""
        moved = (self.wall - before.wall) - (self.time - before.time)
        return moved if abs(moved) > TOLERANCE else 0.0


def system_uptime() -> Uptime:
    """Return the uptime of this machine, which includes the time that it was suspended."""
    try:
        boot = _BOOT_ID.read_text(encoding="ascii").strip()
        return Uptime(time.clock_gettime(time.CLOCK_BOOTTIME), boot)
    except (OSError, ValueError, AttributeError):  # not Linux
        return Uptime(time.monotonic())


def pool_times(slots: Table) -> PoolTimes | None:
    """Return the times in the ads of slots; None if they have none.

    An ad is as old as the oldest of its times. The median is not moved by a few machines with a wrong clock. Ads of jobs are
    not used: users write them.
    """
    if not len(slots):
        return None
    columns = np.stack([slots.numbers(name, default=np.inf) for name in _TIMES])
    times = columns.min(axis=0)
    times = np.sort(times[np.isfinite(times) & (times > 0)])
    if not len(times):
        return None
    return PoolTimes(float(times[-1]), float(times[(len(times) - 1) // 2]))


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
