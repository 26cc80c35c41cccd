"""The keys of counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, overload

import attrs
import numpy as np
from numpy.typing import NDArray

CounterKey: TypeAlias = tuple[str, ...]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

#: The largest value of a sum.
LARGEST = 2**63 - 1


@attrs.frozen(eq=False)
class Family(Sequence[CounterKey]):
    """Keys that differ in their last part only: ``(*prefix, member)`` for each member.

    A key is built when it is read, so that a quota for each of 5,000 hosts costs nothing to declare. Share one sequence
    of members between all families over the same hosts.
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


def key_text(key: CounterKey) -> str:
    """Return a counter's key for messages."""
    return " ".join(key)
