"""The slots that conditions leave, as bytes: each condition is sent once, as its difference from one that was sent before.

Conditions of many classes of jobs differ in a limit (``TARGET.Memory >= 2048``, ``>= 2049``): they leave nearly the same slots. The
one with the nearest number of slots is the nearest one then, and a difference of a few slots takes a few bytes.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.columnar import TrueRows

#: Memory for conditions that later ones refer to, in bytes, on each side; beyond it no more are remembered.
MOST_REMEMBERED: Final = 256 << 20
#: Conditions to both sides of a new one, by their number of slots, that are compared with it.
_NEIGHBOURS: Final = 3

#: The number of a condition that was sent before, or the number of the one that it differs from, and the places and the
#: differences of its bytes.
SentCondition: TypeAlias = "int | tuple[int, bytes, bytes]"
#: The conditions of a request; None if they leave nothing.
SentConditions: TypeAlias = "list[SentCondition] | None"

_NOTHING: Final = 0  # the number of the condition that leaves no slot


@attrs.define(eq=False)
class ConditionEncoder:
    """Makes the bytes of the conditions of one worker, in the order in which they are sent.

    :param size: the number of slots.
    """

    size: int
    _known: list[NDArray[np.uint8]] = attrs.field(init=False)
    _numbers: dict[bytes, int] = attrs.field(factory=dict, init=False)
    _digests: WeakKeyDictionary[TrueRows, bytes] = attrs.field(factory=WeakKeyDictionary, init=False)
    # By their place among the conditions of a request: (number of slots, number), ascending.
    _by_count: dict[int, list[tuple[int, int]]] = attrs.field(factory=dict, init=False)
    _bytes: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._known = [_no_slots(self.size)]

    def encode(self, conditions: Sequence[TrueRows]) -> SentConditions:
        """Return the conditions of one request."""
        if not all(each.count for each in conditions):
            return None
        varying = (each for each in conditions if each.bits is not None)
        return [self._one(place, each.count, each.bits, each) for place, each in enumerate(varying)]

    def _one(
        self, place: int, count: int, bits: NDArray[np.uint8] | None, condition: TrueRows
    ) -> SentCondition:
        assert bits is not None  # noqa: S101 - for the type: ``encode`` has left the others out
        digest = self._digests.get(condition)
        if digest is None:
            digest = self._digests[condition] = hashlib.blake2b(bits.tobytes(), digest_size=16).digest()
        number = self._numbers.get(digest)
        if number is not None:
            return number
        base = min(self._near(place, count), key=lambda each: int(np.count_nonzero(self._known[each] ^ bits)))
        difference = self._known[base] ^ bits
        at = np.flatnonzero(difference)
        if self._bytes + bits.nbytes <= MOST_REMEMBERED:
            self._bytes += bits.nbytes
            self._numbers[digest] = len(self._known)
            insort(self._by_count.setdefault(place, []), (count, len(self._known)))
            self._known.append(bits)
        steps = np.diff(at, prepend=0)
        small = steps.astype(np.uint8 if steps.max(initial=0) < 256 else np.uint32)
        return base, small.tobytes(), difference[at].tobytes()

    def _near(self, place: int, count: int) -> Iterator[int]:
        """Yield the conditions that may differ least from one that leaves so many slots."""
        yield _NOTHING
        found = self._by_count.get(place, [])
        middle = bisect_left(found, (count, 0))
        for _, number in found[max(0, middle - _NEIGHBOURS) : middle + _NEIGHBOURS]:
            yield number


@attrs.define(eq=False)
class ConditionDecoder:
    """Reads the conditions of one worker, in the order in which they were sent.

    :param size: the number of slots.
    """

    size: int
    _known: list[TrueRows] = attrs.field(init=False)
    _bytes: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._known = [TrueRows(self.size, 0, _no_slots(self.size))]

    def decode(self, sent: SentConditions) -> tuple[TrueRows, ...]:
        """Return the slots that each condition of a request leaves."""
        if sent is None:
            return (TrueRows(self.size, 0, None),)
        return tuple([self._known[each] if isinstance(each, int) else self._new(*each) for each in sent])

    def _new(self, base: int, steps: bytes, difference: bytes) -> TrueRows:
        width = np.uint8 if len(steps) == len(difference) else np.uint32
        at = np.cumsum(np.frombuffer(steps, width), dtype=np.int64)
        known = self._known[base].bits
        assert known is not None  # noqa: S101 - for the type: only conditions with bits are sent
        bits = known.copy()
        bits[at] ^= np.frombuffer(difference, np.uint8)
        found = TrueRows(self.size, int(np.bitwise_count(bits).sum()), bits)
        if self._bytes + bits.nbytes <= MOST_REMEMBERED:
            self._bytes += bits.nbytes
            self._known.append(found)
        return found


def _no_slots(size: int) -> NDArray[np.uint8]:
    return np.zeros((size + 7) // 8, np.uint8)
