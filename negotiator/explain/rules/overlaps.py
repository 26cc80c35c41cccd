"""Which rows several rules reject: all that each of them rejects, and those that no other one that enforces rejects."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.explain.rules.counts import RuleKey
from negotiator.hooks.records import Mask
from negotiator.records import CORE, Mode


@attrs.define(eq=False)
class Overlaps:
    """The rows, (N,), that each rule rejects; ``by_core`` are those that the core's own reasons do, such as the Requirements of an ad."""

    by_core: Mask
    by_rule: dict[RuleKey, Mask] = attrs.field(factory=dict)

    @classmethod
    def of_rows(cls, rows: int) -> Overlaps:
        """Return rows that nothing rejects."""
        return cls(np.zeros(rows, np.bool_))

    def reject(self, key: RuleKey, mask: Mask, rows: NDArray[np.intp] | None = None) -> None:
        """Add rows that a rule rejects: those of a mask, (N,), or of the mask of some rows."""
        if key.plugin == CORE:
            own = self.by_core
        elif mask.any():
            own = self.by_rule.setdefault(key, np.zeros_like(self.by_core))
        else:
            return
        if rows is None:
            own |= mask
        else:
            own[rows] |= mask

    def counted(self) -> dict[RuleKey, tuple[int, int]]:
        """Return how many rows each rule rejects, and how many of them nothing else that enforces does."""
        total = self.by_core.astype(np.int32)
        for key, mask in self.by_rule.items():
            if key.mode == Mode.ENFORCE:
                total += mask
        found = {}
        for key, mask in self.by_rule.items():
            alone = mask & (total == (key.mode == Mode.ENFORCE))
            found[key] = int(np.count_nonzero(mask)), int(np.count_nonzero(alone))
        return found
