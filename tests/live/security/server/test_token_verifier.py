"""Proofs of a token by peers that know the token, but not its signature."""

import threading

import pytest

from cedar import channels
from negotiator_live.security.methods import NONCE, get_bytes, put_bytes
from negotiator_live.security.server.signing_keys import SigningKeys
from negotiator_live.security.server.tokens import TokenVerifier
from secure_server import signed_token, signing_key

ALICE = "alice@example.org"


def proved(folder, name=ALICE, again=ALICE, echo=None, proof=bytes(20), status=0):
    """Return whom a verifier sees; the peer answers to the challenge with this name, nonce and MAC."""
    signing_key(folder)
    verifier = TokenVerifier(SigningKeys(folder), "example.org")
    found = []
    with channels() as (one, other):
        thread = threading.Thread(target=lambda: found.append(verifier.verify(other)))
        thread.start()
        one.put_int(0)
        one.put_int(len(name))
        one.put_string(name)
        one.put_string(signed_token().rpartition(".")[0])
        put_bytes(one, bytes(NONCE))
        one.end_message()
        assert one.get_int() == 0
        for _ in range(2):
            one.get_int()
            one.get_string()
        get_bytes(one, NONCE)
        nonce = get_bytes(one, NONCE)
        get_bytes(one, 64)
        one.end_received()
        one.put_int(status)
        one.put_int(len(again))
        one.put_string(again)
        put_bytes(one, nonce if echo is None else echo)
        put_bytes(one, proof)
        one.end_message()
        thread.join()
    return found


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"proof": b""},
        {"proof": bytes(64)},
        {"echo": b""},
        {"echo": bytes(NONCE)},
        {"status": -1},
        {"again": "bob@example.org"},
        {"name": "bob@example.org", "again": "bob@example.org"},
    ],
)
def test_a_token_without_its_signature_proves_nothing(tmp_path, answer):
    assert proved(tmp_path, **answer) == [None]
