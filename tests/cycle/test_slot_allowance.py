"""The allowance of a turn in the weights of slots, compared with a loop over the candidates."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cycle.slot_allowance import admit_slots
from negotiator.plugin import SlotAllowance

weights = st.sampled_from([0.0, 0.1, 0.2, 1.0, 2.0, 3.5, 8.0])
limits = st.sampled_from([0.0, 0.3, 1.0, 2.0, 4.4, 7.0, 100.0])


def expected(allowance, rows, jobs):
    """Admit slot after slot, as condor_negotiator does."""
    used, admitted = allowance.used, []
    for place, row in enumerate(rows):
        if len(admitted) == jobs or used >= allowance.stop:
            break
        weight = allowance.weights[row]
        if used + weight <= allowance.limit or used <= 0 < allowance.limit:
            admitted.append(place)
            used += weight
    return admitted


@given(st.lists(weights, max_size=12), limits, limits, st.sampled_from([0.0, 1.0]), st.integers(1, 15))
def test_slots_are_admitted_one_after_the_other(sizes, limit, stop, used, jobs):
    allowance = SlotAllowance(np.array(sizes), limit, stop, used)
    rows = np.arange(len(sizes))[::-1]
    found = admit_slots(allowance, rows, jobs)
    assert found.places.tolist() == expected(allowance, rows.tolist(), jobs)
    assert not set(found.places.tolist()) & set(found.too_heavy.tolist())


def test_the_first_slot_is_rounded_up_and_no_other():
    found = admit_slots(SlotAllowance(np.full(3, 4.0), limit=1.0, stop=100.0), np.arange(3), 3)
    assert (found.places.tolist(), found.too_heavy.tolist(), found.stopped) == ([0], [1, 2], False)


def test_a_turn_ends_when_it_has_taken_what_it_may():
    found = admit_slots(SlotAllowance(np.ones(5), limit=9.0, stop=2.0), np.arange(5), 5)
    assert (found.places.tolist(), found.stopped) == ([0, 1], True)
