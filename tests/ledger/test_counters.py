"""Counters, receipts, and invalid requests to the ledger."""

import re

import numpy as np
import pytest

from ledger_model import Postings, charge_all
from negotiator.ledger import LARGEST, Charge, Family, Grouping, KeyCharge, Ledger, LedgerError
from negotiator.ledger.admission import fitting_copies
from negotiator.records import Mode

SUE, BOB, APPS = ("user", "sue"), ("user", "bob"), ("apps", "sue")


def state(counters):
    return dict(counters), {key: dict(members) for key, members in counters.key_sets()}


REFUSED = {
    "a sum used as a set": (((BOB, 0),), ((SUE, "a1"),), "wrong_sort"),
    "a set used as a sum": (((SUE, 1), (APPS, 1)), (), "wrong_sort"),
    "a key without parts": (((SUE, 1), ((), 1)), (), "bad_key"),
    "a key that is a string": (((SUE, 1), ("sue", 1)), (), "bad_key"),
    "a key with a number": (((SUE, 1), (("user", 7), 1)), (), "bad_key"),
}


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(("sums", "keys", "code"), REFUSED.values(), ids=REFUSED)
def test_an_invalid_key_is_refused_and_nothing_is_charged(sums, keys, code, copies):
    """With a code and a message, by the admission or by its commit."""
    ledger = Ledger()
    charge_all(ledger, Postings(((SUE, 5), (BOB, LARGEST)), ((APPS, "a1"), (APPS, "a1"))))
    before = state(ledger.counters())
    charges = [Charge(key, amount, None) for key, amount in sums]
    key_charges = [KeyCharge(counter, [member] * copies, None) for counter, member in keys]
    with pytest.raises(LedgerError) as raised:
        ledger.commit(ledger.admit(charges, key_charges, np.zeros(copies, np.intp), copies))
    assert raised.value.code == code
    assert str(raised.value)
    assert state(ledger.counters()) == before


def test_a_key_is_in_a_set_until_its_last_reference_is_released():
    """An application with two matches runs until both have ended."""
    ledger = Ledger()
    first, second = (charge_all(ledger, Postings((), ((APPS, "a1"),))) for _ in range(2))
    ledger.release(first)
    assert dict(ledger.counters().members(APPS)) == {"a1": 1}
    ledger.release(second)
    assert ledger.counters().used(APPS) == 0


def test_a_match_may_name_a_counter_twice():
    """It is released as it was charged."""
    ledger = Ledger()
    receipt = charge_all(ledger, Postings(((SUE, 2), (SUE, 3)), ((APPS, "a1"), (APPS, "a1"))))
    assert state(ledger.counters()) == ({SUE: 5}, {APPS: {"a1": 2}})
    ledger.release(receipt)
    assert state(ledger.counters()) == ({}, {})


@pytest.mark.parametrize(
    ("sums", "keys", "refusing"),
    [
        ([(SUE, 1, 6)], [], None),
        ([(SUE, 2, 6), (BOB, 1, None)], [], 0),
        ([(SUE, 1, None), (BOB, 1, None)], [], 1),
        ([(BOB, 1, 2**70)], [], 0),
        ([(SUE, 0, 1)], [], None),
        ([(SUE, 1, 9), (SUE, 1, 6)], [], 1),
        ([], [(APPS, "a1", 0)], None),
        ([], [(APPS, "a1", 0), (APPS, "a1", None)], None),
        ([], [(APPS, "a2", 1)], 0),
        ([], [(APPS, "a2", None), (APPS, "a3", 2)], 1),
        ([], [(APPS, "a2", 2), (APPS, "a2", 2)], None),
    ],
)
def test_a_match_is_charged_as_a_whole_or_the_first_charge_that_refuses_is_known(sums, keys, refusing):
    """A charge that adds nothing is never refused; charges on one counter are added up."""
    ledger = Ledger()
    charge_all(ledger, Postings(((SUE, 5), (BOB, LARGEST)), ((APPS, "a1"),)))
    before = state(ledger.counters())
    admission = ledger.admit(
        [Charge(*each) for each in sums],
        [KeyCharge(counter, [key], limit) for counter, key, limit in keys],
        np.zeros(1, np.intp),
        1,
    )
    receipts = ledger.commit(admission)
    assert len(receipts) == (refusing is None)
    if refusing is not None:
        assert (admission.stops if sums else admission.copy_stops).tolist() == [refusing]
        assert state(ledger.counters()) == before
    ledger.verify()
    for receipt in receipts:
        ledger.release(receipt)
    assert state(ledger.counters()) == before


def admitted(ledger, limit=9):
    groups = Grouping(np.array([0, 0, 1]), Family(("host",), ("h0", "h1")))
    return ledger.admit(
        [Charge(SUE, 1, limit), Charge(groups, 2, limit)],
        [KeyCharge(APPS, ["a", "b"], limit)],
        np.arange(3),
        2,
    )


def test_an_admission_is_committed_once_and_only_while_nothing_changed():
    """Otherwise more than the limits could be charged."""
    ledger = Ledger()
    admission, other = admitted(ledger), admitted(ledger)
    ledger.commit(admission)
    for stale in (admission, other, admitted(Ledger())):
        with pytest.raises(LedgerError) as raised:
            ledger.commit(stale)
        assert raised.value.code == "stale"
    assert ledger.counters().used(SUE) == 2


def test_an_admission_with_a_key_of_the_other_kind_is_refused_as_a_whole():
    ledger = Ledger()
    admission = ledger.admit([Charge(SUE, 1, 1)], [KeyCharge(SUE, ["a"], 1)], np.arange(1), 1)
    with pytest.raises(LedgerError) as raised:
        ledger.commit(admission)
    assert raised.value.code == "wrong_sort"
    assert state(ledger.counters()) == ({}, {})


def test_several_receipts_are_released_together_or_not_at_all():
    """One that was released before leaves the others charged."""
    ledger = Ledger()
    receipts = [charge_all(ledger, Postings(((SUE, 1),))) for _ in range(3)]
    ledger.release(receipts[2])
    with pytest.raises(LedgerError, match="released before"):
        ledger.release_all(receipts)
    assert ledger.counters().used(SUE) == 2
    ledger.release_all(receipts[:2])
    assert ledger.counters().used(SUE) == 0


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_receipt_is_released_once_and_other_numbers_were_never_charged(number):
    """The first one too, and the number after the last."""
    ledger = Ledger()
    receipts = [charge_all(ledger, Postings(((SUE, 1),))) for _ in range(number)]
    for receipt in receipts:
        ledger.release(receipt)
    for receipt, code in [
        *((each, "already_released") for each in receipts),
        (min(receipts) - 1, "never_charged"),
        (max(receipts) + 1, "never_charged"),
    ]:
        with pytest.raises(LedgerError) as raised:
            ledger.release(receipt)
        assert raised.value.code == code


@pytest.mark.parametrize("mode", Mode)
def test_verify_names_inconsistent_counters(mode):
    """Counters that were changed without a receipt."""
    ledger = Ledger()
    ledger.commit(admitted(ledger))
    charge_all(ledger, Postings(((BOB, 3),)), mode)
    ledger.verify()
    counters = ledger.counters(mode)
    counters.add(((counters.open_sum(("host", "h0")),), (1,), (counters.open_set(APPS),), ("c",)))
    with pytest.raises(
        LedgerError, match=re.escape("2 counters are not the sum of their receipts: host h0; apps sue;")
    ) as raised:
        ledger.verify()
    assert raised.value.code == "unbalanced"


def test_a_family_and_single_keys_are_the_same_counters():
    """However they were named first, and however many there are."""
    hosts = tuple(f"h{number}" for number in range(500))
    codes = np.arange(500)
    for named in (Family(("host",), hosts), [("host", name) for name in hosts]):
        ledger = Ledger()
        charge_all(ledger, Postings(((("host", "h7"), 1),)))
        grouping = Grouping(codes, named)
        ledger.commit(ledger.admit([Charge(grouping, 1, 1)], [], codes[:20], 500))
        charge_all(ledger, Postings(((("host", "h30"), 1),)))
        again = ledger.admit([Charge(grouping, 1, 1)], [], codes, 500)
        assert sorted(set(range(500)) - set(again.rows.tolist())) == [*range(20), 30]
        assert len(ledger.commit(again)) == 479
        assert dict(ledger.counters()) == {("host", name): 1 for name in hosts}
        ledger.verify()


def test_the_members_of_a_family_are_keys():
    family = Family(("host", "memory"), ("h0", "h1", "h2"))
    assert family[1] == ("host", "memory", "h1")
    assert list(family[1:]) == [("host", "memory", "h1"), ("host", "memory", "h2")]
    assert ("host", "memory", "h2") in family
    assert len(family) == 3


def test_no_more_copies_are_examined_than_can_be_granted():
    """Copies of a known application do not exceed the limit; those after the last slot are not counted as refused."""
    charges = [KeyCharge(APPS, ["a1", "a2", "a1", "a3", "a1", "a1"], 1)]
    served = fitting_copies(Ledger().counters(), charges, 6, 2)
    assert (list(served.fitting), list(served.stops)) == ([0, 2], [-1, 0, -1])
