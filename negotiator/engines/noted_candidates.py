"""Candidates of one request that note the slots that each condition leaves, so that conditions of many requests are sent once."""

from __future__ import annotations

import attrs

from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.records import Mode, Reason


@attrs.define
class NotedCandidates(CandidateSet):
    """A candidate set whose conditions are noted: ``conditions`` are the slots that each of them leaves."""

    conditions: list[TrueRows] = attrs.field(factory=list, init=False)

    def restrict(self, truth: TrueRows) -> int:
        """See ``CandidateSet.restrict``."""
        self.conditions.append(truth)
        return super().restrict(truth)

    def remove_rows(self, gone: TrueRows, reason: Reason) -> None:
        """See ``CandidateSet.remove_rows``."""
        if gone.count and reason.mode is Mode.ENFORCE:
            self.conditions.append(TrueRows(gone.size, gone.size, None).without(gone))
        super().remove_rows(gone, reason)
