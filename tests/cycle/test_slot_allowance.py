"""The allowance of a turn in the weights of slots, compared with a loop over the candidates."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cycle.fitting_slots import admit_slots
from negotiator.plugin import ClaimedAllowance, Preemption, SlotAllowance

weights = st.sampled_from([0.0, 0.1, 0.2, 1.0, 2.0, 3.5, 8.0])
limits = st.sampled_from([0.0, 0.3, 1.0, 2.0, 4.4, 7.0, 100.0])


def is_within(used, weight, limit):
    return used + weight <= limit or used <= 0 < limit


def expected(allowance, rows, jobs, states):
    """Admit slot after slot, as condor_negotiator does."""
    used_free, used, claimed, admitted = allowance.used, allowance.used_in_all, allowance.claimed, []
    for place, row in enumerate(rows):
        if len(admitted) == jobs or used >= allowance.stop:
            break
        weight, state = allowance.weights[row], states[row]
        fits = is_within(used_free, weight, allowance.limit)
        if state in {Preemption.PRIORITY, Preemption.GUARANTEE}:
            fits = fits or is_within(used, weight, claimed.limit)
            fits = fits and is_within(claimed.used_before, weight, claimed.limit)
        if state == Preemption.RANK:
            fits = fits or used <= claimed.used_before or is_within(used, weight, claimed.limit)
        if fits:
            admitted.append(place)
            used += weight
            used_free += weight * (state == Preemption.NONE)
    return admitted


turns = st.lists(st.tuples(weights, st.sampled_from(Preemption)), max_size=12)


@given(turns, limits, limits, limits, st.sampled_from([0.0, 1.0]), st.booleans(), st.integers(1, 15))
def test_slots_are_admitted_one_after_the_other(slots, limit, of_claimed, stop, used, listed, jobs):
    sizes, states = np.array([each for each, _ in slots]), np.array([each for _, each in slots], np.int8)
    claimed = ClaimedAllowance(of_claimed, used=used + 1, used_before=used + listed)
    allowance = SlotAllowance(sizes, limit, stop, used, claimed)
    rows = np.arange(len(slots))[::-1]
    found = admit_slots(allowance, rows, jobs, states[rows])
    assert found.places.tolist() == expected(allowance, rows.tolist(), jobs, states)
    assert not set(found.places.tolist()) & set(found.too_heavy.tolist())


@given(st.lists(weights, max_size=12), limits, limits, st.sampled_from([0.0, 1.0]), st.integers(1, 15))
def test_without_preemption_all_slots_are_free(sizes, limit, stop, used, jobs):
    allowance = SlotAllowance(np.array(sizes), limit, stop, used)
    rows = np.arange(len(sizes))
    found = admit_slots(allowance, rows, jobs)
    assert found.places.tolist() == expected(allowance, rows.tolist(), jobs, [Preemption.NONE] * len(sizes))


def test_the_first_slot_is_rounded_up_and_no_other():
    found = admit_slots(SlotAllowance(np.full(3, 4.0), limit=1.0, stop=100.0), np.arange(3), 3)
    assert (found.places.tolist(), found.too_heavy.tolist(), found.stopped) == ([0], [1, 2], False)


def test_a_turn_ends_when_it_has_taken_what_it_may():
    found = admit_slots(SlotAllowance(np.ones(5), limit=9.0, stop=2.0), np.arange(5), 5)
    assert (found.places.tolist(), found.stopped) == ([0, 1], True)


def test_beyond_the_limit_of_free_slots_those_that_run_jobs_are_within_their_own():
    """A group at its quota takes no free slot, but its submitters may still end jobs of others, up to their shares."""
    states = np.array([Preemption.NONE, Preemption.PRIORITY, Preemption.PRIORITY], np.int8)
    allowance = SlotAllowance(np.full(3, 2.0), limit=0.0, stop=9.0, claimed=ClaimedAllowance(0.5))
    assert admit_slots(allowance, np.arange(3), 3, states).places.tolist() == [1]
