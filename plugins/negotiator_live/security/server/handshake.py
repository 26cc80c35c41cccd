"""Accepts the command that begins on a connection: in the clear, in a new session, or in one that is resumed.

In a new session the two sides agree on its features and a key, and the client authenticates. Source: ``DaemonCommandProtocol``
(``daemon_command.cpp``).
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator_live.security.cipher import AesGcmCipher, KeyExchange, SessionKey
from negotiator_live.security.errors import AuthenticationError, SecurityPolicyError, UnknownSessionError
from negotiator_live.security.policy import AuthMethod, wire_name
from negotiator_live.security.server.authorization import Authorizer, check_allowed
from negotiator_live.security.server.methods import AgreedSession, ServerPolicy, Verifiers
from negotiator_live.security.server.peer import Peer
from negotiator_live.security.server.sessions import ServedSessions
from negotiator_live.versions import VERSION
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import malformed

#: They stand for a handshake alone: to have a session, or to learn whether another command would be allowed.
_HANDSHAKES: Final = (DaemonCommand.DC_AUTHENTICATE, DaemonCommand.DC_SEC_QUERY)
_NO_SESSION = "none"


@attrs.frozen
class AcceptedCommand:
    """A command, and who sent it.

    ``in_session``: it began with a handshake, so that what follows is a message of its own, which is not sent if empty.
    """

    command: DaemonCommand
    peer: Peer
    in_session: bool


@attrs.frozen
class SecureServer:
    """Accepts commands as the configuration of this server requires. May be used by several threads.

    ``policies`` are those of single commands; all others have ``policy``.
    """

    policy: ServerPolicy = attrs.field(factory=ServerPolicy)
    policies: Mapping[int, ServerPolicy] = attrs.field(factory=dict, kw_only=True)
    verifiers: Verifiers = attrs.field(factory=Verifiers)
    sessions: ServedSessions = attrs.field(factory=ServedSessions)

    def accept(self, channel: Channel, authorizer: Authorizer) -> AcceptedCommand | None:
        """Return the command that a client begins and may send; None if the handshake was all that it wanted.

        :raises DaemonError: the client may not send the command, offers less than is required, or does not keep to the
            protocol.
        """
        command = channel.get_int()
        if command != DaemonCommand.DC_AUTHENTICATE:
            return self._in_the_clear(channel, authorizer, command)
        wishes = channel.get_ad()
        channel.end_received()
        wanted = wishes.integer("Command") or 0
        subject = (wishes.integer("AuthCommand") or 0) if wanted in _HANDSHAKES else wanted
        _check_served(channel, authorizer, subject)
        if wishes.string("UseSession") == "YES":
            peer = self._resume(channel, wishes, authorizer, subject)
        else:
            needs_name = authorizer.needs_name(subject, _host(channel))
            policy = self.policies.get(subject, self.policy)
            policy = policy.for_known_peers() if needs_name else policy
            offer = SessionOffer.of(channel, wishes, policy, self.verifiers, needs_key=needs_name)
            peer = offer.begin(authorizer, subject, self.sessions)
        if wanted == DaemonCommand.DC_SEC_QUERY:
            channel.put_ad({"AuthorizationSucceeded": "true"})
            channel.end_message()
        return None if wanted in _HANDSHAKES else AcceptedCommand(DaemonCommand(subject), peer, True)

    def _in_the_clear(self, channel: Channel, authorizer: Authorizer, command: int) -> AcceptedCommand:
        channel.packets.end_handshake()
        _check_served(channel, authorizer, command)
        if not self.policies.get(command, self.policy).allows_no_session:
            raise SecurityPolicyError(
                channel.exchange,
                "the command was sent in the clear, without a session",
                "set SEC_CLIENT_NEGOTIATION of the client to PREFERRED",
            )
        peer = Peer(host=_host(channel))
        check_allowed(channel, authorizer, peer, command)
        return AcceptedCommand(DaemonCommand(command), peer, False)

    def _resume(self, channel: Channel, wishes: WireAd, authorizer: Authorizer, command: int) -> Peer:
        """Resume a session.

        A client that knows the id of a session may not know its key. It shows that it does with the first message: commands
        without one cannot be sent in a session that is resumed, unless they are harmless. The nonce makes each session's
        beginning differ, so that nothing can be sent again that was seen before.
        """
        if not wishes.boolean("ResumeResponse"):
            raise SecurityPolicyError(
                channel.exchange, "the client expects no nonce", "use version 9.9 or later there"
            )
        session = self.sessions.find(wishes.string("Sid")) if authorizer.may_resume(command) else None
        if session is None:
            channel.put_ad({"ReturnCode": '"SID_NOT_FOUND"'})
            channel.end_message()
            raise UnknownSessionError(channel.exchange, "the session is unknown here, or over")
        peer = attrs.evolve(session.peer, host=_host(channel))
        code = "AUTHORIZED" if authorizer.allows(peer, command) else "DENIED"
        nonce = base64.b64encode(os.urandom(33)).decode("ascii")
        answer = {"ReturnCode": code, "RemoteVersion": VERSION, "Nonce": nonce}
        channel.put_ad({name: quoted(text) for name, text in answer.items()})
        channel.end_message()
        channel.encrypt(AesGcmCipher(session.key, channel.packets.digests))
        channel.packets.end_handshake()
        check_allowed(channel, authorizer, peer, command)
        return peer


def _host(channel: Channel) -> str:
    """Return the address of the client."""
    return channel.exchange.address.primary.host


def _check_served(channel: Channel, authorizer: Authorizer, command: int) -> None:
    """Let the errors of this connection name the command from here on.

    :raises MalformedMessageError: this server does not have it.
    """
    if not authorizer.is_served(command):
        raise malformed(channel.exchange, f"unknown command {command}")
    channel.packets.exchange = attrs.evolve(channel.exchange, command=DaemonCommand(command))


@attrs.frozen
class SessionOffer:
    """A session as this server offers it to a client: ``wishes`` is the client's ad."""

    channel: Channel
    wishes: WireAd
    verifiers: Verifiers
    agreed: AgreedSession
    methods: tuple[AuthMethod, ...]
    exchange: KeyExchange | None = attrs.field(repr=False)

    @classmethod
    def of(
        cls,
        channel: Channel,
        wishes: WireAd,
        policy: ServerPolicy,
        verifiers: Verifiers,
        *,
        needs_key: bool = False,
    ) -> SessionOffer:
        """Return what is agreed on.

        :param needs_key: the session must have a key: otherwise whoever is on the way removes the client's methods of
            encryption from its ad, which nothing protects, and then changes what the authenticated client sends.
        :raises SecurityPolicyError: one side refuses what the other one requires.
        """
        agreed = policy.agree(wishes)
        if isinstance(agreed, str):
            raise SecurityPolicyError(
                channel.exchange,
                f"one side requires {agreed} and the other one refuses it",
                f"set SEC_CLIENT_{agreed.upper()} of the client to OPTIONAL, or {agreed}: OPTIONAL in htcondor:",
            )
        exchange = KeyExchange() if agreed.has_aes and wishes.string("ECDHPublicKey") else None
        if exchange is None and (needs_key or agreed.encryption or agreed.integrity):
            raise SecurityPolicyError(
                channel.exchange,
                "the client has no AES, and the session must be encrypted",
                "allow AES in SEC_DEFAULT_CRYPTO_METHODS of the client; versions before 9.0 have none",
            )
        methods = verifiers.usable(agreed.methods)
        if not methods and not agreed.authentication_required:
            agreed = attrs.evolve(agreed, authentication=False)
        return cls(channel, wishes, verifiers, agreed, methods, exchange)

    def begin(self, authorizer: Authorizer, command: int, sessions: ServedSessions) -> Peer:
        """Authenticate the client, begin the session, and return who the client is.

        :raises DaemonError: it may not send the command, has not proved who it is, or does not keep to the protocol.
        """
        self._send(self._ad())
        peer = attrs.evolve(self._peer(), host=self.channel.exchange.address.primary.host)
        peer = authorizer.limited(peer, command)
        key = self._key()
        if key is not None:
            self.channel.encrypt(AesGcmCipher(key, self.channel.packets.digests))
        self.channel.packets.end_handshake()
        session_id = _NO_SESSION
        is_allowed = authorizer.allows(peer, command)
        if is_allowed and key is not None:
            session_id = sessions.begin(key, peer, self.agreed.seconds, self.agreed.lease).id
        result = {
            "User": quoted(peer.name),
            "Sid": quoted(session_id),
            "ValidCommands": quoted(",".join(map(str, authorizer.resumable(peer)))),
            "ReturnCode": '"AUTHORIZED"' if is_allowed else '"DENIED"',
        }
        self._send({**result, "TriedAuthentication": "true"} if self.agreed.authentication else result)
        check_allowed(self.channel, authorizer, peer, command)
        return peer

    def _send(self, ad: dict[str, str]) -> None:
        self.channel.put_ad(ad)
        self.channel.end_message()

    def _ad(self) -> dict[str, str]:
        """Return the server's answer to the wishes."""
        # With a key for AES, everything is encrypted and authenticated, also where nobody requires it.
        agreed, encrypts = self.agreed, self.exchange is not None
        names = [wire_name(method) for method in self.methods]
        ad = {
            "Authentication": _action(is_on=agreed.authentication),
            "AuthRequired": "true" if agreed.authentication_required else "false",
            "Encryption": _action(is_on=agreed.encryption or encrypts),
            "Integrity": _action(is_on=agreed.integrity or encrypts),
            "AuthMethods": quoted(names[0] if names else ""),
            "AuthMethodsList": quoted(",".join(names)),
            "SessionDuration": quoted(str(agreed.seconds)),
            "SessionLease": str(agreed.lease),
            "Enact": '"YES"',
            "NegotiatedSession": "true",
            "RemoteVersion": quoted(VERSION),
        }
        if self.exchange is not None:
            ad |= {"CryptoMethods": '"AES"', "CryptoMethodsList": '"AES"'}
            ad["ECDHPublicKey"] = quoted(self.exchange.public)
        if self.verifiers.tokens is not None:
            ad["TrustDomain"] = quoted(self.verifiers.tokens.trust_domain)
            ad["IssuerKeys"] = quoted(", ".join(self.verifiers.tokens.keys.names()))
        return ad

    def _peer(self) -> Peer:
        """Return who the client is."""
        if not self.agreed.authentication:
            return Peer()
        found = self.verifiers.authenticate(self.channel, self.methods)
        if found is None and self.agreed.authentication_required:
            have = ", ".join(wire_name(method) for method in self.methods) or "none"
            raise AuthenticationError(
                self.channel.exchange,
                f"no authentication method succeeded (both sides have: {have})",
                "FS needs a client on this host; IDTOKENS needs signing_keys in htcondor: and a token of its trust_domain",
            )
        return found or Peer()

    def _key(self) -> SessionKey | None:
        if self.exchange is None:
            return None
        key = self.exchange.agreed_key(self.wishes.string("ECDHPublicKey"))
        if key is None:
            raise malformed(self.channel.exchange, "the public key of the client is invalid")
        return key


def _action(*, is_on: bool) -> str:
    return '"YES"' if is_on else '"NO"'
