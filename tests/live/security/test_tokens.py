"""Tokens, and the proof that a client has one."""

import base64
import hashlib
import hmac
import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedar import channels
from negotiator_live.security.cipher import derived_key
from negotiator_live.security.methods import authenticate_with_token
from negotiator_live.security.tokens import SEED_K, Token, TokenFiles
from secret_file import write_secret


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token_text(
    subject="me@example.org", issuer="example.org", key="POOL", signature=bytes(range(32)), **more
):
    header, payload = {"alg": "HS256", "kid": key}, {"sub": subject, "iss": issuer, **more}
    return ".".join([*(encoded(json.dumps(each).encode()) for each in (header, payload)), encoded(signature)])


def test_a_token_has_its_names_and_hides_its_signature():
    token = Token.parse(token_text(exp=4102444800))
    assert (token.subject, token.issuer, token.key_id, token.expires) == (
        "me@example.org",
        "example.org",
        "POOL",
        4102444800,
    )
    assert token.signed == token_text(exp=4102444800).rpartition(".")[0]
    assert encoded(bytes(range(32))) not in repr(token)


@pytest.mark.parametrize(
    "text",
    [
        *("", "a.b", "a.b.c", "....", "é.é.é", "x" * 100_000, f"{encoded(b'[]')}.{encoded(b'[]')}.AAAA"),
        *(
            token_text(subject=""),
            token_text(subject=3),
            token_text(key=""),
            token_text(exp="x"),
            token_text(signature=b""),
        ),
    ],
)
def test_anything_else_is_no_token(text):
    assert Token.parse(text) is None


@given(st.text(max_size=50), st.binary(max_size=40), st.binary(max_size=40))
def test_no_text_raises(text, header, payload):
    Token.parse(text)
    Token.parse(f"{encoded(header)}.{encoded(payload)}.AAAA")


def test_the_first_token_that_the_daemon_accepts_is_taken(tmp_path):
    write_secret(tmp_path / "10-other", token_text(issuer="elsewhere.org") + "\n")
    write_secret(
        tmp_path / "20-mine",
        f"# mine\n\n{token_text(subject='a@x', key='OLD')}\n{token_text(subject='b@x')}\n",
    )
    write_secret(tmp_path / ".hidden", token_text(subject="hidden@x"))
    write_secret(tmp_path / "05-mine~", token_text(subject="backup@x"))
    files = TokenFiles((tmp_path,))
    assert files.find("example.org", ["POOL"]).subject == "b@x"
    assert files.find("example.org", []).subject == "a@x"
    assert files.find("example.org", ["NEW"]) is None
    assert files.find("", ()).issuer == "elsewhere.org"


def test_files_that_are_no_token_files_are_passed_over(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    write_secret(tmp_path / "huge", "x" * 100_000)
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "binary").chmod(0o600)
    write_secret(tmp_path / "z", token_text())
    assert TokenFiles((tmp_path / "missing", tmp_path)).find("", ()).subject == "me@example.org"


class TokenServer:
    """The daemon's side of AKEP2; ``signature`` is what it thinks the token's is."""

    def __init__(self, signature=bytes(range(32)), status=0, echo=None):
        self.signature, self.status, self.echo = signature, status, echo
        self.accepted = None

    def __call__(self, channel):
        assert channel.get_int() == 0
        channel.get_int()
        name, self.signed = channel.get_string(), channel.get_string()
        nonce = channel.get_bytes(channel.get_int(), 256)
        channel.end_received()
        key = derived_key(self.signature, SEED_K + self.signed.encode(), b"master ka").reveal()
        mine = bytes(256)
        mac = hmac.digest(key, f"{name} server@x".encode() + b"\0" + nonce + mine, hashlib.sha1)
        channel.put_int(self.status)
        for text in (name, "server@x"):
            channel.put_int(len(text))
            channel.put_string(text)
        for data in (self.echo or nonce, mine, mac):
            channel.put_int(len(data))
            channel.put_bytes(data)
        channel.end_message()
        status = channel.get_int()
        channel.get_int()
        again = channel.get_string()
        channel.get_bytes(channel.get_int(), 256)
        proof = channel.get_bytes(channel.get_int(), 64)
        channel.end_received()
        expected = hmac.digest(key, name.encode() + b"\0" + mine, hashlib.sha1)
        self.accepted = (status, again) == (0, name) and proof == expected


def prove(server):
    with channels() as (one, other):
        thread = threading.Thread(target=server, args=(other,))
        thread.start()
        succeeded = authenticate_with_token(one, Token.parse(token_text()))
        thread.join()
    return succeeded, server.accepted


def test_both_sides_accept_each_other_and_the_signature_is_not_sent():
    server = TokenServer()
    assert prove(server) == (True, True)
    assert server.signed == token_text().rpartition(".")[0]


@pytest.mark.parametrize(
    "server", [TokenServer(b"other"), TokenServer(status=-1), TokenServer(echo=b"x" * 256)]
)
def test_a_daemon_that_does_not_know_the_signature_gets_no_proof(server):
    assert prove(server) == (False, False)
