"""Counters above their limits: what runs is charged regardless of the limits, and may exceed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import LARGEST, CounterKey, Grouping, Ints, Mask, Rows

_NO_LIMIT = -1
#: Kinds of matches whose limits are compared in one step.
_KINDS = 64
#: Slots of alike matches up to which the counter of each is looked up; of more, each counter is looked up once.
_MANY = 16

#: Returns the label by which a limit is reported, from the number of its charge; called for few charges only.
LabelOf: TypeAlias = Callable[[int], object]

#: A limit of a match: the index of the counter, the limit, and the number of the charge.
_Limit: TypeAlias = tuple[int, int, int]


@attrs.frozen
class ExceededCounter:
    """A counter whose usage is above its limit; ``label`` is that of the charge that has the limit."""

    counter: CounterKey
    used: int
    limit: int
    label: object


class LimitsInUse:
    """The limits of charges that were made regardless of them, by counter.

    A match has to fit each limit of its charges on a counter, and what others added before it was within theirs. So usage came
    about otherwise if it is above the limits of all matches: of the limits of one match the lowest counts, of several matches the
    highest. A match without a limit makes a counter unlimited; a charge of nothing does not count.
    """

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._sums, self._sets = _HighestLimits(), _HighestLimits()

    def add(self, charges: Sequence[Charge], rows: Rows, label_of: LabelOf) -> None:
        """Add the limits of the charges that alike matches were made with on some slots, (n,)."""
        found: list[_Limit] = []
        on_counter: dict[CounterKey, list[int]] = {}
        for number, charge in enumerate(charges):
            if isinstance(charge.counter, Grouping):
                found += self._of_slots(charge, rows, number)
            else:
                on_counter.setdefault(charge.counter, []).append(number)
        for counter, numbers in on_counter.items():
            by_slot = [number for number in numbers if _depends_on_slot(charges[number])]
            if by_slot and len(numbers) > 1:
                found += self._of_matches(counter, [(number, charges[number]) for number in numbers], rows)
            elif by_slot:
                found += self._of_slots(charges[numbers[0]], rows, numbers[0])
            else:
                constant = [(number, charges[number]) for number in numbers if charges[number].amount]
                found += self._of_all(counter, constant)
        self._sums.add(found, label_of)

    def add_keys(self, charges: Sequence[KeyCharge], label_of: LabelOf) -> None:
        """Add the limits of the charges of keys that alike matches were made with."""
        found = [
            (self._counters.set_index_of(charge.counter), _bounded(charge.limit), number)
            for number, charge in enumerate(charges)
        ]
        self._sets.add(found, label_of)

    def exceeded(self) -> Iterator[ExceededCounter]:
        """Yield the counters above their limits: sums, then sets of keys, each in the order of their first charges."""
        counters = self._counters
        for index, used, limit, label in self._sums.exceeded(counters.sums):
            yield ExceededCounter(counters.key_of(index), used, limit, label)
        sizes = np.fromiter(map(len, counters.contents), np.int64)
        for index, used, limit, label in self._sets.exceeded(sizes):
            yield ExceededCounter(counters.key_of_set(index), used, limit, label)

    def _of_all(self, counter: CounterKey, charges: Sequence[tuple[int, Charge]]) -> Iterator[_Limit]:
        """Yield the limits of charges on one counter that are the same on all slots."""
        for number, charge in charges:
            if not isinstance(charge.limit, np.ndarray):
                yield self._counters.index_of(counter), _bounded(charge.limit), number

    def _of_slots(self, charge: Charge, rows: Rows, number: int) -> Iterator[_Limit]:
        """Yield the limits of a charge that depends on the slot."""
        amount, limit, counter = charge.amount, charge.limit, charge.counter
        if isinstance(amount, np.ndarray):
            rows = rows[amount[rows] > 0]
        limits = (
            np.maximum(limit[rows], 0)
            if isinstance(limit, np.ndarray)
            else np.full(len(rows), _bounded(limit))
        )
        codes = counter.codes[rows] if isinstance(counter, Grouping) else np.zeros_like(rows)
        if len(rows) > _MANY or isinstance(limit, np.ndarray):
            codes, limits = _highest_of_each(codes, limits)
        for code, highest in zip(codes.tolist(), limits.tolist(), strict=True):
            if code >= 0:
                yield self._index(counter, code), highest, number

    def _of_matches(
        self, counter: CounterKey, charges: Sequence[tuple[int, Charge]], rows: Rows
    ) -> Iterator[_Limit]:
        """Yield the highest of the limits of matches that have several charges on one counter, which may differ from slot to slot.

        A charge of nothing on a slot has no limit for the match on it, while another charge has.
        """
        lowest, label = np.full(len(rows), LARGEST), np.full(len(rows), -1)
        for number, charge in charges:
            amount, limit = charge.amount, charge.limit
            limits = np.maximum(limit[rows], 0) if isinstance(limit, np.ndarray) else _bounded(limit)
            is_charged = (
                amount[rows] > 0 if isinstance(amount, np.ndarray) else np.full(len(rows), amount > 0)
            )
            lower = is_charged & ((label < 0) | (limits < lowest))
            lowest[lower] = np.broadcast_to(limits, len(rows))[lower]
            label[lower] = number
        charged = np.flatnonzero(label >= 0)
        if len(charged):
            highest = charged[lowest[charged].argmax()]
            yield self._counters.index_of(counter), int(lowest[highest]), int(label[highest])

    def _index(self, counter: CounterKey | Grouping, code: int) -> int:
        """Return the index of a counter; of a grouping that with this code."""
        if isinstance(counter, Grouping):
            return self._counters.member_index(counter.keys, code)
        return self._counters.index_of(counter)


class _HighestLimits:
    """The highest limit of each counter, and the label that it came with."""

    def __init__(self) -> None:
        self._limits, self._label_numbers = np.full(64, _NO_LIMIT), np.zeros(64, np.int64)  # by index
        self._labels: list[object] = []
        self._waiting: list[tuple[int, int, int, int]] = []  # the kind of matches, and the fields of a limit
        self._labels_of: list[LabelOf] = []  # by kind

    def add(self, limits: Sequence[_Limit], label_of: LabelOf) -> None:
        """Add the limits of one kind of matches."""
        if not limits:
            return
        kind = len(self._labels_of)
        self._labels_of.append(label_of)
        self._waiting += [(kind, *each) for each in limits]
        if len(self._labels_of) == _KINDS:
            self._raise()

    def exceeded(self, used: Ints) -> Iterator[tuple[int, int, int, object]]:
        """Yield index, usage, limit and label of the counters whose usage is above their limit; ``used`` is by index."""
        self._raise()
        self._grow(len(used))
        limits = self._limits[: len(used)]
        for index in np.flatnonzero((limits != _NO_LIMIT) & (used > limits)).tolist():
            yield index, int(used[index]), int(limits[index]), self._labels[self._label_numbers[index]]

    def _raise(self) -> None:
        """Raise the limits to those that wait: of each kind of matches the lowest, of several kinds the highest."""
        if not self._waiting:
            return
        found = np.array(self._waiting, np.int64).T
        found = found[:, np.lexsort((found[2], found[0], found[1]))]
        found = found[:, _is_new(found[0], found[1])]  # of each kind the lowest
        found = found[:, np.lexsort((-found[2], found[1]))]
        kinds, indexes, limits, numbers = found[:, _is_new(found[1])]
        self._grow(int(indexes[-1]) + 1)
        higher = np.flatnonzero(self._limits[indexes] < limits)
        self._limits[indexes[higher]] = limits[higher]
        self._label_numbers[indexes[higher]] = np.arange(len(higher)) + len(self._labels)
        self._labels += [self._labels_of[kinds[place]](int(numbers[place])) for place in higher.tolist()]
        self._waiting.clear()
        self._labels_of.clear()

    def _grow(self, size: int) -> None:
        more = max(size, 2 * len(self._limits)) - len(self._limits) if size > len(self._limits) else 0
        if more:
            self._limits = np.concatenate([self._limits, np.full(more, _NO_LIMIT)])
            self._label_numbers = np.concatenate([self._label_numbers, np.zeros(more, np.int64)])


def _depends_on_slot(charge: Charge) -> bool:
    return isinstance(charge.amount, np.ndarray) or isinstance(charge.limit, np.ndarray)


def _bounded(limit: int | None) -> int:
    """Return a limit from 0 to 2^63 - 1: one below 0 allows nothing either."""
    return LARGEST if limit is None else max(0, min(limit, LARGEST))


def _highest_of_each(codes: NDArray[np.integer], limits: Ints) -> tuple[NDArray[np.integer], Ints]:
    """Return the distinct codes, and the highest limit of each."""
    order = np.lexsort((-limits, codes))
    first = order[_is_new(codes[order])]
    return codes[first], limits[first]


def _is_new(*columns: NDArray[np.integer]) -> Mask:
    """Return which elements of sorted columns differ from the one before."""
    found = np.ones(len(columns[0]), np.bool_)
    found[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return found
