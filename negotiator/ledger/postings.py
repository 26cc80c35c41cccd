"""What one match adds to counters, and what they say where it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, TypeAlias

import attrs

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import LARGEST, CounterKey

#: (counter, amount, limit) of each sum, and (counter, key, limit) of each set of keys; no limit is None.
LimitedSums: TypeAlias = Sequence[tuple[CounterKey, int, int | None]]
LimitedKeys: TypeAlias = Sequence[tuple[CounterKey, str, int | None]]


@attrs.frozen
class Postings:
    """What one match was charged: amounts on sums, keys in sets."""

    sums: tuple[tuple[CounterKey, int], ...] = ()
    keys: tuple[tuple[CounterKey, str], ...] = ()


@attrs.frozen
class RefusedCharge:
    """The first charge of a match that does not fit.

    ``position`` is its place among the sums or, where ``of_keys``, among the sets of keys. ``needed`` is what the match
    adds to the counter, ``used`` what is there, ``limit`` the limit, or 2^63 - 1 where more cannot be counted.
    """

    counter: CounterKey
    position: int
    of_keys: bool
    needed: int
    used: int
    limit: int


#: Numbers of sums, their amounts, numbers of sets, their keys: what is kept of one match.
Entry: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[str]]


def stopping_sum(
    places: Sequence[int], sums: LimitedSums, used: Sequence[int] | memoryview[int]
) -> RefusedCharge | None:
    """Find the first sum that would grow too large; a counter that is named twice is added to twice."""
    totals: dict[int, int] = {}
    for place, (_, amount, _) in zip(places, sums, strict=True):
        totals[place] = totals.get(place, 0) + amount
    for position, (place, (key, _, limit)) in enumerate(zip(places, sums, strict=True)):
        most = LARGEST if limit is None or limit > LARGEST else limit
        if totals[place] and used[place] + totals[place] > most:
            return RefusedCharge(key, position, False, totals[place], used[place], most)
    return None


def stopping_keys(
    places: Sequence[int], keys: LimitedKeys, sets: Sequence[Mapping[str, int]]
) -> RefusedCharge | None:
    """Find the first set of keys that would grow too large; a key that is in it costs nothing."""
    fresh: dict[int, set[str]] = {}
    for place, (_, member, _) in zip(places, keys, strict=True):
        new = fresh.setdefault(place, set())
        if member not in sets[place]:
            new.add(member)
    for position, (place, (key, _, limit)) in enumerate(zip(places, keys, strict=True)):
        needed, used = len(fresh[place]), len(sets[place])
        if needed and limit is not None and used + needed > limit:
            return RefusedCharge(key, position, True, needed, used, limit)
    return None


def check_amounts(amounts: Iterable[int]) -> None:
    """Refuse what is no integer, or negative, or larger than can be counted."""
    for amount in amounts:
        if type(amount) is not int or not 0 <= amount <= LARGEST:
            _refuse_amount(amount)


def _refuse_amount(amount: object) -> NoReturn:
    if type(amount) is not int:
        raise LedgerError("bad_amount", f"{amount!r} is no integer: amounts are counted in whole units")
    if amount < 0:
        raise LedgerError("negative_amount", f"{amount} is negative: to give back, release a receipt")
    raise LedgerError("overflow", f"{amount} is more than can be counted (2^63 - 1)")


def key_text(key: CounterKey) -> str:
    """A counter for messages."""
    return " ".join(key)
