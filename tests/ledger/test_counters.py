"""Counters, receipts and what is refused."""

import re

import numpy as np
import pytest

from ledger_model import charge_all
from negotiator.ledger import (
    LARGEST,
    Charge,
    Counters,
    Family,
    Grouping,
    KeyCharge,
    Ledger,
    LedgerError,
    Postings,
    RefusedCharge,
)
from negotiator.records import Mode

SUE, BOB, APPS = ("user", "sue"), ("user", "bob"), ("apps", "sue")


def state(counters):
    return dict(counters), {key: dict(members) for key, members in counters.key_sets()}


def filled():
    counters = Counters()
    counters.add(Postings(((SUE, 5), (BOB, LARGEST)), ((APPS, "a1"), (APPS, "a1"))))
    return counters


REFUSED = {
    "more than can be counted": ("add", ((SUE, 1), (BOB, 1)), (), "overflow"),
    "more than can be counted, by two": ("add", ((SUE, LARGEST - 5), (SUE, 1)), (), "overflow"),
    "an amount that cannot be counted": ("add", ((SUE, 1), (SUE, 2**63)), (), "overflow"),
    "a negative amount": ("add", ((SUE, 1), (BOB, -1)), (), "negative_amount"),
    "a real": ("add", ((SUE, 1), (BOB, 1.0)), (), "bad_amount"),
    "a truth": ("add", ((SUE, 1), (BOB, True)), (), "bad_amount"),
    "a sum used as a set": ("add", ((BOB, 0),), ((SUE, "a1"),), "wrong_sort"),
    "a set used as a sum": ("add", ((SUE, 1), (APPS, 1)), (), "wrong_sort"),
    "a key without parts": ("add", ((SUE, 1), ((), 1)), (), "bad_key"),
    "a key that is a text": ("add", ((SUE, 1), ("sue", 1)), (), "bad_key"),
    "a key with a number": ("add", ((SUE, 1), (("user", 7), 1)), (), "bad_key"),
    "more than there is": ("subtract", ((BOB, 1), (SUE, 6)), (), "never_charged"),
    "more than there is, by two": ("subtract", ((SUE, 3), (SUE, 3)), (), "never_charged"),
    "of a counter that never was": ("subtract", ((SUE, 1), (("user", "x"), 1)), (), "never_charged"),
    "a key that is not there": ("subtract", ((SUE, 1),), ((APPS, "a2"),), "never_charged"),
    "a key once too often": ("subtract", ((SUE, 1),), ((APPS, "a1"),) * 3, "never_charged"),
    "a key of a set that never was": ("subtract", ((SUE, 1),), ((("apps", "x"), "a1"),), "never_charged"),
    "to give back less than nothing": ("subtract", ((SUE, -1),), (), "negative_amount"),
}


@pytest.mark.parametrize(("what", "sums", "keys", "code"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused_whole(what, sums, keys, code):
    """With a word for machines and a sentence for people; no counter has changed."""
    counters = filled()
    before, version = state(counters), counters.version
    with pytest.raises(LedgerError) as raised:
        getattr(counters, what)(Postings(sums, keys))
    assert raised.value.code == code
    assert str(raised.value)
    assert (state(counters), counters.version) == (before, version)


def test_a_key_is_in_a_set_until_its_last_reference_is_given_back():
    counters = filled()
    counters.subtract(Postings((), ((APPS, "a1"),)))
    assert counters.used(APPS) == 1
    assert dict(counters.members(APPS)) == {"a1": 1}
    counters.subtract(Postings((), ((APPS, "a1"),)))
    assert counters.used(APPS) == 0


def test_what_is_given_back_may_name_a_counter_twice():
    counters = filled()
    counters.subtract(Postings(((SUE, 2), (SUE, 3)), ((APPS, "a1"), (APPS, "a1"))))
    assert state(counters) == ({BOB: LARGEST}, {})


@pytest.mark.parametrize(
    ("sums", "keys", "refused"),
    [
        ([(SUE, 1, 6)], [], None),
        ([(SUE, 2, 6), (BOB, 1, None)], [], RefusedCharge(SUE, 0, False, 2, 5, 6)),
        ([(SUE, 1, None), (BOB, 1, None)], [], RefusedCharge(BOB, 1, False, 1, LARGEST, LARGEST)),
        ([(BOB, 1, 2**70)], [], RefusedCharge(BOB, 0, False, 1, LARGEST, LARGEST)),
        ([(SUE, 0, 1)], [], None),
        ([(SUE, 1, 9), (SUE, 1, 6)], [], RefusedCharge(SUE, 1, False, 2, 5, 6)),
        ([], [(APPS, "a1", 0)], None),
        ([], [(APPS, "a1", 0), (APPS, "a1", None)], None),
        ([], [(APPS, "a2", 1)], RefusedCharge(APPS, 0, True, 1, 1, 1)),
        ([], [(APPS, "a2", None), (APPS, "a3", 2)], RefusedCharge(APPS, 1, True, 2, 1, 2)),
        ([], [(APPS, "a2", 2), (APPS, "a2", 2)], None),
    ],
)
def test_a_match_is_charged_whole_or_told_what_did_not_fit(sums, keys, refused):
    """What adds nothing is never refused; what is named twice counts together."""
    ledger = Ledger()
    charge_all(ledger, Postings(((SUE, 5), (BOB, LARGEST)), ((APPS, "a1"),)))
    before = state(ledger.counters())
    answer = ledger.try_charge(sums, keys)
    if refused is not None:
        assert answer == refused
        assert state(ledger.counters()) == before
        return
    ledger.verify()
    ledger.release(answer)
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
    """Else more could be charged than the limits allow."""
    ledger = Ledger()
    admission, other = admitted(ledger), admitted(ledger)
    ledger.commit(admission)
    for stale in (admission, other, admitted(Ledger())):
        with pytest.raises(LedgerError) as raised:
            ledger.commit(stale)
        assert raised.value.code == "stale"
    assert ledger.counters().used(SUE) == 2


def test_an_admission_on_a_key_of_the_other_sort_is_refused_whole():
    ledger = Ledger()
    admission = ledger.admit([Charge(SUE, 1, 1)], [KeyCharge(SUE, ["a"], 1)], np.arange(1), 1)
    with pytest.raises(LedgerError) as raised:
        ledger.commit(admission)
    assert raised.value.code == "wrong_sort"
    assert state(ledger.counters()) == ({}, {})


def test_no_receipt_is_given_twice_also_after_a_restore():
    """A receipt of what was undone does not release somebody else's."""
    ledger = Ledger()
    nothing = ledger.snapshot()
    undone = charge_all(ledger, Postings(((SUE, 1),)))
    ledger.restore(nothing)
    assert charge_all(ledger, Postings(((SUE, 1),))) != undone
    with pytest.raises(LedgerError, match="no longer held"):
        ledger.release(undone)
    assert ledger.counters().used(SUE) == 1


@pytest.mark.parametrize("mode", Mode)
def test_verify_names_the_counters_that_are_off(mode):
    """Whatever somebody else did to them."""
    ledger = Ledger()
    ledger.commit(admitted(ledger))
    charge_all(ledger, Postings(((BOB, 3),)), mode)
    ledger.verify()
    ledger.counters(mode).add(Postings(((("host", "h0"), 1),), ((APPS, "c"),)))
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
