"""The candidates of a request with the slots that each reason rejects, beside the counts that a cycle keeps."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.result import Removal
from negotiator.hooks.records import Mask
from negotiator.records import Reason


@attrs.define
class RecordedCandidates(CandidateSet):
    """``rejected`` has the slots, (N,), that each reason rejects, independently of the others, in the order of the cycle."""

    rejected: list[tuple[Reason, Mask]] = attrs.field(factory=list, init=False)

    def require(self, truth: TrueRows, reason: Reason, rows: NDArray[np.intp] | None = None) -> None:
        """Note the slots on which a condition is not true."""
        self._note(reason, ~truth.rows, rows)
        CandidateSet.require(self, truth, reason, rows)

    def require_of_slots(self, conjunct: Conjunct, truth: TrueRows) -> Iterator[tuple[int, Removal]]:
        """Note the slots on which each written conjunct is not true."""
        false = ~truth.rows
        for code, written in enumerate(conjunct.written):
            own = false if conjunct.codes is None else false & (conjunct.codes == code)
            self._note(written.reason(), own, conjunct.rows)
        return CandidateSet.require_of_slots(self, conjunct, truth)

    def remove_rows(self, gone: TrueRows, reason: Reason) -> None:
        """Note the slots that are removed."""
        self._note(reason, gone.rows, None)
        CandidateSet.remove_rows(self, gone, reason)

    def _note(self, reason: Reason, mask: Mask, rows: NDArray[np.intp] | None) -> None:
        if not mask.any():
            return
        whole = np.zeros(len(self.slots), np.bool_)
        if rows is None:
            whole |= mask
        else:
            whole[rows] = mask
        self.rejected.append((reason, whole))
