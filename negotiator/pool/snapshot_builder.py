"""Collects the ads of a pool while its files are read."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from negotiator.pool.ad_kind import PoolAdKind, ad_kind, alike_kinds, custom_type, string_value
from negotiator.pool.ads_of_kind import AdsOfKind, KeyedAds, RepeatedKey
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.identity import IdentifiedAd, address_of, alike_keys, identify, label_of
from negotiator.pool.limits import MAX_PROBLEMS
from negotiator.pool.parsed_ad import AdBlock, FileResult, ParsedAd, ReadResult, UnreadFile, shorten
from negotiator.pool.reading_budget import ReadingBudget
from negotiator.pool.snapshot import Snapshot
from negotiator.pool.vault import ClaimVault, Secret
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from negotiator.classad.tables import AdDictionary
    from negotiator.pool.parsed_ad import AlikeAds

_TABLES: Final = (PoolAdKind.SCHEDD, PoolAdKind.SUBMITTER, PoolAdKind.SLOT, PoolAdKind.JOB)

_RESULTS: Final = 4096
"""Ads that are added together, if they are read one by one."""


@attrs.define
class SnapshotBuilder:
    """The ads read so far: by kind, in order of first appearance."""

    dictionary: AdDictionary = attrs.field(factory=pool_dictionary)
    ads: dict[PoolAdKind, AdsOfKind] = attrs.field(init=False)
    counts: dict[PoolAdKind, int] = attrs.field(factory=lambda: dict.fromkeys(PoolAdKind, 0))
    problems: list[Problem] = attrs.field(factory=list)
    unread: list[Problem] = attrs.field(factory=list)
    budget: ReadingBudget = attrs.field(factory=ReadingBudget)
    vault: ClaimVault = attrs.field(factory=ClaimVault)
    private_claims: set[tuple[str, str]] = attrs.field(factory=set)
    """Names and addresses of the slots whose claim ids were in a private ad."""
    claim_updates: dict[tuple[str, str], int] = attrs.field(factory=dict)
    """The numbers of the updates (UpdateSequenceNumber) that the private ads of slots are of, by name and address, if they are known."""
    has_all_claims: bool = False
    """True if the private ads of all slots were fetched: a slot without one has no claim id."""

    @ads.default
    def _no_ads(self) -> dict[PoolAdKind, AdsOfKind]:
        return {kind: AdsOfKind(self.dictionary, first_counts=kind is PoolAdKind.JOB) for kind in _TABLES}

    def continued(
        self, unchanged: Collection[tuple[str, str]], present: Collection[tuple[str, str]]
    ) -> SnapshotBuilder:
        """Return a builder for a later reading of the same pool.

        Its budget goes on from this one: what is stored takes room until all is read anew.

        :param unchanged: the keys of the slots with which it begins.
        :param present: the keys of all slots that the pool has; they keep their claim ids.
        """
        later = SnapshotBuilder(dictionary=self.dictionary, vault=self.vault, budget=self.budget)
        before = self.ads[PoolAdKind.SLOT]
        later.ads[PoolAdKind.SLOT] = before.continued(self.dictionary, unchanged)
        later.has_all_claims = self.has_all_claims
        later.private_claims = self.private_claims.intersection(present)
        updates = self.claim_updates
        later.claim_updates = {slot: updates[slot] for slot in later.private_claims if slot in updates}
        for slot in self.private_claims - later.private_claims:
            self.vault.drop(*slot)
        return later

    def add_file(self, name: str, results: Iterable[FileResult]) -> None:
        """Add the ads of a file, and its problems; a file without ads is one."""
        if not self.add_results(name, results):
            self.problems.append(Problem(Severity.WARNING, Source(name), "the file holds no ads"))

    def add_results(self, name: str, results: Iterable[FileResult], only: PoolAdKind | None = None) -> bool:
        """Add ads, and the problems with them, at most ``MAX_PROBLEMS`` one by one; return False if there was nothing.

        :param name: where they are from.
        :param only: the kind of ads that is expected; those of other tables are set aside.
        """
        ads = reported = others = 0
        for block in _blocks(name, map(self._readable, results)):
            ads += block.ads
            for problem in self.add(block, only):
                if reported < MAX_PROBLEMS:
                    reported += 1
                    self.problems.append(problem)
                else:
                    others += 1
        if others:
            message = f"{others} more problems in this file are not listed"
            self.problems.append(Problem(Severity.ERROR, Source(name), message))
        return bool(ads or reported)

    def _readable(self, result: FileResult) -> ReadResult | AdBlock:
        if isinstance(result, UnreadFile):
            self.unread.append(result.problem)
            return result.problem
        return result

    def add(self, block: AdBlock, only: PoolAdKind | None = None) -> list[Problem]:
        """Add the ads of a block, or those of one kind only; return the problems with it."""
        found = _BlockAds(block.file)
        for order, result in enumerate(block.others):
            self._add_result(result.source.line if block.alike else order, result, found, only)
        for alike in block.alike:
            self._add_alike(alike, found, only)
        for kind, parts in found.parts().items():
            for repeated in self.ads[kind].add(block.file, parts):
                found.problems.append((repeated.order, _repeated_problem(kind, repeated)))
        found.problems.sort(key=itemgetter(0))
        return [problem for _, problem in found.problems]

    def _add_alike(self, alike: AlikeAds, found: _BlockAds, only: PoolAdKind | None) -> None:
        """Add ads with the same names: by columns if they are of a kind that has a table, and have a key."""
        for kind, places in alike_kinds(alike.rows):
            rows = alike.rows.take(places)
            lines = alike.lines[places]
            is_expected = kind in self.ads and only in {None, kind}
            keys = alike_keys(kind, rows, found.file) if is_expected else [None] * len(rows)
            whole = [key for key in keys if key is not None]
            if len(whole) < len(keys):
                for place in [place for place, key in enumerate(keys) if key is None]:
                    line = int(lines[place])
                    self._add_result(line, ParsedAd(rows.ad(place), Source(found.file, line)), found, only)
                chosen = np.array([place for place, key in enumerate(keys) if key is not None], np.int64)
                rows, lines = rows.take(chosen), lines[chosen]
            if whole:
                found.alike.append((kind, KeyedAds(rows, whole, lines, lines, np.zeros_like(lines))))

    def _add_result(self, order: int, result: ReadResult, found: _BlockAds, only: PoolAdKind | None) -> None:
        """Add an ad that is looked at by itself, or a problem."""
        if isinstance(result, Problem):
            found.problems.append((order, result))
            return
        kind = ad_kind(result.ad)
        if kind not in self.ads:
            self.counts[kind] += 1
            if kind is PoolAdKind.PRIVATE:
                self._add_private_claims(result)
            elif problem := _unused_problem(kind, result):
                found.problems.append((order, problem))
            return
        if only not in {None, kind}:
            found.problems.append((order, _unexpected_problem(kind, result)))
            return
        identified = identify(kind, result)
        if isinstance(identified, Problem):
            found.problems.append((order, identified))
            return
        if identified.problem:
            found.problems.append((order, identified.problem))
        found.single[kind].append((order, identified, result.source))
        if kind is PoolAdKind.SLOT and result.claims:
            slot = (string_value(identified.ad, "Name"), address_of(identified.ad))
            if slot not in self.private_claims:
                self.vault.put(*slot, result.claims)

    def _add_private_claims(self, result: ParsedAd) -> None:
        name = string_value(result.ad, "Name")
        if name and result.claims:
            update = result.ad.integer("UpdateSequenceNumber")
            self.put_private_claims((name, address_of(result.ad)), result.claims, update)

    def put_private_claims(
        self, slot: tuple[str, str], claims: Iterable[Secret], update: int | None = None
    ) -> None:
        """Store the claim ids of a slot (its name and address) from its private ad.

        :param update: the number of the startd's update that the ad is of; None if it is unknown.
        """
        self.private_claims.add(slot)
        self.claim_updates.pop(slot, None)
        given = tuple(claims)
        claims = [each for each in given if not each.is_of_another_startd(slot[1])]
        if len(claims) < len(given):
            message = f"{shorten(slot[0])}: a claim id that its startd {shorten(slot[1])} reports is that of another startd: it is not used"
            hint = "find out who advertises it: a startd makes the claim ids of its own slots"
            self.problems.append(Problem(Severity.WARNING, Source("collector"), message, hint))
        if update is not None:
            self.claim_updates[slot] = update
        self.vault.put(*slot, claims)

    def slot_keys(self) -> Iterator[tuple[str, str]]:
        """Return the names and addresses of the slots, in the order of their table."""
        return ((str(name), str(address)) for name, address in self.ads[PoolAdKind.SLOT].keys)

    def _claim_ids(self) -> tuple[int, ...] | None:
        """Return how many claim ids each slot has; None without private ads: then they are not known.

        A pool of files may have the private ads of some machines only: of a slot of another machine they are not known,
        and it counts as having one.
        """
        if self.has_all_claims:
            self._drop_old_claims()
            return tuple([self.vault.count(*key) for key in self.slot_keys()])
        if not self.private_claims:
            return None
        known = frozenset(address for _, address in self.private_claims)
        count = self.vault.count
        return tuple([count(name, address) if address in known else 1 for name, address in self.slot_keys()])

    def _drop_old_claims(self) -> None:
        """Drop the claim ids of slots whose private ad is of another update than the public one.

        A startd sends both in one update, with the same number (``DCCollector::sendUpdate``, HTCondor 25.14), but they are fetched one
        after the other. A slot whose claim ended in between is unclaimed in its public ad, and its claim id is that of the claim
        that has ended.
        """
        numbers = self.ads[PoolAdKind.SLOT].table().numbers("UpdateSequenceNumber").tolist()
        for key, public in zip(self.slot_keys(), numbers, strict=True):
            private = self.claim_updates.get(key)
            if private is not None and math.isfinite(public) and private != public:
                self.vault.drop(*key)

    def snapshot(self, before: Snapshot | None = None) -> Snapshot:
        """Return the ads as tables.

        :param before: that of an earlier reading, which is returned if nothing has changed: what was found out of it still holds.
        """
        tables = {kind: ads.table() for kind, ads in self.ads.items()}
        found = Snapshot(
            schedds=tables[PoolAdKind.SCHEDD],
            submitters=tables[PoolAdKind.SUBMITTER],
            slots=tables[PoolAdKind.SLOT],
            jobs=tables[PoolAdKind.JOB],
            private=self.counts[PoolAdKind.PRIVATE],
            other=self.counts[PoolAdKind.OTHER] + self.counts[PoolAdKind.UNKNOWN],
            problems=tuple(self.problems),
            claim_ids=self._claim_ids(),
            unread=tuple(self.unread),
        )
        return before if before is not None and found.is_same(before) else found


class _BlockAds:
    """The ads of a block, and its problems with the order of each."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[tuple[int, Problem]] = []
        self.alike: list[tuple[PoolAdKind, KeyedAds]] = []
        self.single: dict[PoolAdKind, list[tuple[int, IdentifiedAd, Source]]] = {kind: [] for kind in _TABLES}

    def parts(self) -> dict[PoolAdKind, list[KeyedAds]]:
        """Return the ads of each kind that the block has."""
        parts: dict[PoolAdKind, list[KeyedAds]] = {}
        for kind, found in self.single.items():
            if found:
                ads = [each.ad for _, each, _ in found]
                keys = [each.key for _, each, _ in found]
                places = [(order, source.line, source.column) for order, _, source in found]
                parts[kind] = [KeyedAds(ads, keys, *np.array(places, np.int64).T)]
        for kind, keyed in self.alike:
            parts.setdefault(kind, []).append(keyed)
        return parts


def _blocks(file: str, results: Iterable[ReadResult | AdBlock]) -> Iterator[AdBlock]:
    """Yield the results of a file in blocks."""
    waiting: list[ReadResult] = []
    for result in results:
        if not isinstance(result, AdBlock):
            waiting.append(result)
        if waiting and (len(waiting) >= _RESULTS or isinstance(result, AdBlock)):
            yield AdBlock(file, (), tuple(waiting))
            waiting = []
        if isinstance(result, AdBlock):
            yield result
    if waiting:
        yield AdBlock(file, (), tuple(waiting))


def _repeated_problem(kind: PoolAdKind, repeated: RepeatedKey) -> Problem:
    label = label_of(kind, repeated.key)
    if kind is PoolAdKind.JOB:
        message = f"the ad is set aside: {label} of the same owner was read before, at {repeated.earlier}"
    else:
        message = f"{label} was read before, at {repeated.earlier}; this later ad takes its place"
    return Problem(Severity.WARNING, repeated.source, message)


def _unexpected_problem(kind: PoolAdKind, found: ParsedAd) -> Problem:
    """Return why an ad is set aside that is of another kind than those that were queried."""
    name = string_value(found.ad, "Name") or string_value(found.ad, "MyAddress") or "without a name"
    message = f"the ad {shorten(name)} is set aside: it is of a {kind.value}, which was not queried"
    hint = "find out who advertises it: daemons may advertise ads of their own kind only"
    return Problem(Severity.WARNING, found.source, message, hint)


def _unused_problem(kind: PoolAdKind, found: ParsedAd) -> Problem | None:
    """Return why an ad takes no part that somebody may expect to."""
    if kind is PoolAdKind.UNKNOWN:
        message = (
            "an ad of unknown kind takes no part: it has no MyType, and no attribute that identifies its kind"
        )
        hint = 'add MyType, such as MyType = "Machine"'
        return Problem(Severity.WARNING, found.source, message, hint)
    if kind is PoolAdKind.OTHER and (word := custom_type(found.ad)):
        message = f"an ad of type {shorten(word)} takes no part: HTCondor has no such type"
        return Problem(Severity.NOTICE, found.source, message)
    return None
