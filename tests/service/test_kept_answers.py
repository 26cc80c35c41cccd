"""Answers that are made once, and sent to everybody: as they are, or compressed."""

import gzip
import os
import threading

import pytest
from starlette.requests import Request

from negotiator.service.kept_answers import KeptAnswers

PATHS = ("/pool", "/pool/queues", "/pool/hosts", "/ws/v1/partition/default/nodes")


def test_an_answer_is_made_once_until_too_many_bytes_are_kept():
    """A client that writes paths in ever new ways costs time, and no memory."""
    kept, made = KeptAnswers(), []

    def make():
        made.append(1)
        return os.urandom(12 << 20)  # what cannot be compressed

    for path in ("a", "a", "b", "b", "c", "c"):
        assert len(kept.get(path, make).body) == 12 << 20
    assert len(made) == 4  # the third path is made each time


def test_those_who_request_an_answer_while_it_is_made_wait_for_it():
    kept, begun, may_end, made, got = KeptAnswers(), threading.Event(), threading.Event(), [], []

    def make():
        made.append(1)
        begun.set()
        may_end.wait()
        return b"a page"

    readers = [threading.Thread(target=lambda: got.append(kept.get("path", make).body)) for _ in range(5)]
    readers[0].start()
    begun.wait()
    for reader in readers[1:]:
        reader.start()
    assert kept.get("another path", lambda: b"another page").body == b"another page"
    may_end.set()
    for reader in readers:
        reader.join()
    assert (got, len(made)) == ([b"a page"] * 5, 1)


def test_an_answer_that_failed_is_made_anew():
    kept = KeptAnswers()
    with pytest.raises(ZeroDivisionError):
        kept.get("path", lambda: 1 // 0)
    assert kept.get("path", lambda: b"a page").body == b"a page"


def sent(answer, accepted):
    """Return the answer to a request that accepts a coding."""
    scope = {"type": "http", "headers": [(b"accept-encoding", accepted.encode())] if accepted else []}
    return answer.response(Request(scope), "text/html")


def test_who_accepts_it_gets_it_compressed():
    answer = KeptAnswers().get("path", lambda: b"<p>" * 1000)
    zipped, plain = sent(answer, "br, gzip"), sent(answer, "")
    assert (zipped.headers["content-encoding"], plain.headers.get("content-encoding")) == ("gzip", None)
    assert {zipped.headers["vary"], plain.headers["vary"]} == {"Accept-Encoding"}
    assert gzip.decompress(zipped.body) == plain.body == b"<p>" * 1000
    assert len(zipped.body) * 10 < len(plain.body)


def test_a_short_answer_is_never_compressed():
    assert sent(KeptAnswers().get("path", lambda: b"<p>"), "gzip").body == b"<p>"


@pytest.mark.parametrize("path", PATHS)
def test_pages_and_answers_of_the_service_are_the_same_in_both_forms(lively, path):
    plain = lively.get(path, headers={"Accept-Encoding": "identity"})
    zipped = lively.get(path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.text == plain.text
    assert zipped.headers["cache-control"] == "no-store"
