"""A model of the ledger: dictionaries, charged match by match."""

from collections import Counter

import attrs
import numpy as np

from negotiator.ledger import LARGEST, Charge, Grouping, KeyCharge
from negotiator.records import Mode


@attrs.frozen
class Postings:
    """The charges of one match: amounts on sums, keys in sets."""

    sums: tuple = ()
    keys: tuple = ()


def charge_all(ledger, postings, mode=Mode.ENFORCE):
    """Charge one match without limits, and return its receipt."""
    sums = [Charge(key, amount, None) for key, amount in postings.sums]
    keys = [KeyCharge(counter, [key], None) for counter, key in postings.keys]
    (receipt,) = ledger.commit(ledger.admit(sums, keys, np.zeros(1, np.intp), 1, mode))
    return receipt


def at(value, slot):
    """Return the number for a slot, given one number for all slots or a column."""
    return value if value is None or isinstance(value, int) else int(value[slot])


def on(charge, slot):
    """Return the counter, the amount and the limit for a slot; an amount of 0 if it is not charged."""
    key, amount, limit = charge.counter, at(charge.amount, slot), at(charge.limit, slot)
    if isinstance(key, Grouping):
        code = int(key.codes[slot])
        if code < 0:
            return (), 0, LARGEST
        key = key.keys[code]
    return key, amount, LARGEST if limit is None else min(limit, LARGEST)


class Model:
    """Sums and sets of keys."""

    def __init__(self):
        self.sums, self.sets = Counter(), {}

    def stop(self, sums):
        """Return the place of the first sum that does not fit, of (counter, amount, limit), or None."""
        totals = Counter()
        for key, amount, _ in sums:
            totals[key] += amount
        for place, (key, _, limit) in enumerate(sums):
            if totals[key] and self.sums[key] + totals[key] > min(
                LARGEST, LARGEST if limit is None else limit
            ):
                return place
        return None

    def stop_of_keys(self, keys):
        """Return the place of the first key that does not fit, of (counter, key, limit), or None."""
        fresh = {}
        for counter, key, _ in keys:
            fresh.setdefault(counter, set()).update({key} - set(self.sets.get(counter, ())))
        for place, (counter, _, limit) in enumerate(keys):
            new = len(fresh[counter])
            if new and limit is not None and len(self.sets.get(counter, ())) + new > limit:
                return place
        return None

    def add(self, sums, keys, sign=1):
        """Add or subtract, without limits."""
        for key, amount, *_ in sums:
            self.sums[key] += sign * amount
        for counter, key, *_ in keys:
            members = self.sets.setdefault(counter, Counter())
            members[key] += sign
            self.sets[counter] = +members

    def copy(self):
        """Return an independent copy."""
        twin = Model()
        twin.sums = Counter(self.sums)
        twin.sets = {counter: Counter(members) for counter, members in self.sets.items()}
        return twin

    def admit(self, charges, key_charges, rows, copies):
        """Serve copies in order; return the grants, and the charge that refused each candidate and each copy."""
        model = self.copy()
        granted, stops, copy_stops = [], [], []
        for copy in range(copies):
            if len(stops) == len(rows):
                break
            keys = [(charge.counter, charge.keys[copy], charge.limit) for charge in key_charges]
            stop = model.stop_of_keys(keys)
            copy_stops.append(-1 if stop is None else stop)
            if stop is not None:
                continue
            while len(stops) < len(rows):
                sums = [on(charge, rows[len(stops)]) for charge in charges]
                stop = model.stop(sums)
                stops.append(-1 if stop is None else stop)
                if stop is None:
                    granted.append((len(stops) - 1, copy))
                    model.add(sums, keys)
                    break
        return granted, stops, copy_stops, model

    def state(self):
        """Return all counters that are not 0."""
        return {key: used for key, used in self.sums.items() if used}, {
            counter: dict(members) for counter, members in self.sets.items() if members
        }
