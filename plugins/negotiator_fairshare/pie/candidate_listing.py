"""The candidates of a submitter's turn: listed for one job, and used by the jobs alike that follow it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.plugin import CandidateRecheck, QueuedRequest, SlotAllowance


@attrs.frozen(eq=False)
class CandidateListing:
    """For which jobs candidates were listed, after how much use of the turn, and what expressions read of the submitter.

    ``only_by_rank``: they are only slots that prefer the jobs to those that they run.
    """

    kind: int
    only_by_rank: bool
    used: float
    attributes: Mapping[str, str | bool | float]

    def serves(self, queued: QueuedRequest, slots: SlotAllowance) -> bool:
        """Return whether a request may use the candidates."""
        return queued.kind == self.kind and self.only_by_rank == (
            slots.claimed is not None and slots.claimed.only_by_rank
        )

    def turn(
        self,
        queued: QueuedRequest,
        allowance: int,
        slots: SlotAllowance,
        recheck: CandidateRecheck | None,
    ) -> QueuedRequest:
        """Return the turn of a request with these candidates."""
        if slots.claimed is not None and slots.claimed.used_before != self.used:
            slots = attrs.evolve(slots, claimed=attrs.evolve(slots.claimed, used_before=self.used))
        return QueuedRequest(
            *(queued.number, queued.request, queued.rows, allowance, queued.ads, slots, queued.kind),
            scores=queued.scores,
            attributes=self.attributes,
            recheck=recheck,
        )
