"""Sessions that this server begins and resumes with this project's own client."""

import base64

import attrs
import pytest

from negotiator_live.security.authentication import Credentials
from negotiator_live.security.cipher import SessionKey
from negotiator_live.security.client import SecureClient
from negotiator_live.security.errors import (
    AuthenticationError,
    AuthorizationError,
    SecurityPolicyError,
    UnknownSessionError,
)
from negotiator_live.security.handshake import resume_session
from negotiator_live.security.methods import FilesystemMethod
from negotiator_live.security.policy import AuthMethod, ClientPolicy, Requirement
from negotiator_live.security.server.handshake import SecureServer
from negotiator_live.security.server.methods import FilesystemVerifier, ServerPolicy, Verifiers
from negotiator_live.security.server.peer import Level
from negotiator_live.security.server.signing_keys import SigningKeys
from negotiator_live.security.server.tokens import TokenVerifier
from negotiator_live.security.tokens import Token, TokenFiles
from negotiator_live.wire.channel import connect
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import ConnectionClosedError, DaemonError
from negotiator_live.wire.exchange import Deadline
from secret_file import write_secret
from secure_server import (
    ADMINISTER,
    OFF,
    READ,
    Rules,
    said,
    serving,
    signed_token,
    signing_key,
    user_of_process,
)

ALL = (AuthMethod.FS, AuthMethod.IDTOKENS, AuthMethod.CLAIMTOBE)
NEVER, OPTIONAL, REQUIRED = Requirement.NEVER, Requirement.OPTIONAL, Requirement.REQUIRED
IN_THE_CLEAR = ClientPolicy(negotiation=NEVER)


def by_files(folder):
    return Credentials(filesystem=FilesystemMethod(directory=str(folder)), tokens=TokenFiles(()))


def by_token(folder, text):
    write_secret(folder / "tokens", text)
    return Credentials.with_token_file(folder / "tokens")


def claiming(user):
    return Credentials(filesystem=None, tokens=TokenFiles(()), claimed_user=user)


def client(credentials=None, policy=None):
    return SecureClient(policy or ClientPolicy(methods=ALL), credentials or claiming(""))


def server(folder, policy=None, *, claims=False, keys=True):
    (folder / "keys").mkdir(exist_ok=True)
    if keys:
        signing_key(folder / "keys")
    tokens = TokenVerifier(SigningKeys(folder / "keys"), "example.org")
    verifiers = Verifiers(FilesystemVerifier("example.org", str(folder)), tokens, accepts_claims=claims)
    return SecureServer(policy or ServerPolicy(methods=ALL), verifiers)


def test_an_unknown_peer_reads_in_an_encrypted_session(tmp_path):
    with serving(server(tmp_path)) as served:
        one = client()
        assert said(one, served) == "hello"
    ((command, text),) = served.accepted
    assert (command.command, command.peer.user, command.in_session, text) == (READ, "", True, "hello")
    assert one.sessions.find(served.address, READ).user == "unauthenticated@unmapped"


def test_a_command_for_named_peers_makes_the_client_authenticate_although_neither_side_requires_it(tmp_path):
    me = f"{user_of_process()}@example.org"
    with serving(server(tmp_path), Rules(me)) as served:
        assert said(client(by_files(tmp_path)), served, ADMINISTER) == "hello"
    ((command, _),) = served.accepted
    assert (command.peer.user, command.peer.method) == (me, "FS")
    assert not list(tmp_path.glob("FS_*"))


def test_a_token_of_the_pool_proves_who_its_owner_is(tmp_path):
    with serving(server(tmp_path), Rules("alice@example.org")) as served:
        assert said(client(by_token(tmp_path, signed_token())), served, ADMINISTER) == "hello"
    ((command, _),) = served.accepted
    assert (command.peer.user, command.peer.method) == ("alice@example.org", "IDTOKENS")


def test_a_token_of_another_key_of_the_folder_is_not_doubled(tmp_path):
    signer = server(tmp_path)
    signing_key(tmp_path / "keys", "other", b"another key of 32 bytes or so ...")
    text = signed_token(b"another key of 32 bytes or so ...", key="other", doubled=False)
    with serving(signer, Rules("alice@example.org")) as served:
        assert said(client(by_token(tmp_path, text)), served, ADMINISTER) == "hello"


def test_the_scopes_of_a_token_limit_what_its_owner_may_do(tmp_path):
    readers = by_token(tmp_path, signed_token(scope="condor:/READ other:/x"))
    with serving(server(tmp_path), Rules("alice@example.org")) as served:
        assert said(client(readers, ClientPolicy(REQUIRED, methods=ALL)), served) == "hello"
        with pytest.raises(AuthorizationError):
            said(client(readers), served, ADMINISTER)
    assert served.accepted[0][0].peer.limits == {Level.READ}


@pytest.mark.parametrize(
    "claims",
    [
        {"raw": b"another key"},
        {"key": "NONE"},
        {"key": "../POOL"},
        {"alg": "none"},
        {"iss": "elsewhere.org"},
        {"exp": 1_000},
        {"exp": "never"},
        {"nbf": 9_999_999_999},
        {"sub": "alice"},
        {"sub": "alice smith@example.org"},
        {"jti": ""},
        {"cap": True},
    ],
)
def test_no_other_token_is_accepted(tmp_path, claims):
    text = signed_token(**claims)
    signed, _, signature = text.rpartition(".")
    key = SessionKey(base64.urlsafe_b64decode(signature + "="))
    name = claims.get("sub", "alice@example.org")
    token = Token(name, "example.org", "POOL", None, signed, key)  # the client's own checks are left out
    forced = Credentials(filesystem=None, tokens=OneToken(token))
    with serving(server(tmp_path), Rules("alice@example.org")) as served, pytest.raises(DaemonError):
        said(client(forced), served, ADMINISTER)
    assert not served.accepted
    assert text.rpartition(".")[2] not in str(served.errors)


class OneToken(TokenFiles):
    """Has one token, for any server."""

    def __init__(self, token):
        super().__init__(())
        object.__setattr__(self, "token", token)

    __slots__ = ("token",)

    def find(self, *_):
        return self.token


def test_claims_are_believed_only_if_that_is_configured_and_never_beyond_the_level_of_the_command(tmp_path):
    boss = claiming("boss@example.org")
    with serving(server(tmp_path), Rules("boss@example.org")) as served, pytest.raises(AuthenticationError):
        said(client(boss), served, ADMINISTER)
    with serving(server(tmp_path, claims=True), Rules("boss@example.org")) as served:
        one = client(boss, ClientPolicy(REQUIRED, methods=ALL))
        said(one, served)
        assert one.sessions.find(served.address, ADMINISTER) is None
        assert said(one, served, ADMINISTER) == "hello"


@pytest.mark.parametrize("user", ["", "boss", "two words@example.org", "boss@", "a\nb@c", "x@" + "y" * 300])
def test_a_claim_that_is_no_name_is_refused(tmp_path, user):
    claimant = attrs.evolve(claiming("boss@example.org"), claimed_user=user or " ")
    with serving(server(tmp_path, claims=True), Rules(user)) as served, pytest.raises(DaemonError):
        said(client(claimant), served, ADMINISTER)
    assert not served.accepted


def test_who_is_not_allowed_is_denied_with_what_to_configure(tmp_path):
    with serving(server(tmp_path), Rules()) as served:
        with pytest.raises(AuthorizationError, match="DENIED"):
            said(client(by_token(tmp_path, signed_token())), served, ADMINISTER)
        assert len(server(tmp_path).sessions) == 0
    (error,) = served.errors
    assert str(error).startswith("client alice@example.org at <127.0.0.1:1>, command SET_PRIORITY")
    assert "add alice@example.org to administrators" in str(error)


def test_commands_in_the_clear_are_for_readers_where_no_session_is_required(tmp_path):
    plain = SecureClient(IN_THE_CLEAR)
    with serving(server(tmp_path), Rules("")) as served:
        assert said(plain, served) == "hello"
        assert not served.accepted[0][0].in_session
    strict = ServerPolicy(integrity=REQUIRED, methods=ALL)
    with serving(server(tmp_path, strict)) as served, pytest.raises(ConnectionClosedError):
        said(plain, served)
    assert "SEC_CLIENT_NEGOTIATION" in str(served.errors[0])


@pytest.mark.parametrize("feature", ["authentication", "encryption", "integrity"])
def test_there_is_no_session_where_one_side_requires_what_the_other_one_refuses(tmp_path, feature):
    strict = ServerPolicy(methods=ALL, **{feature: REQUIRED})
    refusing = ClientPolicy(methods=ALL, **{feature: NEVER})
    with serving(server(tmp_path, strict)) as served, pytest.raises(ConnectionClosedError):
        said(client(policy=refusing), served)
    (error,) = served.errors
    assert isinstance(error, SecurityPolicyError)
    assert f"SEC_CLIENT_{feature.upper()}" in str(error)


def test_a_server_without_signing_keys_offers_no_tokens(tmp_path):
    with (
        serving(server(tmp_path, keys=False), Rules("alice@example.org")) as served,
        pytest.raises(DaemonError),
    ):
        said(client(by_token(tmp_path, signed_token())), served, ADMINISTER)


class TestResumption:
    """The second command of a client in the same session."""

    def test_it_needs_no_authentication_and_has_the_same_peer(self, tmp_path):
        one = client(by_token(tmp_path, signed_token()))
        with serving(server(tmp_path), Rules("alice@example.org")) as served:
            said(one, served, ADMINISTER)
            (tmp_path / "tokens").unlink()
            assert said(one, served, READ, "again") == "again"
            assert said(one, served, ADMINISTER, "and again") == "and again"
        assert {command.peer.user for command, _ in served.accepted} == {"alice@example.org"}

    def test_a_session_that_the_server_forgot_is_replaced(self, tmp_path):
        secure, one = server(tmp_path), client()
        with serving(secure) as served:
            said(one, served)
            secure.sessions.clear()
            assert said(one, served, READ, "again") == "again"
        assert [type(error) for error in served.errors] == [UnknownSessionError]

    def test_who_knows_the_id_but_not_the_key_sends_nothing(self, tmp_path):
        one = client(by_token(tmp_path, signed_token()))
        with serving(server(tmp_path), Rules("alice@example.org")) as served:
            said(one, served, ADMINISTER)
            session = one.sessions.find(served.address, ADMINISTER)
            stolen = attrs.evolve(session, key=SessionKey(bytes(32)))
            with connect(served.exchange(ADMINISTER), Deadline(20)) as channel:
                resume_session(channel, stolen)
                channel.put_string("stolen")
                channel.end_message()
                with pytest.raises(ConnectionClosedError):
                    channel.get_string()
        assert [text for _, text in served.accepted] == ["hello"]

    def test_a_command_without_a_message_begins_a_new_session_each_time(self, tmp_path):
        one = client(by_token(tmp_path, signed_token()))
        with serving(server(tmp_path), Rules("alice@example.org")) as served:
            said(one, served, ADMINISTER)
            session = one.sessions.find(served.address, ADMINISTER)
            assert OFF not in session.commands
            with connect(served.exchange(OFF), Deadline(20)) as channel, pytest.raises(UnknownSessionError):
                resume_session(channel, session)

    def test_who_is_not_allowed_any_more_is_denied(self, tmp_path):
        rules, one = Rules("alice@example.org"), client(by_token(tmp_path, signed_token()))
        with serving(server(tmp_path), rules) as served:
            said(one, served, ADMINISTER)
            rules.administrators = ()
            with pytest.raises(AuthorizationError):
                said(one, served, ADMINISTER)


def test_a_command_for_named_peers_needs_a_session_with_a_key(tmp_path):
    """Whoever removes the client's methods of encryption on the way would change what the client sends later."""

    def begin(command):
        with connect(served.exchange(command), Deadline(20)) as channel:
            channel.put_int(DaemonCommand.DC_AUTHENTICATE)
            wishes = dict.fromkeys(("Authentication", "Encryption", "Integrity"), '"OPTIONAL"')
            channel.put_ad({**wishes, "Command": str(int(command)), "AuthMethods": '"CLAIMTOBE"'})
            channel.end_message()
            return channel.get_ad()

    with serving(server(tmp_path, claims=True), Rules("boss@example.org")) as served:
        assert begin(READ).string("Encryption") == "NO"
        with pytest.raises(ConnectionClosedError):
            begin(ADMINISTER)
    assert not served.accepted
    assert "allow AES in SEC_DEFAULT_CRYPTO_METHODS of the client" in str(served.errors[-1])
