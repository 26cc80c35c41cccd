"""The ledger from Python: all charges of a copy or none, against a ledger that is a dictionary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import negotiator as n

COUNTERS = ("a", "b", "c")
STEPS = st.one_of(
    st.tuples(
        st.just("admit"),
        st.dictionaries(st.sampled_from(COUNTERS), st.integers(0, 5), min_size=1),
        st.integers(0, 4),
    ),
    st.tuples(st.just("release"), st.integers(0, 20), st.just(0)),
    st.tuples(st.just("limit"), st.sampled_from(COUNTERS), st.one_of(st.none(), st.integers(0, 12))),
)


@given(st.lists(STEPS, max_size=20))
def test_any_calls_give_what_a_dictionary_of_sums_gives(steps):
    limits = {"a": 8, "b": 10, "c": None}
    ledger = n.Ledger(limits)
    used, held = dict.fromkeys(COUNTERS, 0), {}
    for what, first, second in steps:
        if what == "limit":
            limits[first] = second
            ledger.set_limit(first, second)
        elif what == "release":
            receipts = [*held][first : first + 1]
            ledger.release(receipts)
            for receipt in receipts:
                for name, amount in held.pop(receipt).items():
                    used[name] -= amount
        else:
            admitted = ledger.admit(first, copies=second)
            fit = 0
            while fit < second and all(
                not amount or limits[name] is None or used[name] + amount <= limits[name]
                for name, amount in first.items()
            ):
                fit += 1
                for name, amount in first.items():
                    used[name] += amount
            assert len(admitted) == fit
            held |= dict.fromkeys(admitted.receipts, first)
            assert bool(admitted.refused_by) == (fit < second)
        assert ledger.usage == used
        assert ledger.limits == limits


def test_the_counter_that_refuses_is_named():
    ledger = n.Ledger({"user": 5, "queue": 3})
    assert ledger.admit({"user": 2, "queue": 2}, copies=2).refused_by == "queue"
    assert ledger.usage == {"user": 2, "queue": 2}


@pytest.mark.parametrize(
    ("charges", "code", "message"),
    [
        ({"usr": 1}, "bad_key", "unknown counter 'usr'.*did you mean user"),
        ({"user": -1}, "negative_amount", "release a receipt instead"),
        ({"user": 0.5}, "bad_amount", "must be an integer"),
        ({"user": 2**63}, "overflow", "the largest is"),
    ],
)
def test_an_invalid_charge_is_refused_as_a_whole(charges, code, message):
    ledger = n.Ledger({"user": 5, "queue": 3})
    with pytest.raises(n.LedgerError, match=message) as caught:
        ledger.admit({"queue": 1, **charges})
    assert caught.value.code == code
    assert ledger.usage == {"user": 0, "queue": 0}


def test_a_receipt_is_released_once_and_all_of_several_or_none():
    ledger = n.Ledger({"user": 5})
    first, second = ledger.admit({"user": 1}, copies=2).receipts
    ledger.release([first])
    with pytest.raises(n.LedgerError, match="released before"):
        ledger.release([second, first])
    assert ledger.usage == {"user": 1}
