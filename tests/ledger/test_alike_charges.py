"""Charges that are the same on every slot are admitted without a look at candidates, as those of one request of many."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.ledger import LARGEST, AlikeCharges, Charge, KeyCharge, Ledger, admit_alike

SUMS = [("user", "a"), ("user", "b"), ("queue", "q")]
SETS = [("apps", "a"), ("apps", "b")]
AMOUNTS = st.sampled_from((0, 1, 2, 3, LARGEST))
LIMITS = st.none() | st.sampled_from((-1, 0, 1, 2, 4, 8, LARGEST, 2**70))
NAMES = st.lists(st.sampled_from(("x", "y", "z")), min_size=4, max_size=4)
ROWS = np.array([7, 3, 5, 1, 9])


@st.composite
def requests(draw):
    """Return charges of a few counters, and those of requests that differ in amounts and keys, with the copies of each."""
    sums = draw(st.lists(st.tuples(st.sampled_from(SUMS), LIMITS), unique_by=lambda each: each[0]))
    sets = draw(st.lists(st.tuples(st.sampled_from(SETS), LIMITS), unique_by=lambda each: each[0]))
    found = []
    for _ in range(draw(st.integers(1, 4))):
        charges = [Charge(counter, draw(AMOUNTS), limit) for counter, limit in sums]
        keys = [KeyCharge(counter, draw(NAMES), limit) for counter, limit in sets]
        found.append((charges, keys, draw(st.integers(1, 4))))
    return found


def content(ledger):
    return dict(ledger.counters()), {key: dict(names) for key, names in ledger.counters().key_sets()}


@given(requests())
@settings(max_examples=400)
def test_what_is_granted_is_what_each_request_by_itself_is_granted(found):
    """The same slots and copies, and the same sums and sets after each commit; what may not fit is left alone."""
    ledger, other = Ledger(), Ledger()
    first = found[0]
    alike = AlikeCharges.of(ledger.counters(), *first[:2])
    for charges, keys, copies in found:
        amounts, members = [each.amount for each in charges], [each.keys for each in keys]
        admission = admit_alike(alike, amounts, members, ROWS, copies)
        wanted = other.admit(charges, keys, ROWS, copies)
        if admission is None:
            assert wanted.refused or wanted.copies_refused
            continue
        assert admission.rows.tolist() == wanted.rows.tolist()
        assert admission.copies.tolist() == wanted.copies.tolist()
        assert (sum(admission.refused), sum(admission.copies_refused)) == (0, 0)
        receipts = [*ledger.commit(admission)], [*other.commit(wanted)]
        assert receipts[0] == receipts[1]
        assert content(ledger) == content(other)
        ledger.verify()


@given(requests())
def test_matches_are_released_as_they_were_charged(found):
    ledger = Ledger()
    charges, keys, copies = found[0]
    alike = AlikeCharges.of(ledger.counters(), charges, keys)
    admission = admit_alike(
        alike, [each.amount for each in charges], [each.keys for each in keys], ROWS, copies
    )
    if admission is not None:
        ledger.release_all(ledger.commit(admission))
    assert content(ledger) == ({}, {})


def test_charges_that_depend_on_the_slot_or_share_a_counter_are_left_to_others():
    counters, one = Ledger().counters(), Charge(("a",), 1, 5)
    assert AlikeCharges.of(counters, [one, one], ()) is None
    assert AlikeCharges.of(counters, [Charge(("a",), 1, np.array([1, 2]))], ()) is None
    assert AlikeCharges.of(counters, [Charge(("a",), 0, 5, probes=True)], ()) is None
    assert AlikeCharges.of(counters, (), [KeyCharge(("s",), ["x"], 1)] * 2) is None
    assert AlikeCharges.of(counters, [one], [KeyCharge(("s",), ["x"], 1)]) is not None
