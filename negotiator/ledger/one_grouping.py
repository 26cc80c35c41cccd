"""Admission in closed form of charges of which one alone depends on the slot: by far the most requests under a quota for each host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from negotiator.ledger.charges import Charge
from negotiator.ledger.counters import Counters
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.groups import CandidateGroups
from negotiator.ledger.keys import LARGEST
from negotiator.ledger.lines import Rows

#: So many rows are counted faster one by one than in columns.
_FEW = 64


def fit_by_group(counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int) -> Rows | None:
    """Return the number of the charge that refuses each of some valid rows, (E,), -1 for none, until all copies are served.

    Return None if several charges depend on the slot, or that one has no single amount and limit; if another one may refuse a
    candidate, if charges probe or may be on one counter, or are invalid.
    """
    number = _only_varying(counters, charges, wanted)
    if number is None:
        return None
    charge = charges[number]
    grouping, amount, limit = charge.counter, charge.amount, charge.limit
    if not isinstance(grouping, Grouping) or not isinstance(amount, int) or not isinstance(limit, int):
        return None
    if not grouping.has_valid_codes or not grouping.distinct or int(rows.max()) >= len(grouping.codes):
        return None
    codes = grouping.codes[rows].astype(np.intp)
    room = np.where(codes >= 0, min(limit, LARGEST) - counters.sums_of(grouping, codes), LARGEST)
    fitting = room // amount
    if len(rows) <= _FEW:
        return np.array(_count_few(codes.tolist(), fitting.tolist(), wanted, number))
    before = CandidateGroups(codes).before(np.ones(len(rows), np.int64))
    fits = before < fitting
    served = np.flatnonzero(fits)[:wanted]
    examined = int(served[-1]) + 1 if len(served) == wanted else len(rows)
    return np.where(fits[:examined], -1, number)


def _count_few(codes: Sequence[int], fitting: Sequence[int], wanted: int, number: int) -> list[int]:
    """Do the same one by one, for rows of some codes and the matches for which each code has room."""
    taken: defaultdict[int, int] = defaultdict(int)
    stops, left = [], wanted
    for code, most in zip(codes, fitting, strict=True):
        if taken[code] >= most:
            stops.append(number)
            continue
        stops.append(-1)
        taken[code] += 1
        left -= 1
        if not left:
            break
    return stops


def _only_varying(counters: Counters, charges: Sequence[Charge], wanted: int) -> int | None:
    """Return the number of the only charge that depends on the slot, if all others have room for all copies."""
    found: int | None = None
    keys = set()
    cells, known = counters.cells, counters.known_sums
    for number, charge in enumerate(charges):
        key, amount, limit = charge.counter, charge.amount, charge.limit
        if charge.probes or type(amount) is not int or not 0 <= amount <= LARGEST:
            return None
        if isinstance(key, Grouping):
            if found is not None or type(limit) is not int or limit < 0 or not amount:
                return None
            found = number
            continue
        if limit is not None and type(limit) is not int:
            return None
        index = known.get(key) or counters.index_of(key)
        room = (LARGEST if limit is None else min(limit, LARGEST)) - cells[index]
        if not key or (amount and amount * wanted > room):
            return None
        keys.add(key)
    if found is None or len(keys) < len(charges) - 1:
        return None
    grouping = charges[found].counter
    if not isinstance(grouping, Grouping) or any(key[:-1] in grouping.prefixes for key in keys):
        return None
    return found
