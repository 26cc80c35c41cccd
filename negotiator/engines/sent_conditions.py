"""The slots that conditions leave, as bytes: each condition is sent once, as its difference from one that was sent before.

Conditions of many classes of jobs differ in a limit (``TARGET.Memory >= 2048``, ``>= 2049``): they leave nearly the same slots. The
one with the nearest number of slots is the nearest one then, and a difference of a few slots takes a few bytes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.columnar import TrueRows, number_of_bits

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
    _numbers: WeakKeyDictionary[TrueRows, int] = attrs.field(factory=WeakKeyDictionary, init=False)
    _of_count: dict[int, list[int]] = attrs.field(factory=dict, init=False)  # numbers, by how many slots
    # By their place among the conditions of a request: (number of slots, number), ascending.
    _by_count: dict[int, list[tuple[int, int]]] = attrs.field(factory=dict, init=False)
    _bytes: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._known = [_no_slots(self.size)]

    def encode(self, conditions: Sequence[TrueRows]) -> SentConditions:
        """Return the conditions of one request."""
        if not all(each.count for each in conditions):
            return None
        sent: list[SentCondition] = []
        for condition in conditions:
            if condition.bits is not None:
                number = self._numbers.get(condition)
                sent.append(self._new(len(sent), condition, condition.bits) if number is None else number)
        return sent

    def _new(self, place: int, condition: TrueRows, bits: NDArray[np.uint8]) -> SentCondition:
        """Return a condition that was not sent as this object."""
        for number in self._of_count.get(condition.count, ()):
            if np.array_equal(self._known[number], bits):
                self._numbers[condition] = number
                return number
        differences = [(each, self._known[each] ^ bits) for each in self._near(place, condition.count)]
        base, difference = min(differences, key=lambda each: _differing_words(each[1]))
        if self._bytes + bits.nbytes <= MOST_REMEMBERED:
            self._remember(place, condition, bits)
        at = np.flatnonzero(difference)
        steps = np.diff(at, prepend=0)
        small = steps.astype(np.uint8 if steps.max(initial=0) < 256 else np.uint32)
        return base, small.tobytes(), difference[at].tobytes()

    def _remember(self, place: int, condition: TrueRows, bits: NDArray[np.uint8]) -> None:
        number = self._numbers[condition] = len(self._known)
        self._bytes += bits.nbytes
        self._known.append(bits)
        self._of_count.setdefault(condition.count, []).append(number)
        insort(self._by_count.setdefault(place, []), (condition.count, number))

    def _near(self, place: int, count: int) -> Iterator[int]:
        """Yield the conditions that may differ least from one that leaves so many slots."""
        yield _NOTHING
        found = self._by_count.get(place, [])
        middle = bisect_left(found, (count, 0))
        for _, number in found[max(0, middle - _NEIGHBOURS) : middle + _NEIGHBOURS]:
            yield number


def _differing_words(difference: NDArray[np.uint8]) -> int:
    """Return about how many bytes a difference takes: words of eight bytes are counted in an eighth of the time."""
    whole = len(difference) // 8 * 8
    words = difference[:whole].view(np.uint64)
    return int(np.count_nonzero(words)) + int(np.count_nonzero(difference[whole:]))


@attrs.define(eq=False)
class ConditionDecoder:
    """Reads the conditions of one worker, in the order in which they were sent.

    ``unshared`` is the memory in bytes of the conditions so far that later ones do not refer to: each is of one answer alone.

    :param size: the number of slots.
    """

    size: int
    unshared: int = attrs.field(default=0, init=False)
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
        found = TrueRows(self.size, number_of_bits(bits), bits)
        if self._bytes + bits.nbytes <= MOST_REMEMBERED:
            self._bytes += bits.nbytes
            self._known.append(found)
        else:
            self.unshared += bits.nbytes
        return found


def _no_slots(size: int) -> NDArray[np.uint8]:
    return np.zeros((size + 7) // 8, np.uint8)
