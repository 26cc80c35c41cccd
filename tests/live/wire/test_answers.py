"""Answers to queries become long form: nothing in an attribute becomes another one."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedar import IN_THE_CLEAR, ad, answer, integer, packet, receiving
from negotiator.classad import unparse
from negotiator.pool.dictionary import pool_dictionary
from negotiator.pool.longform import read_long
from negotiator.pool.parsed_ad import ParsedAd
from negotiator_live.collector import SLOTS, Collector
from negotiator_live.wire import answers
from negotiator_live.wire.answers import ad_texts
from negotiator_live.wire.errors import (
    ConnectionClosedError,
    DaemonError,
    MalformedMessageError,
    TimedOutError,
)


def text_of(data):
    with receiving(data) as channel:
        channel.packets.end_handshake()
        return "".join(ad_texts(channel))


def read(text):
    """Return the ads of a text, as names and expressions, and the problems."""
    results = list(read_long([text], "test", pool_dictionary()))
    ads = [
        {name: unparse(expr) for name, expr in result.ad.items()}
        for result in results
        if isinstance(result, ParsedAd)
    ]
    return ads, [result for result in results if not isinstance(result, ParsedAd)]


@pytest.mark.parametrize(
    ("name", "count"), [("slots", 3), ("slots_projected", 3), ("claims", 2), ("schedds", 1)]
)
def test_the_recorded_answers_of_a_collector_are_ads_in_long_form(recording, name, count):
    text = text_of(recording(name))
    ads, problems = read(text)
    assert (len(ads), problems) == (count, [])
    assert text.count("\n\n") == count


def test_a_query_sends_the_command_and_the_query_ad(playing, recording):
    with playing(recording("slots_projected")) as (address, requests):
        text = "".join(Collector(address, IN_THE_CLEAR).query(SLOTS))
    assert '\nName = "slot1@wn00000.example.org"\n' in text
    assert requests[0][5:13] == integer(5)
    assert b"Requirements = true\0" in requests[0]


def test_a_full_ad_has_each_attribute_as_the_collector_sent_it(recording):
    ads, _ = read(text_of(recording("slots")))
    assert {each["Name"] for each in ads} == {f'"slot{i}@wn00000.example.org"' for i in (1, 2, 3)}
    assert all(len(each) > 150 for each in ads)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((b"A = 1", b'B = "x\nMemory = 9\n\nC = 1"'), [{"A": "1", "B": '"x Memory = 9  C = 1"'}]),
        ((b"A = 1", b"B = 2\r\nC = 3"), [{"A": "1", "B": "2"}]),
        ((b"A = 1", b"  B = 2"), [{"A": "1", "B": "2"}]),
    ],
)
def test_a_line_break_within_an_attribute_is_a_blank(texts, expected):
    ads, _ = read(text_of(answer(ad(*texts), ad(b"Z = 1"))))
    assert [each for each in ads if each != {"Z": "1"}] == expected
    assert {"Z": "1"} in ads


@pytest.mark.parametrize(
    "text", [b"", b" ", b"***", b"-- Schedd: x", b"# comment", b"\n\n", b"= 1", b"Z", b"1 = 2"]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_ad_with_a_text_that_is_no_attribute_is_set_aside_whole(text, place):
    texts = [b"A = 1", b"B = 2"]
    texts.insert(place, text)
    ads, problems = read(text_of(answer(ad(b"Y = 1"), ad(*texts), ad(b"Z = 1"))))
    assert ads == [{"Y": "1"}, {"Z": "1"}]
    assert len(problems) == 1


def test_markers_of_secrets_are_left_out_and_what_they_mark_is_not():
    marked = integer(2) + b'ZKM\0ClaimId = "<1>#2#3"\0Name = "a"\0\0\0'
    named = ad(b'Owner = "ZKM"')
    assert text_of(answer(marked, named)) == 'ClaimId = "<1>#2#3"\nName = "a"\n\nOwner = "ZKM"\n\n'


def test_the_type_behind_the_attributes_counts_where_the_ad_has_none():
    old = ad(b"A = 1", types=(b"Machine", b"Job"))
    both = ad(b'MyType = "Job"', types=(b"Machine", b""))
    assert text_of(answer(old, both)) == 'A = 1\nMyType = "Machine"\n\nMyType = "Job"\n\n'


def test_a_type_behind_an_empty_ad_is_not_that_of_another_ad():
    assert text_of(answer(ad(b"A = 1"), ad(types=(b"Machine", b"")))) == "A = 1\n\n"


def test_empty_ads_and_empty_answers_have_no_text():
    assert text_of(answer()) == ""
    assert text_of(answer(ad(), ad(types=(b"Machine", b"")), ad(b"A = 1"))) == "A = 1\n\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packet(integer(2)), "neither an ad nor the end"),
        (packet(integer(1) + ad(b"A = 1", count=-5) + integer(0)), "number of attributes"),
        (packet(integer(1) + ad(b"A = 1", count=9) + integer(0)), "ends within an ad"),
        (packet(integer(1) + ad(b"A = 1")), "ends within an ad"),
        (packet(integer(0) + b"more"), "more after the last ad"),
        (packet(b"\0\0\0"), "ends within an ad"),
    ],
)
def test_an_answer_that_lies_is_refused(data, words):
    with pytest.raises(MalformedMessageError, match=words):
        text_of(data)


def test_an_ad_without_an_end_is_limited(monkeypatch):
    monkeypatch.setattr(answers, "MAX_AD", 1 << 16)
    monkeypatch.setattr(answers, "_PIECE", 1 << 15)
    long = integer(1) + integer(9) + b"x" * (1 << 18)
    with pytest.raises(MalformedMessageError, match="an ad has more than 65536 bytes"):
        text_of(b"".join(packet(long[i : i + 4096], end=0) for i in range(0, len(long), 4096)))


def test_an_answer_cut_anywhere_is_an_error(recording):
    whole = recording("slots_projected")
    for size in range(0, len(whole), 37):
        with pytest.raises(ConnectionClosedError):
            text_of(whole[:size])


def test_a_collector_that_holds_its_answer_back_costs_the_time_limit(playing, recording):
    hold = threading.Event()
    with playing(recording("slots")[:5000], hold=hold) as (address, _):
        try:
            with pytest.raises(
                TimedOutError, match=r"collector at <127\.0\.0\.1:\d+>, command QUERY_STARTD_ADS"
            ):
                list(Collector(address, IN_THE_CLEAR, timeout=0.3).query(SLOTS))
        finally:
            hold.set()


#: Without the marker of secrets, behind which a further text belongs to the attribute.
TEXTS_OF_ATTRIBUTES = (
    st.binary(max_size=30).map(lambda text: text.replace(b"\0", b"")).filter(lambda text: text != b"ZKM")
)
MUTATIONS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8)


@given(st.sampled_from(["slots_projected", "claims"]), MUTATIONS)
def test_changed_bytes_of_a_recorded_answer_raise_only_the_errors_of_a_daemon(name, changes):
    data = bytearray((Path(__file__).parents[1] / "recordings" / f"{name}.cedar").read_bytes())
    for place, value in changes:
        data[place % len(data)] = value
    try:
        text = text_of(bytes(data))
    except DaemonError:
        return
    assert text.count("\n\n") <= 3
    assert "\0" not in text


@given(st.lists(st.lists(TEXTS_OF_ATTRIBUTES, max_size=4), max_size=4))
def test_whatever_is_in_attributes_no_ad_is_more_than_it_was(ads):
    found, problems = read(text_of(answer(*(ad(*texts) for texts in ads))))
    assert len(found) + len(problems) <= len(ads)
    assert all(len(each) <= max(map(len, ads)) for each in found)
