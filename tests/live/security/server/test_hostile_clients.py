"""Bytes of hostile clients: each is one error of the connection, or a command that anybody may send."""

import socket

from hypothesis import given
from hypothesis import strategies as st

from cedar import ad, integer, packet
from negotiator_live.security.cipher import KeyExchange
from negotiator_live.security.policy import AuthMethod
from negotiator_live.security.server.handshake import SecureServer
from negotiator_live.security.server.methods import FilesystemVerifier, ServerPolicy, Verifiers
from negotiator_live.security.server.signing_keys import SigningKeys
from negotiator_live.security.server.tokens import TokenVerifier
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import Deadline
from secure_server import PEER, Rules, signed_token, signing_key

ALL = (AuthMethod.FS, AuthMethod.IDTOKENS, AuthMethod.CLAIMTOBE)


def outcome(folder, data, seconds=20.0):
    """Return what a server makes of a client that sends these bytes and no more; it never waits for a stalled one."""
    keys = folder / "keys"
    if not keys.exists():
        keys.mkdir()
        signing_key(keys)
    tokens = TokenVerifier(SigningKeys(keys), "example.org")
    verifiers = Verifiers(FilesystemVerifier("example.org", str(folder)), tokens, accepts_claims=True)
    ours, theirs = socket.socketpair()
    theirs.sendall(data)
    theirs.shutdown(socket.SHUT_WR)
    with theirs, Channel(ours, PEER, Deadline(seconds)) as channel:
        try:
            return SecureServer(ServerPolicy(methods=ALL), verifiers).accept(channel, Rules())
        except DaemonError as error:
            return error


@given(st.binary(max_size=400))
def test_no_bytes_raise_anything_but_the_errors_of_a_peer(tmp_path_factory, data):
    found = outcome(tmp_path_factory.getbasetemp(), data)
    assert isinstance(found, DaemonError) or found.peer.user == ""


TEXTS = st.sampled_from(
    [
        '"YES"',
        '"NO"',
        '"REQUIRED"',
        '"OPTIONAL"',
        '"NEVER"',
        "60010",
        "60040",
        "451",
        "449",
        "-1",
        '""',
        '"FS,TOKEN,CLAIMTOBE"',
        '"AES"',
        "9" * 30,
        '"' + "9" * 30 + '"',
        '"AAAA"',
        "true",
        '"86400"',
    ]
)
NAMES = st.sampled_from(
    [
        "Command",
        "AuthCommand",
        "UseSession",
        "Sid",
        "ResumeResponse",
        "NewSession",
        "ECDHPublicKey",
        "Enact",
        "AuthMethods",
        "CryptoMethods",
        "Authentication",
        "AuthenticationNew",
        "Encryption",
        "Integrity",
        "SessionDuration",
        "SessionLease",
    ]
)
INTEGERS = st.sampled_from([0, 1, 2, 4, 6, 2048, 2054, -1, 256, 2**62])


@given(
    st.dictionaries(NAMES, TEXTS, max_size=8),
    st.booleans(),
    st.lists(INTEGERS, max_size=6),
    st.binary(max_size=80),
)
def test_no_handshake_raises_anything_but_the_errors_of_a_peer(
    tmp_path_factory, wishes, good, integers, rest
):
    if good:
        wishes = {
            "Command": "451",
            "ECDHPublicKey": f'"{KeyExchange().public}"',
            "CryptoMethods": '"AES"',
            "AuthMethods": '"FS,TOKEN,CLAIMTOBE"',
            "Authentication": '"PREFERRED"',
            **wishes,
        }
    texts = [f"{name} = {text}".encode() for name, text in wishes.items()]
    data = packet(integer(60010) + ad(*texts)) + b"".join(packet(integer(each)) for each in integers)
    found = outcome(tmp_path_factory.getbasetemp(), data + packet(rest))
    assert found is None or isinstance(found, DaemonError) or found.peer.user == ""


def text(value):
    return value.encode() + b"\0"


@given(
    st.sampled_from([0, -1, 5]),
    st.sampled_from(["alice@example.org", "", "x" * 300]),
    st.sampled_from([signed_token().rpartition(".")[0], "", "a.b", "e30.e30", "." * 50, "é.é"]),
    st.sampled_from([0, 1, 255, 256, 257, -1, 2**40]),
    st.binary(max_size=64),
)
def test_who_has_no_token_is_not_believed(tmp_path_factory, status, name, signed, count, proof):
    wishes = [
        b"Command = 449",
        b'AuthMethods = "TOKEN"',
        b'CryptoMethods = "AES"',
        b'Authentication = "REQUIRED"',
    ]
    wishes.append(f'ECDHPublicKey = "{KeyExchange().public}"'.encode())
    nonce = integer(count) + bytes(max(0, min(count, 300)))
    first = integer(status) + integer(len(name)) + text(name) + text(signed) + nonce
    second = integer(0) + integer(len(name)) + text(name) + nonce + integer(len(proof)) + proof
    data = packet(integer(60010) + ad(*wishes)) + packet(integer(2048)) + packet(first) + packet(second)
    assert isinstance(outcome(tmp_path_factory.getbasetemp(), data), DaemonError)


def test_a_client_that_stalls_costs_one_deadline():
    ours, theirs = socket.socketpair()
    with theirs, Channel(ours, PEER, Deadline(0.2)) as channel:
        theirs.sendall(packet(integer(60010))[:7])
        try:
            SecureServer().accept(channel, Rules())
        except DaemonError as error:
            assert "no answer within 0.2 s" in str(error)  # noqa: PT017
        else:
            raise AssertionError
