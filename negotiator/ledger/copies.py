"""The copies of a request that fit the sets of keys that they are charged on."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator.ledger.charges import KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.errors import LedgerError

#: In the place of a charge's number: none refused.
FITS = -1


@attrs.frozen(eq=False)
class FittingCopies:
    """The copies that fit, and the number of the charge that refused each copy that was examined, FITS if none did."""

    fitting: Sequence[int]
    stops: Sequence[int]


def fitting_copies(
    counters: Counters, charges: Sequence[KeyCharge], copies: int, wanted: int
) -> FittingCopies:
    """Examine copies in order until ``wanted`` of them fit, each counted as if it were granted.

    :raises LedgerError: ``bad_charge``, ``wrong_sort``.
    """
    if copies < 0:
        raise LedgerError("bad_charge", f"invalid number of copies {copies}: it must not be negative")
    if not charges:
        end = min(copies, wanted)
        return FittingCopies(range(end), [FITS] * end)
    short = [len(charge.keys) for charge in charges if len(charge.keys) < copies]
    if short:
        raise LedgerError("bad_charge", f"a charge has {min(short)} keys for {copies} copies")
    return _walk(_KeySets(counters, charges), charges, copies, wanted)


def _walk(sets: _KeySets, charges: Sequence[KeyCharge], copies: int, wanted: int) -> FittingCopies:
    fitting: list[int] = []
    stops: list[int] = []
    columns = list({id(charge.keys): charge.keys for charge in charges}.values())
    numbers = {id(keys): number for number, keys in enumerate(columns)}
    which = [numbers[id(charge.keys)] for charge in charges]
    # Copies with the same keys have the same result until another copy adds a key: results are kept with the age of
    # the sets. A result FITS stays valid, since the keys of that copy are in the sets from then on.
    known: dict[tuple[str, ...], tuple[int, int]] = {}
    for _, keys in zip(range(copies), zip(*columns, strict=False), strict=False):
        stop, age = known.get(keys, (0, -1))
        if age != sets.age and (stop != FITS or age < 0):
            stop = sets.add([keys[number] for number in which])
            known[keys] = stop, sets.age
        if stop == FITS:
            fitting.append(len(stops))
        stops.append(stop)
        if len(fitting) >= wanted:
            break
    return FittingCopies(fitting, stops)


class _KeySets:
    """The sets of some charges, with the keys that copies add to them; ``age`` increases with each addition."""

    def __init__(self, counters: Counters, charges: Sequence[KeyCharge]) -> None:
        sets = {charge.counter: (counters.members(charge.counter), set[str]()) for charge in charges}
        self.age = 0
        self._charges = [(*sets[charge.counter], charge.limit) for charge in charges]
        self._is_shared = len(sets) < len(charges)

    def add(self, keys: Sequence[str]) -> int:
        """Add one copy's keys, one for each charge, if all fit; return the number of the charge that does not."""
        fresh = [
            (charge, added, key)
            for charge, ((members, added, _), key) in enumerate(zip(self._charges, keys, strict=True))
            if key not in members and key not in added
        ]
        # A key that is in its set already needs no room. In shared sets all charges are examined: one charge's new key
        # may exceed the limit of another charge on the same set.
        for charge in range(len(keys)) if self._is_shared else [charge for charge, _, _ in fresh]:
            members, added, limit = self._charges[charge]
            new = self._new(fresh, added)
            if new and limit is not None and len(members) + len(added) + new > limit:
                return charge
        if fresh:
            self.age += 1
        for _, added, key in fresh:
            added.add(key)
        return FITS

    def _new(self, fresh: Sequence[tuple[int, set[str], str]], added: set[str]) -> int:
        """Return how many keys a copy adds to a set: one, unless several charges are on it."""
        return len({key for _, other, key in fresh if other is added}) if self._is_shared else 1
