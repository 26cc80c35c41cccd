"""The hosts that slots are on, in the form that rules and capacities work with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator_quotasets.matching.names import Hosts

Codes = NDArray[np.int32]


@attrs.frozen(eq=False)
class HostIndex:
    """The hosts of a pool, H of them, and the host of each of its N slots.

    ``codes`` (N,) is the row of each slot's host in ``hosts``. ``values`` maps a numeric complex to its value on each
    host, (H,), None where a host has none.
    """

    hosts: Hosts
    codes: Codes
    values: Mapping[str, Sequence[Fraction | None]] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.hosts)

    def values_of(self, host: int) -> Mapping[str, Fraction | None]:
        """Return the numeric values of one host, which formulas are computed from."""
        return {name: column[host] for name, column in self.values.items()}
