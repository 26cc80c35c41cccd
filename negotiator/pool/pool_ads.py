"""Collects the ads that a live pool sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.longform import larger_blocks, read_long_blocks, whole_lines
from negotiator.pool.snapshot_builder import SnapshotBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.pool.snapshot import Snapshot
    from negotiator.pool.vault import ClaimVault
    from negotiator.records import Problem


class PoolAds:
    """The ads of a pool at one moment: fetched from its daemons, read as those of files are.

    Ads that cannot be used are set aside, and are among the problems of the snapshot. Claim ids go to ``claims``, and are in
    no ad.
    """

    def __init__(self) -> None:
        self._builder = SnapshotBuilder()
        self._alike = AlikeReader(self._builder.dictionary, self._builder.budget)

    def add(self, daemon: str, texts: Iterable[str]) -> None:
        """Add ads in the long form: a line for each attribute, and a blank line after each ad.

        Ads of all kinds may be mixed. Larger texts are read faster.

        :param daemon: the daemon that sent them, for messages.
        :param texts: may end anywhere, even within a line.
        """
        blocks = larger_blocks(whole_lines(texts))
        self._builder.add_file(daemon, read_long_blocks(blocks, daemon, self._alike, keep_claims=True))

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
