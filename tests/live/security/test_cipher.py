"""Encryption of connections."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedar import channels, receiving
from negotiator_live.security.cipher import AesGcmCipher, KeyExchange, SessionKey, derived_key
from negotiator_live.wire.answers import ad_texts
from negotiator_live.wire.errors import DaemonError, MalformedMessageError

RECORDED = json.loads((Path(__file__).parents[1] / "recordings" / "slots_encrypted.json").read_text())
KEY = SessionKey(bytes(range(32)))
ONE, OTHER = hashlib.sha256(b"one").digest(), hashlib.sha256(b"other").digest()


def encrypted(one, other, key=KEY, theirs=KEY):
    one.encrypt(AesGcmCipher(key, (ONE, OTHER)))
    other.encrypt(AesGcmCipher(theirs, (OTHER, ONE)))


def text_of(stream):
    digests = (bytes.fromhex(RECORDED["sent"]), bytes.fromhex(RECORDED["received"]))
    with receiving(stream) as channel:
        channel.encrypt(AesGcmCipher(SessionKey(bytes.fromhex(RECORDED["key"])), digests))
        return "".join(ad_texts(channel))


def test_a_recorded_answer_of_a_real_collector_is_decrypted():
    text = text_of(bytes.fromhex(RECORDED["answer"]))
    assert text == RECORDED["text"]
    assert text.count("\n\n") == 1


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_recorded_answer_with_one_changed_byte_is_refused(place, change):
    stream = bytearray(bytes.fromhex(RECORDED["answer"]))
    stream[place % len(stream)] ^= change
    with pytest.raises(DaemonError):
        text_of(bytes(stream))


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40), max_size=5),
    st.integers(),
)
def test_messages_arrive_in_both_directions(texts, number):
    with channels() as (one, other):
        encrypted(one, other)
        for sender, receiver in ((one, other), (other, one), (one, other)):
            for text in texts:
                sender.put_string(text)
            sender.put_int(number % 2**63)
            sender.end_message()
            assert [receiver.get_string() for _ in texts] == texts
            assert receiver.get_int() == number % 2**63
            receiver.end_received()


def encrypted_answer(*ads):
    """Return the text of an answer whose ads have these strings as texts, with their NULs."""
    with channels() as (one, other):
        encrypted(one, other)
        for count, texts in ads:
            one.put_int(1)
            one.put_int(count)
            for text in texts:
                one.put_int(len(text))
                one.put_bytes(text)
        one.put_int(0)
        one.end_message()
        return "".join(ad_texts(other))


def test_markers_of_secrets_and_types_are_read_in_encrypted_ads_too():
    marked = (2, [b"ZKM\0", b'ClaimId = "<1>#2#3"\0', b'Name = "a"\0', b"Machine\0", b"\0"])
    assert (
        encrypted_answer(marked, (0, [b"Job\0", b"\0"]))
        == 'ClaimId = "<1>#2#3"\nName = "a"\nMyType = "Machine"\n\n'
    )


@pytest.mark.parametrize(
    "texts",
    [
        [b"A = 1", b"\0", b"\0"],
        [b"A = 1\0B = 2\0", b"\0", b"\0"],
        [b"A\0B", b"\0", b"\0"],
        [b"", b"\0", b"\0"],
    ],
)
def test_a_string_with_a_wrong_length_is_refused(texts):
    with pytest.raises(MalformedMessageError, match=r"a string has|invalid length of a string"):
        encrypted_answer((1, texts))


def test_nothing_of_a_message_is_readable_on_the_wire():
    with channels() as (one, other):
        one.encrypt(AesGcmCipher(KEY, (ONE, OTHER)))
        one.put_string("a claim id")
        one.end_message()
        assert b"claim" not in other.packets.socket.recv(1000)


def test_another_key_and_another_handshake_are_refused():
    for digests, key in (((OTHER, ONE), SessionKey(bytes(32))), ((OTHER, OTHER), KEY)):
        with channels() as (one, other):
            one.encrypt(AesGcmCipher(KEY, (ONE, OTHER)))
            other.encrypt(AesGcmCipher(key, digests))
            one.put_int(1)
            one.end_message()
            with pytest.raises(MalformedMessageError, match="not encrypted with the key"):
                other.get_int()


def test_a_packet_that_is_played_again_is_refused():
    with channels() as (one, other):
        encrypted(one, other)
        header = one.packets.cipher.header(1, 8)
        packet = header + one.packets.cipher.seal(header, bytes(8))
        one.packets.socket.sendall(packet + packet)
        assert other.get_int() == 0
        other.end_received()
        with pytest.raises(MalformedMessageError, match="not encrypted with the key"):
            other.get_int()


def test_both_sides_of_an_exchange_derive_the_same_key_once():
    one, other = KeyExchange(), KeyExchange()
    public = one.public
    assert one.agreed_key(other.public).reveal() == other.agreed_key(public).reveal()
    assert one.agreed_key(other.public) is None


@pytest.mark.parametrize("public", ["", "AAAA", "not base64!", "BA" + "A" * 86])
def test_an_invalid_public_key_leads_to_no_key(public):
    assert KeyExchange().agreed_key(public) is None


def test_no_key_is_shown_or_copied():
    key = derived_key(b"secret")
    assert len(key.reveal()) == 32
    assert repr(key) == "<SessionKey>"
    assert "secret" not in repr(AesGcmCipher(key, (ONE, OTHER)))
    with pytest.raises(TypeError, match="cannot be copied"):
        key.__reduce_ex__(4)
