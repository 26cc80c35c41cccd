"""Charges of which one depends on the slot, by a counter for each group and one limit, are admitted in closed form."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ledger_model import Model, Postings, charge_all
from negotiator.ledger import Charge, Family, Grouping, Ledger
from negotiator.ledger.one_grouping import fit_by_group

SLOTS = 40


@st.composite
def requests(draw):
    """A quota for each group, perhaps of some slots, between charges that are the same everywhere; with earlier usage."""
    groups = draw(st.integers(1, 12))
    codes = np.array(draw(st.lists(st.integers(-1, groups - 1), min_size=SLOTS, max_size=SLOTS)), np.int32)
    quota = Charge(
        Grouping(codes, Family(("host",), [str(code) for code in range(groups)])),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 7)),
    )
    alike = [
        Charge(("user", str(number)), draw(st.integers(0, 2)), draw(st.sampled_from((None, 30, 60, 2**70))))
        for number in range(draw(st.integers(0, 2)))
    ]
    alike.insert(draw(st.integers(0, len(alike))), quota)
    used = {("host", str(code)): draw(st.integers(0, 8)) for code in range(groups) if draw(st.booleans())}
    used |= {("user", "0"): draw(st.integers(0, 30))}
    rows = draw(st.permutations(range(SLOTS)))[: draw(st.integers(1, SLOTS))]
    return alike, used, np.array(rows), draw(st.integers(1, SLOTS))


@given(requests())
def test_an_admission_by_groups_equals_that_slot_by_slot(request):
    charges, used, rows, copies = request
    ledger, model = Ledger(), Model()
    charge_all(ledger, Postings(tuple(used.items())))
    model.add(used.items(), ())
    stops = fit_by_group(ledger.counters(), charges, rows, copies)
    if stops is not None:
        assert stops.tolist() == model.admit(charges, (), rows, copies)[1]


HOSTS = Grouping(np.arange(SLOTS) // 4, Family(("host",), [str(code) for code in range(SLOTS // 4)]))
ROWS = np.arange(SLOTS)


def fit(*charges, copies=12, used=()):
    ledger = Ledger()
    charge_all(ledger, Postings(tuple(used)))
    return fit_by_group(ledger.counters(), charges, ROWS, copies)


def test_a_limit_of_two_on_each_host_grants_the_first_two_slots_of_each():
    used = [(("host", "1"), 1)]
    stops = fit(Charge(("user",), 1, 12), Charge(HOSTS, 1, 2), copies=5, used=used)
    assert stops.tolist() == [-1, -1, 1, 1, -1, 1, 1, 1, -1, -1]


def test_other_charges_are_left_to_the_general_ways():
    """A second quota by group, a limit that may stop the request, a counter of two charges, a probe, a limit by slot."""
    quota, by_slot = Charge(HOSTS, 1, 2), np.full(SLOTS, 2)
    racks = Grouping(np.arange(SLOTS) // 8, Family(("rack",), list("abcde")))
    assert fit(quota, Charge(racks, 1, 3)) is None
    assert fit(quota, Charge(("user",), 1, 11)) is None
    assert fit(quota, Charge(("user",), 1, None), Charge(("user",), 1, None)) is None
    assert fit(quota, Charge(("host", "1"), 1, None)) is None
    assert fit(quota, Charge(("user",), 0, 9, probes=True)) is None
    assert fit(Charge(HOSTS, 1, by_slot)) is None
    assert fit(quota, Charge(("user",), by_slot, None)) is None
