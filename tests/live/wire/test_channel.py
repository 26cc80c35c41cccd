"""Messages: what is put is got, and nothing invalid is."""

import contextlib
import struct
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedar import ad, channels, integer, packet, receiving
from negotiator_live.wire.ads import quoted
from negotiator_live.wire.errors import (
    ConnectionClosedError,
    DaemonError,
    MalformedMessageError,
    TimedOutError,
    UnsendableError,
)
from negotiator_live.wire.packets import CUT, MAX_ATTRIBUTES, MAX_MESSAGE, MAX_PACKET, MAX_STRING

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300)
INTS = st.integers(-(2**63), 2**63 - 1)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)
ADS = st.dictionaries(NAMES.filter(lambda name: name != "ZKM"), TEXTS.map(quoted), max_size=5)


def get_ad_of_message(channel):
    ad = channel.get_ad()
    channel.end_received()
    return ad


@given(st.lists(st.one_of(INTS, TEXTS.filter(lambda text: text != "ZKM"), ADS), max_size=6))
def test_messages_arrive_as_they_were_sent(values):
    with channels() as (one, other):
        for value in values:
            {int: one.put_int, str: one.put_string, dict: one.put_ad}[type(value)](value)
        one.end_message()
        for value in values:
            got = {int: other.get_int, str: other.get_string, dict: other.get_ad}[type(value)]()
            if isinstance(value, dict):
                assert {name.lower(): got[name] for name in got} == {
                    name.lower(): text for name, text in value.items()
                }
            else:
                assert got == value
        other.end_received()


def test_a_long_message_is_cut_into_packets():
    text = "x" * (3 * CUT)
    with channels() as (one, other):
        thread = threading.Thread(target=lambda: (one.put_string(text), one.end_message()))
        thread.start()
        first_end, first = other.packets.receive()
        assert (first_end, len(first)) == (False, CUT)
        thread.join()


@given(TEXTS)
def test_the_value_of_a_string_is_what_was_quoted(text):
    text = text.rstrip(
        "\\"
    )  # the syntax of the wire cannot tell a backslash at the end from an escaped quote
    with channels() as (one, other):
        one.put_ad({"A": quoted(text.replace("\\", "/"))})
        one.end_message()
        assert other.get_ad().string("a") == text.replace("\\", "/")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (struct.pack(">BI", 7, 0), "invalid header"),
        (struct.pack(">BI", 1, MAX_PACKET + 1), "invalid header"),
        (packet(b"\0\0"), "shorter than expected"),
        (packet(b"abc"), "shorter than expected"),
        (packet(ad(b"A = 1", count=-1)), "number of attributes"),
        (packet(ad(b"A = 1", count=MAX_ATTRIBUTES + 1)), "number of attributes"),
        (packet(ad(b"A = 1", count=3)), "not of the form"),
        (packet(ad(b"nothing")), "not of the form"),
        (packet(ad(b"= 1")), "not of the form"),
        (packet(ad(b"A = \xff")), "not UTF-8"),
        (packet(ad(b"A = 1") + b"more"), "more than expected"),
    ],
)
def test_what_the_protocol_does_not_allow_is_an_error_that_names_the_daemon(data, words):
    with receiving(data) as channel, pytest.raises(MalformedMessageError, match=words) as caught:
        get_ad_of_message(channel)
    assert "collector cm.example.org at <127.0.0.1:9618>, command QUERY_STARTD_ADS: " in str(caught.value)


def test_strings_and_messages_without_an_end_are_limited():
    piece = packet(b"x" * (MAX_PACKET // 2), end=0)
    with channels() as (one, other):

        def send():
            with contextlib.suppress(OSError):
                for _ in range(2 * MAX_MESSAGE // len(piece)):
                    one.packets.socket.sendall(piece)

        thread = threading.Thread(target=send)
        thread.start()
        with pytest.raises(MalformedMessageError, match=f"a string has more than {MAX_STRING} bytes"):
            other.get_string()
        other.close()
        thread.join()


def test_empty_packets_without_an_end_are_limited():
    with channels() as (one, other):
        one.packets.socket.setblocking(False)
        other.incoming.limit = 100
        one.packets.socket.sendall(packet(b"", end=0) * 50)
        with pytest.raises(MalformedMessageError, match="more than 100 bytes"):
            other.get_int()


def test_a_daemon_that_stalls_costs_no_more_than_the_deadline_however_slowly_it_goes_on():
    with channels(0.3) as (one, other):
        stop = threading.Event()

        def trickle():
            with contextlib.suppress(OSError):
                while not stop.wait(0.02):
                    one.packets.socket.sendall(packet(b"x", end=0))

        thread = threading.Thread(target=trickle)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(TimedOutError, match=r"no answer within 0\.3 s while waiting; its CollectorLog"):
            other.get_string()
        assert time.monotonic() - begun < 10
        stop.set()
        thread.join()


def test_a_closed_connection_before_any_answer_names_the_authorization_that_may_be_missing():
    with receiving(b"") as channel, pytest.raises(ConnectionClosedError) as caught:
        channel.get_int()
    assert "add this client to ALLOW_READ in the configuration of the collector" in str(caught.value)
    assert "PERMISSION DENIED" in str(caught.value)


@pytest.mark.parametrize("place", ["in the middle of the answer", "in the security handshake"])
def test_a_connection_closed_in_the_middle_is_reported_as_that(place):
    with receiving(packet(integer(1), end=0)) as channel:
        if "answer" in place:
            channel.packets.end_handshake()
        with pytest.raises(ConnectionClosedError, match=place):
            channel.get_ad()


def test_a_text_with_a_nul_or_an_invalid_name_is_not_sent():
    with channels() as (one, _):
        with pytest.raises(UnsendableError, match="has a NUL"):
            one.put_string("a\0b")
        with pytest.raises(UnsendableError, match="is not Unicode"):
            one.put_string("\ud800")
        with pytest.raises(UnsendableError, match="name of an attribute"):
            one.put_ad({"A = 1\nB": "2"})


def test_the_marker_of_a_secret_is_no_attribute_and_an_ad_shows_no_values():
    strings = b'ZKM\0ClaimId = "<1>#2#3"\0Name = "a"\0\0\0'
    with receiving(packet(integer(2) + strings)) as channel:
        got = channel.get_ad()
    assert got.string("CLAIMID") == "<1>#2#3"
    assert sorted(got) == ["ClaimId", "Name"]
    assert repr(got) == "<WireAd of 2 attributes>"


def test_types_behind_the_attributes_count_where_the_ad_has_none():
    with receiving(packet(ad(b"A = 1", types=(b"Machine", b"Job")))) as channel:
        assert dict(channel.get_ad()) == {"A": "1", "MyType": '"Machine"', "TargetType": '"Job"'}


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_the_errors_of_a_daemon(data):
    with receiving(data) as channel, contextlib.suppress(DaemonError):
        get_ad_of_message(channel)


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_a_real_travels_with_nine_digits(value):
    with channels() as (one, other):
        one.put_real(value)
        one.end_message()
        assert other.get_real() == pytest.approx(value, rel=2e-9, abs=1e-300)


@pytest.mark.parametrize(("fraction", "exponent"), [(2**40, 1), (1, 5000), (-(2**40), 0), (0, -5000)])
def test_a_real_out_of_range_is_refused(fraction, exponent):
    sent = packet(integer(fraction) + integer(exponent))
    with receiving(sent) as channel, pytest.raises(MalformedMessageError, match="out of range"):
        channel.get_real()


def test_an_ad_may_travel_without_its_types_and_what_follows_is_known_before_it_is_read():
    with channels() as (one, other):
        one.put_ad({"A": "1"}, types=False)
        one.put_int(7)
        one.end_message()
        assert dict(other.get_ad(types=False)) == {"A": "1"}
        assert other.has_more
        assert other.get_int() == 7
        assert not other.has_more
        other.end_received()
