"""Small requests with their expected results."""

import numpy as np
import pytest

from ledger_model import Postings, charge_all
from negotiator.ledger import LARGEST, Charge, Family, Grouping, KeyCharge, Ledger, LedgerError
from negotiator.records import Mode

HOSTS = np.array([0, 0, 1, 1, 2, 2])  # six slots on three hosts
RACKS = np.array([0, 0, 0, 0, 1, 1])
PARITY = np.array([0, 1, 0, 1, 0, 1])
SIZES = np.array([4, 1, 2, 3, 1, 1])
ALL = range(6)


def by(codes, amount, limit, name="host"):
    return Charge(Grouping(codes, Family((name,), ("0", "1", "2"))), amount, limit)


def user(amount, limit, name="sue"):
    return Charge(("user", name), amount, limit)


def apps(keys, limit, name="sue"):
    return KeyCharge(("apps", name), list(keys), limit)


# charges, key charges, candidates, copies; granted (position, copy), the charge that refused each candidate and copy
CASES = {
    "no charges: the first candidates": ([], [], [5, 3, 1], 2, [(0, 0), (1, 1)], [-1, -1], [-1, -1]),
    "no candidates: no copy is examined": ([user(1, 5)], [], [], 3, [], [], []),
    "no copies: no candidate is examined": ([user(1, 0)], [], ALL, 0, [], [], []),
    "a limit on a sum: the first candidates": (
        [user(2, 5)], [], ALL, 4, [(0, 0), (1, 1)], [-1, -1, 0, 0, 0, 0], [-1, -1, -1],
    ),
    "after the last copy no candidate is examined": ([user(1, 2)], [], ALL, 2, [(0, 0), (1, 1)], [-1, -1], [-1, -1]),
    "after the last candidate no copy is examined": ([], [apps("abcd", 2)], [0, 1], 4, [(0, 0), (1, 1)], [-1, -1], [-1, -1]),
    "one match on a host": ([by(HOSTS, 1, 1)], [], ALL, 6, [(0, 0), (2, 1), (4, 2)], [-1, 0, -1, 0, -1, 0], [-1] * 4),
    "hosts in racks: the rack is full": (
        [by(HOSTS, 1, 1), by(RACKS, 1, 1, "rack")], [], ALL, 6, [(0, 0), (4, 1)], [-1, 0, 1, 1, -1, 0], [-1] * 3,
    ),
    "the first charge in the order of declaration refuses": (
        [by(RACKS, 1, 1, "rack"), by(HOSTS, 1, 1)], [], ALL, 6, [(0, 0), (4, 1)], [-1, 0, 0, 0, -1, 0], [-1] * 3,
    ),
    "groups that cross: a candidate refused by one leaves room in the other": (
        [by(HOSTS, 1, 1), by(PARITY, 1, 1, "parity")], [], ALL, 6, [(0, 0), (3, 1)], [-1, 0, 1, -1, 1, 1], [-1] * 3,
    ),
    "a group that is half outside of another": (
        [by(HOSTS, 1, 1), by(np.array([0, -1, 0, -1, 0, -1]), 1, 0, "odd")], [], ALL, 6,
        [(1, 0), (3, 1), (5, 2)], [1, -1, 1, -1, 1, -1], [-1] * 3,
    ),
    "amounts that differ: a small one fits behind a large one": (
        [user(SIZES, 3)], [], ALL, 6, [(1, 0), (2, 1)], [0, -1, -1, 0, 0, 0], [-1] * 3,
    ),
    "a limit for each slot": (
        [user(1, np.array([0, 9, 1, 2, 3, 2]))], [], ALL, 6, [(1, 0), (3, 1), (4, 2)], [0, -1, 0, -1, -1, 0], [-1] * 4,
    ),
    "an uncharged slot passes": (
        [by(np.array([-1, 0, 0, -1, 0, -1]), 1, 0)], [], ALL, 6, [(0, 0), (3, 1), (5, 2)], [-1, 0, 0, -1, 0, -1], [-1] * 3,
    ),
    "an amount of 0 passes a limit that is exceeded": ([user(0, -5)], [], [0, 1], 2, [(0, 0), (1, 1)], [-1, -1], [-1, -1]),
    "no limit only counts": ([user(1, None)], [], [0, 1], 2, [(0, 0), (1, 1)], [-1, -1], [-1, -1]),
    "two charges on one counter are added up": (
        [user(1, 9), user(2, 5)], [], ALL, 3, [(0, 0)], [-1, 1, 1, 1, 1, 1], [-1, -1],
    ),
    "a second limit on a counter, with amount 0": ([user(2, 9), user(0, 3)], [], [0, 1], 2, [(0, 0)], [-1, 1], [-1, -1]),
    "two applications, the second is refused": (
        [], [apps("abab", 1)], ALL, 4, [(0, 0), (1, 2)], [-1, -1], [-1, 0, -1, 0],
    ),
    "a copy that one set refuses is added to no other": (
        [], [apps("abc", 1), apps("xxx", 1, "group")], ALL, 3, [(0, 0)], [-1], [-1, 0, 0],
    ),
    "a set that fills up later refuses before another": (
        [], [apps("cbab", 2), apps("xyxy", 1, "group")], ALL, 4, [(0, 0), (1, 2)], [-1, -1], [-1, 1, -1, 0],
    ),
    "amounts whose sum exceeds 64 bits": (
        [user(np.array([2**62] * 5 + [1]), None)], [], ALL, 6, [(0, 0), (5, 1)], [-1, 0, 0, 0, 0, -1], [-1] * 2,
    ),
    "a copy without a candidate leaves no key": (
        [user(1, 1)], [apps("ab", 9)], [0, 1], 2, [(0, 0)], [-1, 0], [-1, -1],
    ),
    "a slot may be listed twice": ([by(HOSTS, 1, 2)], [], [0, 0, 1], 3, [(0, 0), (1, 1)], [-1, -1, 0], [-1] * 3),
}  # fmt: skip


@pytest.mark.parametrize("way", [0, 64, None], ids=["columns", "rows", "plain integers"])
@pytest.mark.parametrize(
    ("charges", "keys", "rows", "copies", "granted", "stops", "copy_stops"), CASES.values(), ids=CASES
)
def test_admission(monkeypatch, way, charges, keys, rows, copies, granted, stops, copy_stops):
    """The grants, and the charge that refuses the others: in columns, row by row, in plain integers."""
    if way is not None:
        monkeypatch.setattr("negotiator.ledger.admission.grant_sums", lambda *_: None)
        monkeypatch.setattr("negotiator.ledger.columnar_admission.SMALL", way)
    monkeypatch.setattr("negotiator.ledger.columnar_admission.FEW", 1)
    monkeypatch.setattr("negotiator.ledger.columnar_admission.PART", LARGEST)
    admission = Ledger().admit(charges, keys, np.array(rows), copies)
    assert list(zip(admission.positions.tolist(), admission.copies.tolist(), strict=True)) == granted
    assert admission.stops.tolist() == stops
    assert admission.copy_stops.tolist() == copy_stops


def test_earlier_charges_count():
    """On a sum, on a host, and in a set of keys; a running application costs nothing."""
    ledger = Ledger()
    charge_all(ledger, Postings(((("user", "sue"), 3), (("host", "1"), 1)), ((("apps", "sue"), "a"),)))
    admission = ledger.admit([user(1, 6), by(HOSTS, 1, 1)], [apps("baaa", 1)], np.arange(6), 4)
    assert admission.rows.tolist() == [0, 4]
    assert admission.copies.tolist() == [1, 2]
    assert admission.refused == (0, 4)
    assert admission.copies_refused == (1,)


def test_a_counter_above_its_limit_refuses_until_matches_are_released():
    """A lowered limit does not stop running jobs."""
    ledger = Ledger()
    running = charge_all(ledger, Postings(((("user", "sue"), 9),)))
    assert len(ledger.admit([user(1, 6)], [], np.arange(6), 4)) == 0
    ledger.release(running)
    assert len(ledger.admit([user(1, 6)], [], np.arange(6), 4)) == 4


def test_each_match_is_released_separately():
    """A receipt has the amounts of its own match on its own counters."""
    ledger = Ledger()
    charges = [user(SIZES, None), by(np.array([0, 0, 1, 1, -1, -1]), 2, None)]
    receipts = ledger.commit(ledger.admit(charges, [apps("ab", None)], np.array([3, 5]), 2))
    assert dict(ledger.counters()) == {("user", "sue"): 4, ("host", "1"): 2}
    ledger.release(receipts[0])
    assert dict(ledger.counters()) == {("user", "sue"): 1}
    assert dict(ledger.counters().key_sets()) == {("apps", "sue"): {"b": 1}}


def test_shadow_counters_are_separate():
    """Modes warn and dryrun share them; enforcing charges use others."""
    ledger = Ledger()
    ledger.commit(ledger.admit([user(1, 2)], [], np.arange(6), 4, Mode.WARN))
    assert dict(ledger.counters()) == {}
    assert dict(ledger.counters(Mode.DRYRUN)) == {("user", "sue"): 2}
    assert len(ledger.admit([user(1, 2)], [], np.arange(6), 4)) == 2


WRONG = {
    "a negative amount": (user(-1, 5), "negative_amount"),
    "a negative amount of a slot": (user(np.array([1, 1, 1, 1, 1, -1]), 5), "negative_amount"),
    "an amount above 2^63 - 1": (user(2**63, None), "overflow"),
    "an amount that is not an integer": (user(1.5, None), "bad_amount"),
    "a column of reals": (user(np.ones(6), None), "bad_charge"),
    "a column of unsigned integers above 2^63 - 1": (user(np.full(6, 2**63, np.uint64), None), "bad_charge"),
    "a column that is too short": (user(np.array([1, 1]), None), "bad_charge"),
    "limits that are too short": (user(1, np.array([1, 1])), "bad_charge"),
    "codes that are too short": (by(np.array([0, 1]), 1, 5), "bad_charge"),
    "a code without a key": (by(HOSTS + 1, 1, 5), "bad_charge"),
    "a code below -1": (by(HOSTS - 2, 1, 5), "bad_charge"),
    "a set of keys": (Charge(("apps", "sue"), 1, 5), "wrong_sort"),
}


@pytest.mark.parametrize(("charge", "code"), WRONG.values(), ids=WRONG)
def test_an_invalid_charge_is_refused(charge, code):
    """With a code, before anything is granted."""
    ledger = Ledger()
    charge_all(ledger, Postings((), ((("apps", "sue"), "a"),)))
    before = ledger.counters().version
    with pytest.raises(LedgerError) as raised:
        ledger.admit([user(1, 9, "bob"), charge], [], np.arange(6), 6)
    assert raised.value.code == code
    assert ledger.counters().version == before


def test_invalid_copies_and_candidates_are_refused():
    """Keys for each copy, no negative rows, no negative copies, and codes that are whole numbers."""
    ledger = Ledger()
    for keys, rows, copies in (([apps("a", 1)], [0], 2), ([], [-1], 1), ([], [[0]], 1), ([], [0], -1)):
        with pytest.raises(LedgerError) as raised:
            ledger.admit([user(1, 1)], keys, np.array(rows), copies)
        assert raised.value.code == "bad_charge"
    with pytest.raises(LedgerError, match="one integer for each slot"):
        Grouping(np.ones(3), [("a",)])


def test_many_copies_cost_no_more_than_the_candidates():
    """A request for more copies than candidates equals one for as many as there are candidates."""
    assert len(Ledger().admit([user(1, None)], [], np.arange(6), 2**40)) == 6
