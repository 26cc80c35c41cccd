"""Collects the ads that a live pool sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.pool.ad_kind import PoolAdKind
from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.longform import larger_blocks, read_long_blocks, whole_lines
from negotiator.pool.snapshot_builder import SnapshotBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from negotiator.classad import Table
    from negotiator.pool.snapshot import Snapshot
    from negotiator.pool.vault import ClaimVault
    from negotiator.records import Problem


class PoolAds:
    """The ads of a pool at one moment: fetched from its daemons, read as those of files are.

    Ads that cannot be used are set aside, and are among the problems of the snapshot. Claim ids go to ``claims``, and are in
    no ad.

    :param significant: returns the job attributes, in lower case, that decisions with these slots read of any job; for a pool
        that is observed only, none.
    """

    def __init__(self, significant: Callable[[Table], frozenset[str]] = lambda _: frozenset()) -> None:
        self._significant = significant
        self._builder = SnapshotBuilder()
        self._alike = AlikeReader(self._builder.dictionary, self._builder.budget)

    def add(self, daemon: str, texts: Iterable[str]) -> None:
        """Add ads in the long form: a line for each attribute, and a blank line after each ad.

        Ads of all kinds may be mixed. Larger texts are read faster.

        :param daemon: the daemon that sent them, for messages.
        :param texts: may end anywhere, even within a line.
        """
        blocks = larger_blocks(whole_lines(texts))
        self._builder.add_results(daemon, read_long_blocks(blocks, daemon, self._alike, keep_claims=True))

    def significant_attributes(self) -> frozenset[str]:
        """Return the attributes, in lower case, in which jobs of one request must be equal, for the slots that were added.

        A schedd adds what its jobs' own expressions read.
        """
        return self._significant(self._builder.ads[PoolAdKind.SLOT].table())

    def add_problem(self, problem: Problem) -> None:
        """Report what could not be fetched."""
        self._builder.problems.append(problem)

    @property
    def claims(self) -> ClaimVault:
        """The claim ids of the slots."""
        return self._builder.vault

    def snapshot(self) -> Snapshot:
        """Return the ads as tables."""
        return self._builder.snapshot()
