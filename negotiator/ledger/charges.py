"""The charges of a request: as a policy declares them, and over candidate slots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NoReturn, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.counters import Counters, MatchEntry
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import LARGEST, CounterKey, Grouping, Ints, Mask, Rows

_SHORT = 2**16


@attrs.frozen(eq=False)
class Charge:
    """An amount that a match adds to a sum.

    ``amount`` and ``limit`` are one integer, or (N,) of int64 over the slots. An amount of 0 is never refused, unless
    the charge ``probes``: a match that adds nothing is then refused if more is used than the limit. All charges of a
    match on one counter are added up, and the total must fit each of their limits. A limit of None is 2^63 - 1; one
    below the sum refuses everything. The ledger does not read ``label``.
    """

    counter: CounterKey | Grouping
    amount: int | Ints
    limit: int | Ints | None
    label: object = None
    probes: bool = False


@attrs.frozen(eq=False)
class KeyCharge:
    """A key that a match adds to a set of keys, such as the running applications of a user.

    ``keys`` is (M,): the key of each copy of the request, in order. A key that the set already holds costs nothing, any
    other costs 1; the limit is on the size of the set. Charges with the same keys should share one sequence.
    """

    counter: CounterKey
    keys: Sequence[str]
    limit: int | None
    label: object = None


def has_shared_counters(charges: Sequence[Charge]) -> bool:
    """True if several charges, or several codes of a grouping, may name the same counter."""
    single = [charge.counter for charge in charges if not isinstance(charge.counter, Grouping)]
    groupings = [charge.counter for charge in charges if isinstance(charge.counter, Grouping)]
    return (
        len(set(single)) < len(single)
        or len(set(groupings)) < len(groupings)
        or not all(grouping.distinct for grouping in groupings)
        or any(
            key[:-1] in grouping.prefixes and key in grouping.keys for grouping in groupings for key in single
        )
        or any(_overlap(one, other) for one, other in combinations(groupings, 2))
    )


@attrs.define(eq=False)
class AlikeCharges:
    """Charges that are the same on every slot, each on a counter of its own: nearly always, there is room for all matches of a request.

    They are those of many requests, which differ in ``amounts``, one for each sum, and in ``members``, for each set the key of
    each copy.
    """

    counters: Counters
    sums: Sequence[CounterKey]
    limits: Sequence[int]
    sets: Sequence[CounterKey]
    set_limits: Sequence[int | None]
    _indexes: list[int] = attrs.field(init=False)  # of the counters, 0 if it was never charged
    _set_indexes: list[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._indexes, self._set_indexes = [0] * len(self.sums), [0] * len(self.sets)

    @classmethod
    def of(
        cls, counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge]
    ) -> Self | None:
        """Return charges; None if one of them depends on the slot or probes, or two are on one counter."""
        limits: list[int] = []
        sums: list[CounterKey] = []
        for each in charges:
            limit, key = LARGEST if each.limit is None else each.limit, each.counter
            if isinstance(key, Grouping) or not key or each.probes or not isinstance(limit, int):
                return None
            sums.append(key)
            limits.append(min(limit, LARGEST))
        sets = [each.counter for each in key_charges]
        if len({*sums}) < len(sums) or len({*sets}) < len(sets):
            return None
        return cls(counters, sums, limits, sets, [each.limit for each in key_charges])

    def have_room(self, amounts: Sequence[Any], members: Sequence[Sequence[str]], copies: int) -> bool:
        """True if it is certain that the first copies fit, on any slots.

        :raises LedgerError: ``wrong_sort``.
        """
        cells, indexes = self.counters.cells, self._indexes
        if not all(indexes):
            find = self.counters.index_of
            indexes[:] = [index or find(key) for index, key in zip(indexes, self.sums, strict=True)]
        for index, amount, limit in zip(indexes, amounts, self.limits, strict=True):
            if type(amount) is not int or amount < 0 or (amount and amount * copies > limit - cells[index]):
                return False
        contents, found = self.counters.contents, self._set_indexes
        if not all(found):
            find = self.counters.set_index_of
            found[:] = [index or find(key) for index, key in zip(found, self.sets, strict=True)]
        for index, keys, most in zip(found, members, self.set_limits, strict=True):
            if len(keys) < copies:
                return False
            if most is None or len(inside := contents[index]) + copies <= most:
                continue
            # The copies may have few keys, or some that are in the set already.
            if len(inside) + len({*keys[:copies]}.difference(inside)) > most:
                return False
        return True

    def entries(
        self, amounts: Sequence[int], members: Sequence[Sequence[str]], copies: int
    ) -> list[tuple[MatchEntry, int]]:
        """Return the entries of the first copies in their order, each with the number of copies in a row that have it.

        Counters that were never charged get their indexes: those of several copies also if they are charged 0.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        indexes = self._indexes
        if not all(indexes):
            for place, (key, amount) in enumerate(zip(self.sums, amounts, strict=True)):
                if not indexes[place] and (amount or copies > 1):
                    indexes[place] = self.counters.open_sum(key)
        if not all(self._set_indexes):
            self._set_indexes = [*map(self.counters.open_set, self.sets)]
        if all(amounts):
            sums = tuple(indexes), tuple(amounts)
        else:
            charged = [(index, each) for index, each in zip(indexes, amounts, strict=True) if each]
            sums = tuple([index for index, _ in charged]), tuple([each for _, each in charged])
        sets, found = tuple(self._set_indexes), list[tuple[MatchEntry, int]]()
        for copy in range(copies):
            own = tuple([keys[copy] for keys in members])
            if found and own == found[-1][0][3]:
                found[-1] = found[-1][0], found[-1][1] + 1
            else:
                found.append(((*sums, sets, own), 1))
        return found


def _overlap(one: Grouping, other: Grouping) -> bool:
    """True if two groupings have a common counter."""
    return not one.prefixes.isdisjoint(other.prefixes) and not set(one.keys).isdisjoint(other.keys)


def check_amounts(amounts: Iterable[int]) -> None:
    """Raise for the first amount that is not an integer from 0 to 2^63 - 1.

    :raises LedgerError: ``bad_amount``, ``negative_amount``, ``overflow``.
    """
    for amount in amounts:
        if type(amount) is not int or not 0 <= amount <= LARGEST:
            _refuse_amount(amount)


def _refuse_amount(amount: object) -> NoReturn:
    if type(amount) is not int:
        raise LedgerError("bad_amount", f"invalid amount {amount!r}: it must be an integer")
    if amount < 0:
        raise LedgerError("negative_amount", f"invalid amount {amount}: release a receipt instead")
    raise LedgerError("overflow", f"invalid amount {amount}: the largest is 2^63 - 1")


@attrs.frozen(eq=False)
class CandidateGroups:
    """The group of each candidate: ``codes`` is (C,), -1 without a group; None if all are in one group."""

    codes: Ints | None

    @cached_property
    def charged(self) -> Mask | None:
        """The candidates that are in a group, (C,); None if all are."""
        if self.codes is None or not len(self.codes) or self.codes.min() >= 0:
            return None
        return np.asarray(self.codes >= 0)

    @cached_property
    def bound(self) -> int:
        """One more than the largest code."""
        return 1 if self.codes is None or not len(self.codes) else int(self.codes.max()) + 1

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The candidates sorted by group, in their order within it; and the position where the group of each begins."""
        codes = self.codes if self.codes is not None else np.zeros(0, np.int64)
        # NumPy sorts 16 bits in linear time.
        short = codes.astype(np.uint16) if self.bound < _SHORT else codes
        order = np.argsort(short, kind="stable")
        inside = codes[order]
        begins = np.zeros(len(order), np.intp)
        # The position of each first member, carried on to the rest of its group by the running maximum.
        begins[1:] = np.where(inside[1:] != inside[:-1], np.arange(1, len(order)), 0)
        return order, np.maximum.accumulate(begins)

    def before(self, amounts: Ints) -> Ints:
        """Return, for each candidate, the sum of the amounts, (C,), of those before it in its group.

        The sum of a group must be less than 2^63.
        """
        if self.codes is None:
            return np.cumsum(amounts) - amounts
        order, begins = self._sorted
        # One running sum over all groups. It may wrap around: differences within one group are exact all the same.
        inside = amounts[order]
        sums = np.cumsum(inside) - inside
        result = np.empty_like(sums)
        result[order] = sums - sums[begins]
        return result

    def pick(self, rows: Mask | slice) -> CandidateGroups:
        """Return the groups of some of the candidates."""
        return CandidateGroups(None if self.codes is None else self.codes[rows])


@attrs.frozen(eq=False)
class CandidateCharge:
    """One charge over the candidates.

    ``amount`` is one integer for all that are ``charged`` (a mask, (C,), None for all of them), or (C,) with 0 where a
    candidate is not charged. ``room`` is the limit minus the usage, one integer or (C,).
    """

    number: int  # of the charge
    groups: CandidateGroups
    amount: int | Ints
    room: int | Ints
    charged: Mask | None

    def amounts(self, rows: Mask) -> Ints:
        """Return the amounts of the candidates in a mask, 0 for the others, (C,)."""
        mask = rows if self.charged is None else rows & self.charged
        return np.where(mask, self.amount, 0)

    def counts(self, rows: Mask) -> Ints:
        """Return 1 for the charged candidates in a mask, 0 for the others, (C,)."""
        return (rows if self.charged is None else rows & self.charged).astype(np.int64)

    def most(self) -> int:
        """Return the largest amount."""
        return self.amount if isinstance(self.amount, int) else int(self.amount.max(initial=0))

    def is_slack(self, copies: int) -> bool:
        """True if that many copies fit on any candidates."""
        least = self.room if isinstance(self.room, int) else int(self.room.min(initial=LARGEST))
        return self.most() * copies <= least

    def refuses(self, taken: Ints, rows: Rows) -> Mask:
        """Return which of some rows, (n,), do not fit, given the amounts taken before each, (n,)."""
        amount = self.amount if isinstance(self.amount, int) else self.amount[rows]
        room = self.room if isinstance(self.room, int) else self.room[rows]
        over = np.asarray(amount > room - taken)
        return over if self.charged is None else over & self.charged[rows]


class ChargeReader:
    """Read charges over candidate rows, (C,). Groupings with the same codes share their groups, which are sorted once."""

    def __init__(self, counters: Counters, rows: Rows) -> None:
        if rows.ndim != 1 or (len(rows) and rows.min() < 0):
            raise LedgerError(
                "bad_charge", "invalid candidates: they must be a list of rows, none of them negative"
            )
        self._counters, self._rows = counters, rows
        self._end = int(rows.max(initial=-1)) + 1
        self._one_group = CandidateGroups(None)
        self._groups: list[tuple[NDArray[np.integer], CandidateGroups]] = []
        self._amounts: dict[int, Ints] = {}

    def read(self, number: int, charge: Charge) -> CandidateCharge:
        """Return one charge over the candidates.

        :raises LedgerError: ``bad_charge``, ``wrong_sort``, ``bad_amount``, ``negative_amount``, ``overflow``.
        """
        amount = self._amount(charge.amount)
        limit = LARGEST if charge.limit is None else self._limit(charge.limit)
        groups = self._one_group
        used: int | Ints
        if isinstance(charge.counter, Grouping):
            groups, used = self._grouping(charge.counter)
        else:
            used = self._counters.sum_of(charge.counter)
        charged = groups.charged
        # Columns with one value become one integer: that opens the closed form, and saves an array per charge.
        if not isinstance(amount, int):
            if charged is not None:
                amount = np.where(charged, amount, 0)
            if not amount.all():
                charged = amount > 0
            amount = _one_of(amount, amount if charged is None else amount[charged])
        return CandidateCharge(number, groups, amount, limit - used, charged)

    def _grouping(self, grouping: Grouping) -> tuple[CandidateGroups, int | Ints]:
        """Return the groups of a grouping, and the usage in the group of each candidate."""
        groups = self._of(grouping.codes)
        if groups.codes is not None and (
            groups.bound > len(grouping.keys) or groups.codes.min(initial=0) < -1
        ):
            expected = f"from -1 to {len(grouping.keys) - 1}: an index of keys, or -1 for none"
            raise LedgerError("bad_charge", f"invalid codes of a grouping: they must be {expected}")
        if groups.codes is None:
            return groups, 0
        used = self._counters.sums_of(grouping, groups.codes)
        return groups, used if used.any() else 0

    def _of(self, codes: NDArray[np.integer]) -> CandidateGroups:
        # Equal codes give one object: lines over the same groups are merged by its identity.
        for known, groups in self._groups:
            if known is codes or np.array_equal(known, codes):
                return groups
        groups = CandidateGroups(self._column(codes))
        self._groups.append((codes, groups))
        return groups

    def _column(self, values: NDArray[np.integer]) -> Ints:
        """Return the elements for the candidates."""
        if values.ndim != 1 or not np.can_cast(values.dtype, np.int64, "safe") or self._end > len(values):
            expected = f"at least ({self._end},) of int64, not {values.shape} of {values.dtype}"
            raise LedgerError("bad_charge", f"invalid column of a charge: it must be {expected}")
        return values[self._rows].astype(np.int64, copy=False)

    def _amount(self, amount: int | Ints) -> int | Ints:
        if not isinstance(amount, np.ndarray):
            check_amounts((amount,))
            return amount
        if id(amount) not in self._amounts:  # several levels of queues are charged the same
            column = self._column(amount)
            if column.min(initial=0) < 0:
                check_amounts((int(column.min()),))
            self._amounts[id(amount)] = column
        return self._amounts[id(amount)]

    def _limit(self, limit: int | Ints) -> int | Ints:
        """Return a limit from -1 to 2^63 - 1: all limits below 0 refuse the same."""
        if not isinstance(limit, np.ndarray):
            return max(-1, min(limit, LARGEST))
        column = np.maximum(self._column(limit), -1)
        return _one_of(column, column)


def _one_of(column: Ints, values: Ints) -> int | Ints:
    """Return one integer if all values are the same, else the column."""
    if len(values) and values.min() == values.max():
        return int(values[0])
    return column
