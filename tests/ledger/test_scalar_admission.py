"""Admission in plain integers, candidate by candidate or in closed form, equals admission by columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.ledger import LARGEST, Charge, Family, Grouping, Ledger, LedgerError
from negotiator.ledger.columnar_admission import find_stops
from negotiator.ledger.scalar_admission import FEW, grant_sums

SLOTS = 10
AMOUNTS = st.sampled_from((0, 0, 1, 1, 2, 3, LARGEST - 1, LARGEST))
LIMITS = st.sampled_from((-5, -1, 0, 1, 2, 3, 5, LARGEST - 1, LARGEST))
USED = st.sampled_from((0, 0, 1, 2, 4, 2**62))
COUNTERS = [("user", "a"), ("user", "b"), ("host", "h0"), ("host", "h1")]


def columns(values):
    """One value for all slots, or one for each."""
    return values | st.lists(values, min_size=SLOTS, max_size=SLOTS).map(
        lambda each: np.array(each, np.int64)
    )


GROUPINGS = st.builds(
    lambda codes, keys: Grouping(np.array(codes, np.int32), keys),
    st.lists(st.integers(-1, 2), min_size=SLOTS, max_size=SLOTS),
    st.sampled_from(
        (
            Family(("host",), ["h0", "h1", "h2"]),
            [("host", "h0"), ("user", "a"), ("x", "y")],
            [("host", "h1")] * 3,
        )
    ),
)
CHARGES = st.lists(
    st.builds(
        Charge,
        st.sampled_from(COUNTERS) | GROUPINGS,
        columns(AMOUNTS),
        st.none() | columns(LIMITS),
        probes=st.booleans(),
    ),
    max_size=4,
)
ROWS = st.lists(st.integers(0, SLOTS - 1), max_size=SLOTS, unique=True).map(
    lambda rows: np.array(rows, np.intp)
)


def charged(used):
    """Return a ledger with this usage, by key."""
    ledger = Ledger()
    for key, amount in used.items():
        ledger.commit(ledger.admit([Charge(key, amount, None)], (), np.zeros(1, np.intp), 1))
    return ledger


def by_hand(ledger, charges, row):
    """Return the charges that refuse a candidate, in order, as ``Charge`` defines them."""

    def at(value):
        return int(value[row]) if isinstance(value, np.ndarray) else value

    found = []
    for charge in charges:
        key = charge.counter
        if isinstance(key, Grouping):
            key = key.keys[key.codes[row]] if key.codes[row] >= 0 else None
        found.append(
            (key, at(charge.amount), LARGEST if charge.limit is None else min(at(charge.limit), LARGEST))
        )
    refusing = []
    for number, (key, _, limit) in enumerate(found):
        total = sum(amount for other, amount, _ in found if other == key)
        used = ledger.counters().used(key) if key else 0
        if key and (total or charges[number].probes) and used + total > limit:
            refusing.append(number)
    return refusing


@given(CHARGES, ROWS.filter(len), st.dictionaries(st.sampled_from(COUNTERS), USED))
@settings(max_examples=500)
def test_the_first_candidate_that_fits_and_the_first_refusing_charges_are_found(charges, rows, used):
    """Probes, shared counters, groupings, columns of amounts and of limits, the largest numbers."""
    ledger = charged(used)
    found = grant_sums(ledger.counters(), charges, rows, 1)
    refused = [by_hand(ledger, charges, row) for row in rows.tolist()]
    fits = refused.index([]) if [] in refused else len(rows)
    assert found.stops == [each[0] for each in refused[:fits]] + [-1] * (fits < len(rows))


@given(CHARGES, ROWS.filter(len), st.dictionaries(st.sampled_from(COUNTERS), USED), st.integers(1, SLOTS))
@settings(max_examples=500)
def test_admission_in_plain_integers_grants_what_admission_by_columns_grants(charges, rows, used, wanted):
    """The same charges refuse; for one copy, a probe has no precedence over other charges, as it has in columns."""
    ledger = charged(used)
    columns = find_stops(ledger.counters(), charges, rows, wanted).tolist()
    found = grant_sums(ledger.counters(), charges, rows, wanted)
    if found is not None and wanted == 1 and any(charge.probes for charge in charges):
        assert [stop < 0 for stop in found.stops] == [stop < 0 for stop in columns]
    elif found is not None:
        assert found.stops == columns


@given(
    st.lists(st.builds(Charge, st.sampled_from(COUNTERS), AMOUNTS, st.none() | LIMITS), max_size=4),
    st.integers(1, 3 * FEW),
    st.integers(1, 3 * FEW),
    st.dictionaries(st.sampled_from(COUNTERS), USED),
)
def test_charges_alike_on_all_slots_need_no_columns(charges, size, wanted, used):
    """For any number of candidates and copies: the first candidates that there is room for are granted."""
    ledger, rows = charged(used), np.arange(size)
    found = grant_sums(ledger.counters(), charges, rows, wanted)
    assert found.stops == find_stops(ledger.counters(), charges, rows, wanted).tolist()
    assert len(found.granted) == found.stops.count(-1)


@given(CHARGES, ROWS, st.dictionaries(st.sampled_from(COUNTERS), USED))
@settings(max_examples=300)
def test_a_grant_is_charged_and_released(charges, rows, used):
    """On each counter the sum of the charges that name it; nothing is left after the release."""
    ledger = charged(used)
    before = dict(ledger.counters())
    admission = ledger.admit(charges, (), rows, 3)
    wanted = dict(before)
    for row in admission.rows.tolist():
        for charge in charges:
            key = charge.counter
            if isinstance(key, Grouping):
                key = key.keys[key.codes[row]] if key.codes[row] >= 0 else None
            amount = int(charge.amount[row]) if isinstance(charge.amount, np.ndarray) else charge.amount
            if key and amount:
                wanted[key] = wanted.get(key, 0) + amount
    receipts = ledger.commit(admission)
    assert dict(ledger.counters()) == wanted
    ledger.verify()
    for receipt in receipts:
        ledger.release(receipt)
    assert dict(ledger.counters()) == before


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (Charge(("a",), -1, 5), "negative_amount"),
        (Charge(("a",), 2**63, 5), "overflow"),
        (Charge(("a",), 1.5, 5), "bad_amount"),
        (Charge(("a",), np.full(SLOTS, -1), None), "negative_amount"),
        (Charge(Grouping(np.full(SLOTS, -2), [("a",)]), 1, 5), "bad_charge"),
        (Charge(Grouping(np.full(SLOTS, 7), [("a",)]), 1, 5), "bad_charge"),
    ],
)
def test_an_invalid_charge_is_refused_for_one_copy_and_for_two(bad, code):
    """With the same code, and nothing is charged."""
    for copies in (1, 2):
        ledger = Ledger()
        with pytest.raises(LedgerError) as caught:
            ledger.admit([bad], (), np.arange(3), copies)
        assert caught.value.code == code
        assert dict(ledger.counters()) == {}


@pytest.mark.parametrize("copies", [1, 2])
def test_candidates_that_do_not_fit_are_refused_together(copies):
    """None of the first candidates fits, later ones do."""
    size = 3 * FEW
    limits = np.where(np.arange(size) >= 2 * FEW, 2, 0)
    admission = Ledger().admit([Charge(("a",), 1, limits)], (), np.arange(size), copies)
    assert admission.rows.tolist() == [2 * FEW, 2 * FEW + 1][:copies]
    assert admission.refused == (2 * FEW,)


def test_many_candidates_that_only_earlier_grants_refuse_are_left_to_columns():
    """All slots but the last are on one host, which has room for one match."""
    size = 3 * FEW
    charge = Charge(Grouping(np.where(np.arange(size) < size - 1, 0, 1), Family(("host",), ["a", "b"])), 1, 1)
    ledger = Ledger()
    assert grant_sums(ledger.counters(), [charge], np.arange(size), 2) is None
    assert ledger.admit([charge], (), np.arange(size), 2).rows.tolist() == [0, size - 1]


def test_what_was_granted_refuses_by_an_earlier_charge():
    """The second host is full, and the user of the first charge has room for one match alone."""
    size = 3 * FEW
    host = np.where(np.arange(size) < 1, 0, 1)
    ledger = charged({("host", "b"): 1})
    user, hosts = (
        Charge(("user",), np.full(size, 1), 1),
        Charge(Grouping(host, Family(("host",), ["a", "b"])), 1, 1),
    )
    admission = ledger.admit([user, hosts], (), np.arange(size), 2)
    assert (admission.rows.tolist(), admission.refused) == ([0], (size - 1, 0))


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    ("used", "limit", "granted"), [(4, 4, True), (4, 3, False), (0, 0, True), (0, -1, False)]
)
def test_a_probe_is_refused_where_more_is_used_than_allowed(copies, used, limit, granted):
    """It adds nothing: a full counter does not refuse it, one above its limit does."""
    ledger = charged({("a",): used})
    admission = ledger.admit([Charge(("a",), 0, limit, probes=True)], (), np.arange(2), copies)
    assert len(admission) == (copies if granted else 0)
    ledger.commit(admission)
    assert dict(ledger.counters()) == ({("a",): used} if used else {})


@pytest.mark.parametrize("copies", [1, 2])
def test_a_probe_is_examined_after_a_charge_with_an_amount(copies):
    ledger = charged({("a",): 1, ("b",): 4})
    charges = [Charge(("a",), 1, 9, probes=True), Charge(("b",), 0, 3, probes=True)]
    admission = ledger.admit(charges, (), np.arange(3), copies)
    assert (len(admission), admission.refused) == (0, (0, 3))


def test_an_owner_is_put_before_each_key_once():
    """One object for each owner, so that its counters are looked up once; another owner has other counters."""
    for keys in (Family(("host",), ["h0", "h1"]), [("host", "h0"), ("host", "h1")]):
        grouping = Grouping(np.array([0, 1]), keys)
        own = grouping.owned_by("me")
        assert own is grouping.owned_by("me")
        assert list(own.keys) == [("me", "host", "h0"), ("me", "host", "h1")]
        assert next(iter(grouping.owned_by("you").keys))[0] == "you"
        assert own.codes is grouping.codes
