"""Names of counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, overload

import attrs
import numpy as np
from numpy.typing import NDArray

CounterKey: TypeAlias = tuple[str, ...]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

#: The most that a sum can be.
LARGEST = 2**63 - 1


@attrs.frozen(eq=False)
class Family(Sequence[CounterKey]):
    """Counters that differ in the last part of their keys only: ``(*prefix, member)`` for each member.

    No key is made before it is asked for, so that a quota for each of 5,000 hosts costs nothing where it is declared.
    Keep one sequence of members for all families over the same hosts.
    """

    prefix: CounterKey
    members: Sequence[str]

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, index: int) -> CounterKey: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CounterKey]: ...
    def __getitem__(self, index: int | slice) -> CounterKey | Sequence[CounterKey]:
        if isinstance(index, slice):
            return Family(self.prefix, self.members[index])
        return (*self.prefix, self.members[index])
