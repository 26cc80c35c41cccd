"""What an admission refuses in any order of its candidates is known before they are sorted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_model import Model, Postings, charge_all
from negotiator.ledger import Charge, Family, Grouping, KeyCharge, Ledger, LedgerError

SLOTS = 24
HOSTS = np.arange(SLOTS) // 3


def grouping(name, codes, unlike=0):
    return Grouping(codes.astype(np.int32), Family((name,), [str(code) for code in range(24 + unlike)]))


GROUPINGS = {
    "host": grouping("host", HOSTS),
    "some hosts": grouping("some", np.where(HOSTS % 3 == 0, -1, HOSTS)),
    "rack": grouping("rack", HOSTS // 2),
    "across": grouping("across", np.arange(SLOTS) % 5),
}
LIMITS = st.sampled_from((None, -3, 0, 1, 2, 3, 4, 6, 9, 2**70))


@st.composite
def charge_lists(draw):
    """Charges alike on all slots and by group, also on one counter, with a probe, with columns."""
    found = []
    for number in range(draw(st.integers(1, 5))):
        counter = draw(
            st.sampled_from(
                (("user", str(number)), ("user", str(number)), ("user", "0"), *GROUPINGS.values())
            )
        )
        limit = draw(LIMITS)
        if draw(st.integers(0, 4)) == 0:
            limit = np.array(draw(st.lists(st.integers(-1, 4), min_size=24, max_size=24)), np.int64)[HOSTS]
        amount = draw(st.sampled_from((1, 1, 1, 2, 3, 0)))
        if draw(st.integers(0, 9)) == 0:
            amount = np.array(draw(st.lists(st.integers(0, 2), min_size=SLOTS, max_size=SLOTS)), np.int64)
        found.append(Charge(counter, amount, limit, probes=draw(st.integers(0, 9)) == 0))
    return found


def used_before(draw, charges):
    keys = {
        key
        for each in charges
        for key in (each.counter.keys if isinstance(each.counter, Grouping) else (each.counter,))
    }
    return {key: draw(st.integers(0, 4)) for key in sorted(keys) if draw(st.booleans())}


@settings(max_examples=200)
@given(charge_lists(), st.permutations(range(SLOTS)), st.integers(1, 9), st.integers(0, 5), st.data())
def test_an_admission_without_the_refused_slots_grants_the_same(charges, order, copies, most, data):
    """The model examines all slots in order: it grants the same, and refuses full slots by the charge that is named."""
    rows, model, ledger = np.array(order), Model(), Ledger()
    used = used_before(data.draw, charges)
    charge_all(ledger, Postings(tuple(used.items())))
    model.add(used.items(), ())
    keys = [KeyCharge(("apps",), [str(copy % 4) for copy in range(copies)], most or None)]
    known = ledger.known_refusals(charges, keys, copies)
    if known is None:
        return
    granted, stops, copy_stops, _ = model.admit(charges, keys, rows, copies)
    full = None if known.varying is None else ledger.full_slots(charges[known.varying], SLOTS)
    full = np.zeros(SLOTS, np.bool_) if full is None else full
    left = rows[~full[rows]]
    found = ledger.admit(charges, keys, left, known.copies)
    assert found.rows.tolist() == [rows[place] for place, _ in granted]
    assert found.copies.tolist() == [copy for _, copy in granted]
    assert set(copy_stops) <= {-1}
    complete = len(granted) == known.copies
    last = (granted[-1][0] + 1 if granted else 0) if complete else len(rows)
    expected = iter(found.stops.tolist())
    assert stops[:last] == [known.varying if full[row] else next(expected) for row in rows[:last]]
    assert known.then is not None or len(stops) == last
    assert set(stops[last:]) <= {known.then}


@pytest.fixture
def ledger():
    """Two are used on host 1, and two of a user's five."""
    ledger = Ledger()
    charge_all(ledger, Postings(((("host", "1"), 2), (("user", "u"), 2))))
    return ledger


PER_HOST = Charge(GROUPINGS["host"], 1, 2)


def test_the_slots_of_full_hosts_are_known(ledger):
    known = ledger.known_refusals([Charge(("user", "u"), 1, 5), PER_HOST], (), 3)
    assert (known.copies, known.then, known.varying) == (3, None, 1)
    assert full_slots(ledger, PER_HOST) == [3, 4, 5]


def test_a_limit_is_known_also_if_no_charge_depends_on_the_slot(ledger):
    known = ledger.known_refusals([Charge(("user", "v"), 1, None), Charge(("user", "u"), 1, 3)], (), 4)
    assert (known.copies, known.then, known.varying) == (1, 1, None)


def test_a_job_that_exceeds_the_limit_by_itself_is_refused_on_all_hosts_also_unused_ones(ledger):
    assert full_slots(ledger, Charge(GROUPINGS["some hosts"], 3, 2)) == np.flatnonzero(HOSTS % 3).tolist()


def test_hosts_that_are_filled_later_are_known_too(ledger):
    charge_all(ledger, Postings(((("host", "5"), 1),)))
    full_slots(ledger, PER_HOST)
    charge_all(ledger, Postings(((("host", "5"), 1), (("host", "7"), 2))))
    assert full_slots(ledger, PER_HOST) == [3, 4, 5, 15, 16, 17, 21, 22, 23]


def test_hosts_of_which_a_match_is_released_are_not_full_any_more(ledger):
    receipt = charge_all(ledger, Postings(((("host", "5"), 1),)))
    charge_all(ledger, Postings(((("host", "5"), 1),)))
    assert known_slots(ledger, 1, 2) == [3, 4, 5, 15, 16, 17]
    ledger.release(receipt)
    assert known_slots(ledger, 1, 2) == [3, 4, 5]


@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 3), st.sampled_from((1, 1, 2)), st.integers(0, 3)),
        max_size=30,
    )
)
def test_full_hosts_are_those_without_room_after_any_charges_and_releases(steps):
    """A step charges a host or, at an amount of 0, releases its first charge; then a quota for each host is read."""
    ledger, receipts = Ledger(), {}
    for host, amount, needed, limit in steps:
        held = receipts.setdefault(host, [])
        if amount:
            held.append((charge_all(ledger, Postings(((("host", str(host)), amount),))), amount))
        elif held:
            ledger.release(held.pop(0)[0])
        full = {
            number
            for number in range(8)
            if needed + sum(each for _, each in receipts.get(number, ())) > limit
        }
        assert {slot // 3 for slot in known_slots(ledger, needed, limit)} == full


@pytest.mark.parametrize(
    "charge",
    [
        Charge(("user", "u"), 1, 0),
        Charge(GROUPINGS["host"], 0, 0),
        Charge(GROUPINGS["host"], 1, None),
        Charge(Grouping(HOSTS[:3], Family(("host",), ["0"])), 1, 0),
        Charge(GROUPINGS["host"], 1, np.zeros(3, np.int64)),
    ],
    ids=("one counter", "nothing", "no limit", "codes of other slots", "limits of other slots"),
)
def test_no_slot_is_full_for_other_charges(ledger, charge):
    assert ledger.full_slots(charge, SLOTS) is None


def test_a_limit_for_each_slot_may_fill_some_slots_of_a_host(ledger):
    """Limits of 1, 2 and 3 on the slots of each host."""
    assert full_slots(ledger, Charge(GROUPINGS["host"], 1, np.arange(SLOTS) % 3 + 1)) == [3, 4]


def full_slots(ledger, charge):
    return np.flatnonzero(ledger.full_slots(charge, SLOTS)).tolist()


def known_slots(ledger, amount, limit):
    return full_slots(ledger, Charge(GROUPINGS["host"], amount, limit))


def test_a_limit_of_the_user_leaves_room_for_some_copies(ledger):
    known = ledger.known_refusals([Charge(("user", "u"), 1, 5), PER_HOST], (), 4)
    assert (known.copies, known.then) == (3, 0)


@pytest.mark.parametrize(
    "charges",
    [
        [Charge(("user", "u"), 1, 6)],
        [PER_HOST, Charge(("user", "u"), 1, 3)],
        [PER_HOST, Charge(("user", "u"), 0, 3, probes=True)],
        [PER_HOST, Charge(("host", "1"), 1, 9)],
        [PER_HOST, Charge(("user", "u"), np.ones(SLOTS, np.int64), 9)],
        [PER_HOST, Charge(("user", "u"), -1, 9)],
        [Charge(Grouping(np.full(SLOTS, 9), Family(("host",), ["1"])), 1, 1)],
    ],
    ids=(
        "room",
        "later limit",
        "probe",
        "one counter",
        "differing amounts",
        "invalid amount",
        "invalid codes",
    ),
)
def test_nothing_is_known_where_refusals_depend_on_the_order_or_charges_are_invalid(ledger, charges):
    assert ledger.known_refusals(charges, (), 4) is None


def test_nothing_is_known_if_a_set_of_keys_may_refuse_a_job(ledger):
    keys = [KeyCharge(("apps",), ["a", "b"], 1)]
    assert ledger.known_refusals([PER_HOST], keys, 2) is None


def test_a_sum_that_is_a_set_of_keys_is_an_error(ledger):
    charge_all(ledger, Postings((), ((("apps",), "a"),)))
    with pytest.raises(LedgerError) as error:
        ledger.known_refusals([PER_HOST, Charge(("apps",), 1, 1)], (), 2)
    assert error.value.code == "wrong_sort"
