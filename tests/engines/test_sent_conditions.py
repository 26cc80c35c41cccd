"""Conditions of requests as bytes: the receiver has the same slots, and conditions that are alike take few bytes."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.classad.columnar import TrueRows
from negotiator.engines import sent_conditions
from negotiator.engines.sent_conditions import ConditionDecoder, ConditionEncoder

SIZE = 300


def above(limit, size=SIZE):
    """Return the slots with more than a limit."""
    return TrueRows.from_mask(np.arange(size) * 7 % size > limit)


masks = st.one_of(
    st.integers(-1, SIZE).map(above),
    st.binary(min_size=SIZE, max_size=SIZE).map(
        lambda text: TrueRows.from_mask(np.frombuffer(text, np.uint8) > 128)
    ),
)


@pytest.mark.parametrize("most", [0, 100, 1 << 20])
def test_requests_keep_the_slots_that_all_their_conditions_leave(most, monkeypatch):
    monkeypatch.setattr(sent_conditions, "MOST_REMEMBERED", most)

    @settings(max_examples=40)
    @given(st.lists(st.lists(masks, max_size=4), max_size=8))
    def check(requests):
        encoder, decoder = ConditionEncoder(SIZE), ConditionDecoder(SIZE)
        for conditions in requests:
            found = TrueRows.all_of(decoder.decode(encoder.encode(conditions)))
            expected = np.ones(SIZE, np.bool_)
            for each in conditions:
                expected &= each.rows
            assert (np.ones(SIZE, np.bool_) if found is None else found.rows).tolist() == expected.tolist()

    check()


def test_a_condition_that_was_sent_is_a_number():
    encoder = ConditionEncoder(SIZE)
    assert not isinstance(encoder.encode([above(10)])[0], int)
    assert isinstance(encoder.encode([above(10)])[0], int)


def test_a_condition_that_was_sent_as_another_object_after_one_of_as_many_slots_is_a_number():
    encoder = ConditionEncoder(SIZE)
    reverse = TrueRows.from_mask(above(10).rows[::-1])
    first = encoder.encode([above(10), reverse])
    assert [isinstance(each, int) for each in first] == [False, False]
    assert encoder.encode([reverse, above(10)]) == [2, 1]


def test_memory_of_conditions_that_later_ones_do_not_refer_to_is_counted(monkeypatch):
    monkeypatch.setattr(sent_conditions, "MOST_REMEMBERED", above(10).bits.nbytes)
    encoder, decoder = ConditionEncoder(SIZE), ConditionDecoder(SIZE)
    for limit, unshared in ((10, 0), (20, 1), (10, 1), (20, 2)):
        decoder.decode(encoder.encode([above(limit)]))
        assert decoder.unshared == unshared * above(10).bits.nbytes


def test_conditions_with_near_limits_take_few_bytes():
    encoder = ConditionEncoder(100_000)
    sizes = [
        len(pickle.dumps(encoder.encode([above(limit, 100_000)]))) for limit in range(50_000, 60_000, 100)
    ]
    assert sizes[0] > 10_000
    assert max(sizes[10:]) < 500
