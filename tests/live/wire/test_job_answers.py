"""Answers of schedds to queries for jobs: a message for each ad, and a last one with ``Owner = 0``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedar import ad, channels, packet, receiving
from negotiator_live.security.cipher import AesGcmCipher, SessionKey
from negotiator_live.wire.errors import ConnectionClosedError, DaemonError, MalformedMessageError
from negotiator_live.wire.job_answers import job_texts

JOB = (b'MyType = "Job"', b'Owner = "ann"', b"ClusterId = 7", b"ProcId = 0")
END = packet(ad(b"Owner = 0", b"ErrorCode = 0", b'MyType = "Summary"'))


def text_of(data):
    with receiving(data) as channel:
        channel.packets.end_handshake()
        return "".join(job_texts(channel))


def long_form(*texts):
    return "".join(f"{text.decode()}\n" for text in texts) + "\n"


def test_each_message_is_a_job_and_the_summary_is_none():
    data = packet(ad(*JOB)) + packet(ad(*JOB, b"Rank = 1")) + END
    assert text_of(data) == long_form(*JOB) + long_form(*JOB, b"Rank = 1")


def test_a_queue_without_jobs_has_an_answer_without_text():
    assert text_of(END) == ""


def test_attributes_of_users_that_look_like_the_end_do_not_end_the_answer():
    """``XOwner = 0`` ends with the bytes of the last ad's sign, and a job may have both."""
    odd = (*JOB, b"XOwner = 0", b'Note = "Owner = 0"')
    assert text_of(packet(ad(*odd)) + packet(ad(*JOB)) + END) == long_form(*odd) + long_form(*JOB)


def test_an_error_of_the_schedd_is_raised_after_the_jobs_before_it():
    last = packet(ad(b"Owner = 0", b"ErrorCode = 2", b'ErrorString = "Unable to evaluate\nprojection"'))
    with pytest.raises(DaemonError, match=r"the schedd reports an error: Unable to evaluate.*projection"):
        text_of(packet(ad(*JOB)) + last)


@pytest.mark.parametrize(
    "message",
    [
        packet(ad(*JOB, count=5)),
        packet(ad(*JOB, count=3)),
        packet(ad(*JOB) + b"more"),
        packet(ad()),
        packet(b""),
    ],
    ids=["an attribute too few", "an attribute too many", "more", "an empty ad", "nothing"],
)
def test_a_message_that_is_not_exactly_one_ad_is_refused(message):
    with pytest.raises(MalformedMessageError):
        text_of(packet(ad(*JOB)) + message + packet(ad(*JOB)) + END)


def test_an_answer_without_an_end_is_an_error():
    with pytest.raises(ConnectionClosedError):
        text_of(packet(ad(*JOB)))


@given(st.binary(max_size=300))
def test_whatever_a_schedd_sends_is_text_or_an_error(data):
    with receiving(data) as channel:
        channel.packets.end_handshake()
        try:
            found = list(job_texts(channel))
        except DaemonError:
            return
    assert all(isinstance(each, str) for each in found)


def test_the_jobs_of_an_encrypted_answer_are_the_same():
    with channels() as (ours, theirs):
        for channel in (ours, theirs):
            channel.packets.end_handshake()
        ours.encrypt(AesGcmCipher(SessionKey(bytes(32)), ours.packets.digests))
        theirs.encrypt(AesGcmCipher(SessionKey(bytes(32)), theirs.packets.digests))
        for ads in ({"Owner": '"ann"', "ClusterId": "7", "ProcId": "0"}, {"Owner": "0", "ErrorCode": "0"}):
            theirs.put_ad(ads)
            theirs.end_message()
        assert "".join(job_texts(ours)) == long_form(b'Owner = "ann"', b"ClusterId = 7", b"ProcId = 0")
