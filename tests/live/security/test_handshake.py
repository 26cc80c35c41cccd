"""Handshakes with daemons that lie, refuse, or offer too little."""

import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedar import ADDRESS, EXCHANGE, channels, receiving
from cedar_server import HandshakeServer
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.cipher import AesGcmCipher, SessionKey
from negotiator_live.security.errors import (
    AuthenticationError,
    AuthorizationError,
    SecurityPolicyError,
    UnknownSessionError,
)
from negotiator_live.security.handshake import begin_session, resume_session
from negotiator_live.security.methods import FilesystemMethod
from negotiator_live.security.policy import AuthMethod, ClientPolicy, Requirement
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.errors import ConnectionClosedError, DaemonError, MalformedMessageError
from negotiator_live.wire.exchange import Deadline

NOTHING = Credentials(filesystem=None, tokens=TokenFiles(()))
WISHES = ClientPolicy()
STRICT = ClientPolicy(Requirement.REQUIRED, Requirement.REQUIRED, Requirement.REQUIRED)
TRUSTING = ClientPolicy(methods=(AuthMethod.CLAIMTOBE,))


def begin(wishes=WISHES, credentials=NOTHING, **server):
    """Return the session that a client begins with such a server, and the server."""
    with channels() as (one, other), HandshakeServer(other, **server) as served:
        try:
            return begin_session(one, wishes, credentials), served
        finally:
            one.close()


def test_a_session_has_what_the_daemon_told_of_it():
    session, served = begin()
    assert (session.id, session.user, session.commands) == ("host:1:2:3", "me@here", {5, 12})
    assert session.key.reveal() == served.key
    assert served.wishes.integer("Command") == 5
    assert served.wishes.string("ConnectSinful") == str(ADDRESS)


def test_what_the_client_requires_is_sent_and_the_private_key_is_not():
    _, served = begin(ClientPolicy(encryption=Requirement.REQUIRED))
    assert served.wishes.string("Encryption") == "REQUIRED"
    assert served.wishes.string("AuthenticationNew") == "OPTIONAL"
    assert served.wishes.string("Authentication") == "REQUIRED"  # for daemons before 23.10
    assert len(served.wishes.string("ECDHPublicKey")) == 88


@pytest.mark.parametrize("feature", ["Authentication", "Encryption", "Integrity"])
def test_a_daemon_that_refuses_what_is_required_gets_no_command(feature):
    with pytest.raises(SecurityPolicyError, match=f"{feature.lower()}: REQUIRED"):
        begin(STRICT, policy={"Authentication": '"YES"', feature: '"NO"'})


def test_a_daemon_without_a_key_gets_no_command_where_encryption_is_required():
    with pytest.raises(SecurityPolicyError, match="no key for AES was agreed on"):
        begin(ClientPolicy(encryption=Requirement.REQUIRED), policy={"ECDHPublicKey": None})


def test_a_daemon_with_another_encryption_gets_no_command():
    with pytest.raises(SecurityPolicyError, match="other than AES"):
        begin(policy={"CryptoMethods": '"BLOWFISH"'})


@pytest.mark.parametrize(
    "answer", [{"ECDHPublicKey": '"AAAA"'}, {"Encryption": None}, {"Integrity": '"MAYBE"'}]
)
def test_an_invalid_answer_is_refused(answer):
    with pytest.raises(MalformedMessageError):
        begin(policy=answer)


def test_a_command_that_is_denied_names_the_user_and_the_setting():
    with pytest.raises(
        AuthorizationError, match="add me@here to ALLOW_READ in the configuration of the collector"
    ):
        begin(result={"ReturnCode": '"DENIED"'})


def test_without_a_method_that_both_have_a_required_authentication_fails():
    with pytest.raises(AuthenticationError, match="no authentication method succeeded"):
        begin(policy={"Authentication": '"YES"', "AuthMethodsList": '"KERBEROS"'})


def test_without_a_method_an_authentication_that_nobody_requires_may_fail():
    def none(channel):
        assert channel.get_int() == 0
        channel.end_received()
        channel.put_int(0)
        channel.end_message()

    optional = {"Authentication": '"YES"', "AuthMethodsList": '"FS"', "AuthRequired": "false"}
    session, _ = begin(policy=optional, authenticate=none)
    assert session is not None


def claimed(channel, answer=1, key=0):
    """Serve CLAIMTOBE; return the name that was claimed."""
    assert channel.get_int() == AuthMethod.CLAIMTOBE
    channel.end_received()
    channel.put_int(AuthMethod.CLAIMTOBE)
    channel.end_message()
    assert channel.get_int() == 1
    name = channel.get_string()
    channel.end_received()
    channel.put_int(answer)
    channel.end_message()
    channel.put_int(key)
    channel.end_message()
    return name


CLAIM = {"Authentication": '"YES"', "AuthMethodsList": '"CLAIMTOBE"'}


def test_a_claim_is_made_only_where_it_is_configured():
    names = []
    claimant = Credentials(filesystem=None, tokens=TokenFiles(()), claimed_user="condor@here")
    begin(TRUSTING, claimant, policy=CLAIM, authenticate=lambda channel: names.append(claimed(channel)))
    assert names == ["condor@here"]
    for policy, credentials in ((WISHES, claimant), (TRUSTING, NOTHING)):
        with pytest.raises(AuthenticationError):
            begin(policy, credentials, policy=CLAIM)


def test_a_method_that_was_not_offered_and_a_key_that_is_sent_are_refused():
    def other(channel):
        channel.get_int()
        channel.end_received()
        channel.put_int(4)
        channel.end_message()

    claimant = Credentials(filesystem=None, tokens=TokenFiles(()), claimed_user="condor@here")
    with pytest.raises(MalformedMessageError, match="not offered"):
        begin(TRUSTING, claimant, policy=CLAIM, authenticate=other)
    with pytest.raises(MalformedMessageError, match="a session key was sent"):
        begin(TRUSTING, claimant, policy=CLAIM, authenticate=lambda channel: claimed(channel, key=1))


class TestFilesystem:
    """The directories that a daemon may ask for."""

    def asked_for(self, tmp_path, name):
        """Return what the client answers a daemon that asks for a directory, and whether the directory was there then."""
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        name = name.format(port=port, folder=tmp_path)
        made = []

        def serve():
            connection, _ = listener.accept()

            with Channel(connection, EXCHANGE, Deadline(20)) as channel:
                channel.put_string(name)
                channel.end_message()
                made.append(channel.get_int())
                made.extend(path.name for path in tmp_path.iterdir())
                channel.put_int(0)
                channel.end_message()

        thread = threading.Thread(target=serve)
        thread.start()

        connection = socket.create_connection(("127.0.0.1", port))
        with Channel(connection, EXCHANGE, Deadline(20)) as channel:
            succeeded = FilesystemMethod(directory=str(tmp_path)).authenticate(channel)
        thread.join()
        listener.close()
        assert list(tmp_path.iterdir()) == []
        return succeeded, made

    def test_the_directory_is_made_with_the_address_of_the_daemon_and_removed(self, tmp_path):
        succeeded, made = self.asked_for(tmp_path, "{folder}/FS_127.0.0.1_{port}_XXXabc123_")
        assert succeeded
        assert made[0] == 0
        assert made[1].startswith("FS_127.0.0.1_")
        assert "_XXXabc123_127.0.0.1:" in made[1]

    def test_a_name_without_the_invitation_must_have_the_address_of_the_daemon(self, tmp_path):
        assert self.asked_for(tmp_path, "{folder}/FS_127.0.0.1_{port}_XXXabc123")[0]
        assert self.asked_for(tmp_path, "{folder}/FS_127.0.0.1_1_XXXabc123") == (False, [-1])

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "/etc/x",
            "{folder}/x",
            "{folder}/../FS_1_2_X_",
            "/etc/FS_127.0.0.1_{port}_XXX_",
            "{folder}/FS_1_2_a b_",
        ],
    )
    def test_no_other_directory_is_made(self, tmp_path, name):
        assert self.asked_for(tmp_path, name) == (False, [-1])


SESSION = SecuritySession("sid", SessionKey(bytes(32)), user="me@here")


def resume(answer):
    """Resume a session with a server that answers with an ad; return what the server gets then."""
    with channels() as (one, other):

        def serve():
            assert other.get_int() == 60010
            served.append(other.get_ad())
            other.end_received()
            other.put_ad(answer)
            other.end_message()
            other.encrypt(AesGcmCipher(SESSION.key, other.packets.digests))

        served = []
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            resume_session(one, SESSION)
        finally:
            thread.join()
        one.put_string("first message")
        one.end_message()
        return served[0], other.get_string()


def test_a_session_is_resumed_with_its_id_and_never_its_key():
    ad, message = resume({"ReturnCode": '"AUTHORIZED"'})
    assert (ad.string("Sid"), ad.string("UseSession"), message) == ("sid", "YES", "first message")
    assert len(ad.string("Nonce")) == 44


def test_a_session_that_the_daemon_forgot_or_denies_is_an_error():
    with pytest.raises(UnknownSessionError):
        resume({"ReturnCode": '"SID_NOT_FOUND"'})
    with pytest.raises(AuthorizationError, match="me@here is not authorized"):
        resume({"ReturnCode": '"DENIED"'})


def test_a_daemon_that_closes_in_the_handshake_is_named():
    with receiving(b"") as channel, pytest.raises(ConnectionClosedError, match="PERMISSION DENIED"):
        begin_session(channel, WISHES, NOTHING)


@given(st.binary(max_size=300), st.sampled_from([WISHES, STRICT]))
def test_no_answer_raises_anything_but_the_errors_of_a_daemon(data, policy):
    with receiving(data) as channel, pytest.raises(DaemonError):
        begin_session(channel, policy, NOTHING)


TEXTS = st.text(max_size=12).map(
    lambda text: '"' + text.replace("\0", "").replace('"', "") + '"'
) | st.sampled_from(
    ['"YES"', '"NO"', "true", "99999999999999999999", "-1", '"' + "9" * 5000 + '"', '"1,2,x"']
)
POLICY = ["Authentication", "Encryption", "CryptoMethods", "ECDHPublicKey", "SessionDuration", "SessionLease"]
RESULT = ["ReturnCode", "User", "Sid", "ValidCommands"]


@given(
    st.dictionaries(st.sampled_from(POLICY), TEXTS, max_size=2),
    st.dictionaries(st.sampled_from(RESULT), TEXTS, max_size=3),
)
def test_no_policy_raises_anything_but_the_errors_of_a_daemon(policy, result):
    try:
        begin(policy=policy, result=result)
    except DaemonError as error:
        assert "collector cm.example.org at <127.0.0.1:9618>" in str(error)  # noqa: PT017
