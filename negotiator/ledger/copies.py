"""Which copies of a request fit the sets of keys that they are charged on."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator.ledger.charges import KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.errors import LedgerError

#: What stands for "no charge said stop".
FITS = -1


@attrs.frozen(eq=False)
class Copies:
    """Copies in their order: those that fit, and what refused each of those that were looked at (FITS where none did)."""

    fitting: Sequence[int]
    stops: Sequence[int]


def fitting_copies(counters: Counters, charges: Sequence[KeyCharge], copies: int, most: int) -> Copies:
    """Go through copies in order; end when ``most`` fit, each counted as if it were granted.

    :raises LedgerError: ``bad_charge``, ``wrong_sort``.
    """
    if copies < 0:
        raise LedgerError("bad_charge", f"there are no {copies} copies")
    if not charges:
        end = min(copies, most)
        return Copies(range(end), [FITS] * end)
    short = [len(charge.keys) for charge in charges if len(charge.keys) < copies]
    if short:
        raise LedgerError("bad_charge", f"there are {copies} copies, but keys of {min(short)}")
    return _walk(_Sets(counters, charges), charges, copies, most)


def _walk(sets: _Sets, charges: Sequence[KeyCharge], copies: int, most: int) -> Copies:
    fitting: list[int] = []
    stops: list[int] = []
    columns = list({id(charge.keys): charge.keys for charge in charges}.values())
    place = {id(keys): number for number, keys in enumerate(columns)}
    which = [place[id(charge.keys)] for charge in charges]
    # Copies with the same keys fare alike, as long as no other has added a key.
    known: dict[tuple[str, ...], tuple[int, int]] = {}
    for _, keys in zip(range(copies), zip(*columns, strict=False), strict=False):
        stop, age = known.get(keys, (0, -1))
        if age != sets.age and (stop != FITS or age < 0):
            stop = sets.add([keys[number] for number in which])
            known[keys] = stop, sets.age
        if stop == FITS:
            fitting.append(len(stops))
        stops.append(stop)
        if len(fitting) >= most:
            break
    return Copies(fitting, stops)


class _Sets:
    """The sets of keys of some charges, with what the copies add to them; ``age`` grows with each addition."""

    def __init__(self, counters: Counters, charges: Sequence[KeyCharge]) -> None:
        held = {charge.counter: (counters.members(charge.counter), set[str]()) for charge in charges}
        self.age = 0
        self._charges = [(*held[charge.counter], charge.limit) for charge in charges]
        self._is_shared = len(held) < len(charges)

    def add(self, keys: Sequence[str]) -> int:
        """Add one copy's keys, one for each charge, if all fit; else give the number of the charge that does not."""
        fresh = [
            (charge, added, key)
            for charge, ((held, added, _), key) in enumerate(zip(self._charges, keys, strict=True))
            if key not in held and key not in added
        ]
        for charge in range(len(keys)) if self._is_shared else [charge for charge, _, _ in fresh]:
            held, added, limit = self._charges[charge]
            new = self._new(fresh, added)
            if new and limit is not None and len(held) + len(added) + new > limit:
                return charge
        if fresh:
            self.age += 1
        for _, added, key in fresh:
            added.add(key)
        return FITS

    def _new(self, fresh: Sequence[tuple[int, set[str], str]], added: set[str]) -> int:
        """How many keys a copy adds to a set; where no other charge is on the set, it is the one that is fresh."""
        return len({key for _, other, key in fresh if other is added}) if self._is_shared else 1
