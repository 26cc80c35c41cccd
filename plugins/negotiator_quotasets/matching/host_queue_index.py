"""Where a job may run: the distinct places that rules can tell apart, and which of them each slot is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator_quotasets.matching.names import Hosts

Codes = NDArray[np.int32]


@attrs.frozen(eq=False)
class HostQueueIndex:
    """Places, each a host and a queue, and the place of each slot.

    ``host_of`` (P,) is the row of each place in ``hosts``; ``queues`` (P,) its queue, empty where the queue is the
    job's own and the same everywhere. ``codes`` (N,) is the place of each slot. ``values`` has for each numeric complex what each host has
    of it, (H,), None where a host does not say.
    """

    hosts: Hosts
    host_of: NDArray[np.intp]
    codes: Codes
    queues: Sequence[str] = ()
    values: Mapping[str, Sequence[Fraction | None]] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.host_of)
