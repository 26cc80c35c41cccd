"""The candidates of a request: what conditions and reasons remove, in any order, and the mask that others read and change."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import Ad, Table
from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.reasons import core_reason
from negotiator.records import Mode, Station, Verdict

SIZE = 37
SLOTS = Table.from_ads([Ad([])] * SIZE)
REASON = core_reason(Station.MATCH, Verdict.DENIED, "no", "no")
masks = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE).map(np.array)
rows_of_some = st.lists(st.integers(0, SIZE - 1), unique=True, min_size=1).map(
    lambda rows: np.array(rows, np.intp)
)
steps = st.lists(
    st.tuples(st.sampled_from(["all", "some", "each", "remove", "warn", "mask", "only"]), masks, rows_of_some)
)


@given(steps)
def test_any_sequence_of_conditions_leaves_and_counts_what_masks_would(sequence):
    candidates, left, counts = CandidateSet(SLOTS), np.ones(SIZE, np.bool_), []
    for kind, mask, rows in sequence:
        false = np.zeros(SIZE, np.bool_)
        if kind in {"some", "each"}:
            false[rows] = ~mask[rows]
        else:
            false = ~mask
        removed = np.count_nonzero(false & left)
        if kind == "all":
            assert candidates.keep_true(TrueRows.from_mask(mask)) == (removed, np.count_nonzero(false))
        elif kind == "some":
            found = candidates.keep_true(TrueRows.from_mask(mask[rows]), rows)
            assert found == (removed, np.count_nonzero(false))
        elif kind == "each":
            found = candidates.keep_true_of_each(TrueRows.from_mask(mask[rows]), rows, rows % 3, 3)
            for code in range(3):
                own = false & np.isin(np.arange(SIZE), rows[rows % 3 == code])
                assert [each[code] for each in found] == [np.count_nonzero(own & left), np.count_nonzero(own)]
        elif kind == "mask":
            candidates.keep[:] = mask
            left = mask.copy()
            continue
        elif kind == "only":
            candidates.keep &= mask
        else:
            candidates.remove(false, attrs.evolve(REASON, mode=Mode.WARN if kind == "warn" else Mode.ENFORCE))
            if false.any():
                counts.append((removed, np.count_nonzero(false)))
        left &= ~false if kind != "warn" else True
        assert candidates.left == np.count_nonzero(left)
    assert candidates.keep.tolist() == left.tolist()
    assert [(each.removed, each.rejected) for each in candidates.removals] == counts


def test_a_reason_that_does_not_enforce_leaves_the_slots_and_keeps_its_mask():
    candidates, mask = CandidateSet(SLOTS), np.arange(SIZE) < 5
    warned = attrs.evolve(REASON, mode=Mode.WARN)
    candidates.remove(mask, warned)
    assert candidates.left == SIZE
    ((reason, found),) = candidates.warnings
    assert reason is warned
    assert found.tolist() == mask.tolist()


@pytest.mark.parametrize("left", [0, SIZE])
def test_every_slot_is_removed_at_once(left):
    candidates = CandidateSet(SLOTS)
    candidates.keep[: SIZE - left] = False
    candidates.remove_all(REASON)
    assert (candidates.left, candidates.removals[0].removed, candidates.removals[0].rejected) == (
        0,
        left,
        SIZE,
    )
