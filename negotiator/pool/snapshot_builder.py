"""Collects the ads of a pool while its files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import attrs

from negotiator.classad import ClassAd, Table
from negotiator.pool.ad_kind import PoolAdKind, ad_kind, custom_type, string_value
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.identity import IdentifiedAd, address_of, identify
from negotiator.pool.limits import MAX_PROBLEMS
from negotiator.pool.parsed_ad import FileResult, ParsedAd, UnreadFile, shorten
from negotiator.pool.reading_budget import ReadingBudget
from negotiator.pool.snapshot import Snapshot
from negotiator.pool.vault import ClaimVault
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.classad.tables import AdDictionary

_AdsByKey: TypeAlias = dict[tuple[object, ...], tuple[ClassAd, Source]]

_TABLES = (PoolAdKind.SCHEDD, PoolAdKind.SUBMITTER, PoolAdKind.SLOT, PoolAdKind.JOB)


@attrs.define
class SnapshotBuilder:
    """The ads read so far: by kind, in order of first appearance."""

    ads: dict[PoolAdKind, _AdsByKey] = attrs.field(factory=lambda: {kind: {} for kind in _TABLES})
    counts: dict[PoolAdKind, int] = attrs.field(factory=lambda: dict.fromkeys(PoolAdKind, 0))
    problems: list[Problem] = attrs.field(factory=list)
    unread: list[Problem] = attrs.field(factory=list)
    dictionary: AdDictionary = attrs.field(factory=pool_dictionary)
    budget: ReadingBudget = attrs.field(factory=ReadingBudget)
    vault: ClaimVault = attrs.field(factory=ClaimVault)
    private_claims: set[tuple[str, str]] = attrs.field(factory=set)
    """Names and addresses of the slots whose claim ids were in a private ad."""

    def add_file(self, name: str, results: Iterable[FileResult]) -> None:
        """Add the ads of a file, and its problems, at most ``MAX_PROBLEMS`` one by one."""
        ads = reported = others = 0
        for result in results:
            ads += isinstance(result, ParsedAd)
            for problem in self.add(result):
                if reported < MAX_PROBLEMS:
                    reported += 1
                    self.problems.append(problem)
                else:
                    others += 1
        if others:
            message = f"{others} more problems in this file are not listed"
            self.problems.append(Problem(Severity.ERROR, Source(name), message))
        if not ads and not reported:
            self.problems.append(Problem(Severity.WARNING, Source(name), "the file holds no ads"))

    def add(self, result: FileResult) -> Iterator[Problem]:
        """Add an ad; yield the problems with it."""
        if isinstance(result, UnreadFile):
            self.unread.append(result.problem)
            yield result.problem
            return
        if isinstance(result, Problem):
            yield result
            return
        kind = ad_kind(result.ad)
        if kind in self.ads:
            yield from self._add_identified(kind, identify(kind, result), result)
            return
        self.counts[kind] += 1
        if kind is PoolAdKind.PRIVATE:
            self._add_private_claims(result)
        elif kind is PoolAdKind.UNKNOWN:
            message = "an ad of unknown kind takes no part: it has no MyType, and no attribute that identifies its kind"
            yield Problem(Severity.WARNING, result.source, message, 'add MyType, such as MyType = "Machine"')
        elif kind is PoolAdKind.OTHER and (word := custom_type(result.ad)):
            message = f"an ad of type {shorten(word)} takes no part: HTCondor has no such type"
            yield Problem(Severity.NOTICE, result.source, message)

    def _add_identified(
        self, kind: PoolAdKind, identified: IdentifiedAd | Problem, result: ParsedAd
    ) -> Iterator[Problem]:
        if isinstance(identified, Problem):
            yield identified
            return
        if identified.problem:
            yield identified.problem
        earlier = self.ads[kind].get(identified.key)
        if earlier and kind is PoolAdKind.JOB:
            message = (
                f"the ad is set aside: {identified.label} of the same owner was read before, at {earlier[1]}"
            )
            yield Problem(Severity.WARNING, result.source, message)
            return
        if earlier:
            message = f"{identified.label} was read before, at {earlier[1]}; this later ad takes its place"
            yield Problem(Severity.WARNING, result.source, message)
        self.ads[kind][identified.key] = (identified.ad, result.source)
        if kind is PoolAdKind.SLOT and result.claims:
            slot = (string_value(identified.ad, "Name"), address_of(identified.ad))
            if slot not in self.private_claims:
                self.vault.put(*slot, result.claims)

    def _add_private_claims(self, result: ParsedAd) -> None:
        slot = (string_value(result.ad, "Name"), address_of(result.ad))
        if slot[0] and result.claims:
            self.private_claims.add(slot)
            self.vault.put(*slot, result.claims)

    def _claim_ids(self) -> tuple[int, ...] | None:
        """Return how many claim ids each slot has; None without private ads: then they are not known.

        A pool of files may have the private ads of some machines only: of a slot of another machine they are not known,
        and it counts as having one.
        """
        if not self.private_claims:
            return None
        known = frozenset(address for _, address in self.private_claims)
        slots = [(string_value(ad, "Name"), address_of(ad)) for ad, _ in self.ads[PoolAdKind.SLOT].values()]
        return tuple(self.vault.count(name, address) if address in known else 1 for name, address in slots)

    def snapshot(self) -> Snapshot:
        """Return the ads as tables."""
        tables = {
            kind: Table.from_ads([ad for ad, _ in ads.values()], self.dictionary)
            for kind, ads in self.ads.items()
        }
        return Snapshot(
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
