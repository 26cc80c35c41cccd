"""Accepts the command that begins on a connection: in the clear, in a new session, or in one that is resumed.

Source: ``DaemonCommandProtocol`` (``daemon_command.cpp``).
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator_live.security.cipher import AesGcmCipher
from negotiator_live.security.errors import SecurityPolicyError, UnknownSessionError
from negotiator_live.security.server.authorizer import Authorizer, check_allowed
from negotiator_live.security.server.methods import Verifiers
from negotiator_live.security.server.new_session import SessionOffer
from negotiator_live.security.server.peer import Peer
from negotiator_live.security.server.policy import ServerPolicy
from negotiator_live.security.server.sessions import ServedSessions
from negotiator_live.versions import VERSION
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import malformed

#: They stand for a handshake alone: to have a session, or to learn whether another command would be allowed.
_HANDSHAKES: Final = (DaemonCommand.DC_AUTHENTICATE, DaemonCommand.DC_SEC_QUERY)


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
