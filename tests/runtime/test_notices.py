"""Sentences for the log that peers of a live pool cause."""

from negotiator.runtime.notices import MOST, Notices


def test_sentences_are_taken_once_and_in_their_order():
    notices = Notices()
    notices.add("one")
    notices.add("two")
    assert notices.take() == ["one", "two"]
    assert notices.take() == []


def test_too_many_sentences_are_counted_and_long_ones_cut():
    notices = Notices()
    for _ in range(MOST + 7):
        notices.add("x" * 5_000)
    texts = notices.take()
    assert texts[MOST:] == ["and 7 more such messages"]
    assert {len(text) for text in texts[:MOST]} == {1_000}
    assert notices.take() == []


def test_in_a_second_no_more_are_kept_however_often_they_are_taken():
    now = [5.0]
    notices, taken = Notices(lambda: now[0]), []
    for _ in range(20 * MOST):
        notices.add("x")
        taken += notices.take()
    assert taken == ["x"] * MOST + ["and 1 more such messages"]
    now[0] += 1.0
    notices.add("y")
    assert notices.take() == ["y", f"and {19 * MOST - 1} more such messages"]


def test_the_last_look_counts_all_that_were_dropped():
    notices = Notices(lambda: 5.0)
    for _ in range(2):
        for _ in range(MOST + 1):
            notices.add("x")
        notices.take()
    assert notices.take() == []
    assert notices.take(finish=True) == [f"and {MOST + 1} more such messages"]
