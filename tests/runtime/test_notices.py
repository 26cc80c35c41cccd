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
