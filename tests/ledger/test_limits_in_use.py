"""Counters above the limits of what was charged regardless of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.ledger import LARGEST, Charge, Family, Grouping, KeyCharge, Ledger, LimitsInUse

SLOTS = 6
AMOUNTS, LIMITS = st.integers(0, 3), st.none() | st.integers(-1, 9)
HOSTS = Grouping(np.array([0, 0, 1, 1, -1]), Family(("host",), ("a", "b")))


def charged(ledger, limits, charges, rows=(0,), keys=(), label_of=lambda number: number):
    """Charge matches on some slots regardless of the limits, and add these; labels are by default the numbers of charges."""
    rows = np.array(rows, np.intp)
    free = [Charge(each.counter, each.amount, None) for each in charges]
    admission = ledger.admit(
        free, [KeyCharge(each.counter, each.keys, None) for each in keys], rows, len(rows)
    )
    ledger.commit(admission)
    limits.add(charges, rows, label_of)
    limits.add_keys(keys, lambda number: f"keys {number}")


@pytest.fixture
def ledger():
    return Ledger()


@pytest.fixture
def limits(ledger):
    return LimitsInUse(ledger.counters())


def found(limits):
    """Return counter, usage, limit and label of each counter above its limit."""
    return [(" ".join(each.counter), each.used, each.limit, each.label) for each in limits.exceeded()]


def test_a_sum_above_its_limit_is_found_with_the_label_of_its_charge(ledger, limits):
    charged(ledger, limits, [Charge(("a",), 1, 9), Charge(("b",), 2, 3)], rows=[0, 1])
    assert found(limits) == [("b", 4, 3, 1)]


@pytest.mark.parametrize("amount", [3, np.array([3])])
def test_a_sum_at_its_limit_is_not_above_it(ledger, limits, amount):
    charged(ledger, limits, [Charge(("a",), amount, 3)])
    assert found(limits) == []


def test_a_set_of_keys_counts_each_key_once(ledger, limits):
    keys = [KeyCharge(("few",), ["x", "y", "x"], 1), KeyCharge(("more",), ["x", "y", "x"], 2)]
    charged(ledger, limits, [], rows=[0, 1, 2], keys=keys)
    assert found(limits) == [("few", 2, 1, "keys 0")]


def test_of_the_hosts_of_a_grouping_those_above_the_limit_are_found(ledger, limits):
    """The last slot belongs to no group."""
    charged(ledger, limits, [Charge(HOSTS, 1, 1)], rows=[0, 1, 2, 4])
    assert found(limits) == [("host a", 2, 1, 0)]


def test_a_limit_for_each_slot_is_that_of_the_slots_in_use(ledger, limits):
    """On one counter the highest: slot 1 may be matched up to 5."""
    own = np.array([1, 5, 1, 2, 9])
    charged(ledger, limits, [Charge(HOSTS, 3, own)], rows=[0, 1, 2])
    assert found(limits) == [("host a", 6, 5, 0), ("host b", 3, 1, 0)]


def test_the_highest_limit_of_several_matches_counts(ledger, limits):
    """A match within its own limit is none behind the negotiator's back, whatever the limits of others are."""
    charged(ledger, limits, [Charge(("a",), 1, 1)])
    charged(ledger, limits, [Charge(("a",), 1, 2)])
    assert found(limits) == []
    charged(ledger, limits, [Charge(("b",), 9, 99), Charge(("a",), 1, 1)])
    assert found(limits) == [("a", 3, 2, 0)]


def test_the_lowest_of_the_limits_of_one_match_counts(ledger, limits):
    """It has to fit each of them; amounts are added up."""
    charged(
        ledger, limits, [Charge(("a",), 1, 9), Charge(("a",), 1, 1), Charge(HOSTS, 2, 5), Charge(HOSTS, 1, 2)]
    )
    assert found(limits) == [("a", 2, 1, 1), ("host a", 3, 2, 3)]


def test_a_match_without_a_limit_makes_its_counters_unlimited(ledger, limits):
    charged(ledger, limits, [Charge(("a",), 2, 1), Charge(HOSTS, 2, 1)])
    charged(ledger, limits, [Charge(("a",), 1, None), Charge(HOSTS, 1, None)])
    assert found(limits) == []


def test_a_charge_of_nothing_does_not_count(ledger, limits):
    """Its limit holds for matches that take something."""
    charged(ledger, limits, [Charge(("a",), 2, 1), Charge(HOSTS, np.array([2, 0, 0, 0, 0]), 1)])
    charged(ledger, limits, [Charge(("a",), 0, 9), Charge(HOSTS, np.zeros(5, np.int64), 9)], rows=[1])
    assert found(limits) == [("a", 2, 1, 0), ("host a", 2, 1, 1)]


@pytest.mark.parametrize(("limit", "least"), [(-5, 0), (0, 0), (LARGEST, None), (2**80, None)])
def test_a_limit_below_zero_allows_nothing_and_one_beyond_64_bits_all(ledger, limits, limit, least):
    charged(ledger, limits, [Charge(("a",), 1, limit), Charge(HOSTS, 1, limit)])
    expected = [] if least is None else [("a", 1, least, 0), ("host a", 1, least, 1)]
    assert found(limits) == expected


def test_a_limit_for_each_slot_may_be_below_zero(ledger, limits):
    charged(ledger, limits, [Charge(HOSTS, 1, np.array([-1, -1, 3, 3, 3]))], rows=[0, 2])
    assert found(limits) == [("host a", 1, 0, 0)]


def test_a_slot_without_a_counter_gives_none_a_limit(ledger, limits):
    charged(ledger, limits, [Charge(HOSTS, 1, 1)], rows=[2, 3])
    charged(ledger, limits, [Charge(HOSTS, 1, 9)], rows=[4])
    assert found(limits) == [("host b", 2, 1, 0)]


def test_what_was_released_no_longer_counts(ledger, limits):
    ledger.release(ledger.commit(ledger.admit([Charge(("a",), 2, None)], [], np.array([0]), 1))[0])
    charged(ledger, limits, [Charge(("a",), 1, 1)])
    assert found(limits) == []


def test_thousands_of_counters_are_compared(ledger, limits):
    """More than the arrays hold at first."""
    names = [f"h{number}" for number in range(5000)]
    by_host = Grouping(np.arange(5000), Family(("host",), names))
    charged(ledger, limits, [Charge(by_host, 1, np.arange(5000))], rows=range(5000))
    for number in range(500):
        charged(ledger, limits, [Charge((f"u{number}",), number, 498)], label_of=lambda _, user=number: user)
    assert found(limits) == [("host h0", 1, 0, 0), ("u499", 499, 498, 499)]


def by_slot(values):
    """Return columns of such values, one for each slot."""
    return st.lists(values, min_size=SLOTS, max_size=SLOTS).map(lambda column: np.array(column, np.int64))


@st.composite
def request_charges(draw):
    """Return charges of a request: several on one sum, but one grouping for each family of counters."""
    amounts, limits = AMOUNTS | by_slot(AMOUNTS), LIMITS | by_slot(st.integers(-1, 9))
    single = st.builds(Charge, st.sampled_from([("a",), ("b",)]), amounts, limits)
    prefixes = draw(st.sets(st.sampled_from(["x", "y"])))
    codes = by_slot(st.integers(-1, 2))
    families = [Grouping(draw(codes), Family((prefix,), ("h0", "h1", "h2"))) for prefix in sorted(prefixes)]
    return [
        *draw(st.lists(single, max_size=3)),
        *(Charge(each, draw(amounts), draw(limits)) for each in families),
    ]


KEYS = st.lists(
    st.tuples(
        st.sampled_from(["u", "v"]),
        st.lists(st.sampled_from("kmn"), min_size=4, max_size=4),
        st.none() | st.integers(0, 3),
    ),
    max_size=2,
)
ROWS = st.lists(st.integers(0, SLOTS - 1), max_size=6)


@given(st.lists(st.tuples(request_charges(), KEYS, ROWS), max_size=8))
def test_what_the_ledger_admitted_is_never_above_its_limits(requests):
    """Whatever the order of the requests and their limits are."""
    ledger = Ledger()
    limits = LimitsInUse(ledger.counters())
    for charges, keys, rows in requests:
        sets = [KeyCharge((name,), members, most) for name, members, most in keys]
        admission = ledger.admit(charges, sets, np.array(rows, np.intp), 4)
        ledger.commit(admission)
        if len(admission):
            limits.add(charges, admission.rows, lambda number: number)
            limits.add_keys(sets, lambda number: number)
    assert found(limits) == []


def test_a_charge_of_nothing_on_a_slot_leaves_its_match_the_limit_of_the_other_charge():
    """The match on slot 1 has the first charge only, with a limit of 9; that on slot 3 has both."""
    ledger = Ledger()
    limits = LimitsInUse(ledger.counters())
    charges = [
        Charge(("a",), 1, np.array([3, 9, 5, 8])),
        Charge(("a",), np.array([0, 0, 0, 1]), np.array([8, 5, 3, 2])),
    ]
    admission = ledger.admit(charges, [], np.array([3, 1]), 4)
    ledger.commit(admission)
    limits.add(charges, admission.rows, lambda number: number)
    assert len(admission) == 2
    assert found(limits) == []
