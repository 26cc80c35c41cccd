"""Begins a session with a client: the two sides agree on its features and a key, and the client authenticates.

Source: ``DaemonCommandProtocol`` (``daemon_command.cpp``).
"""

from __future__ import annotations

import attrs

from negotiator_live.security.cipher import AesGcmCipher
from negotiator_live.security.errors import AuthenticationError, SecurityPolicyError
from negotiator_live.security.keys import KeyExchange, SessionKey
from negotiator_live.security.policy import AuthMethod, wire_name
from negotiator_live.security.server.authorizer import Authorizer, check_allowed
from negotiator_live.security.server.methods import Verifiers
from negotiator_live.security.server.peer import Peer
from negotiator_live.security.server.policy import AgreedSession, ServerPolicy
from negotiator_live.security.server.sessions import ServedSessions
from negotiator_live.versions import VERSION
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.errors import malformed

_NO_SESSION = "none"


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
