"""Opens connections to daemons: in the clear, in a new session, or in one that was agreed on before."""

from __future__ import annotations

import attrs

from negotiator_live.security.authentication import Credentials
from negotiator_live.security.errors import AuthorizationError, UnknownSessionError
from negotiator_live.security.handshake import begin_session, resume_session
from negotiator_live.security.policy import ClientPolicy
from negotiator_live.security.sessions import SecuritySession, SessionCache
from negotiator_live.wire.channel import Channel, connect
from negotiator_live.wire.errors import ConnectionClosedError
from negotiator_live.wire.exchange import Deadline, Exchange


@attrs.frozen
class SecureClient:
    """Begins commands as the configuration of this client requires. May be used by several threads."""

    policy: ClientPolicy = attrs.field(factory=ClientPolicy)
    credentials: Credentials = attrs.field(factory=Credentials)
    sessions: SessionCache = attrs.field(factory=SessionCache)

    def open(
        self, exchange: Exchange, deadline: Deadline, capability: SecuritySession | None = None
    ) -> Channel:
        """Return a connection on which the command has begun; its first message is to be sent.

        :param capability: a session that the daemon gave away itself, instead of those of this client.
        :raises DaemonError: the daemon cannot be reached, denies the command, or offers less than is required.
        """
        if capability is not None:
            return _opened(exchange, deadline, capability)
        if not self.policy.negotiates:
            channel = connect(exchange, deadline)
            channel.packets.end_handshake()
            channel.put_int(exchange.command)  # the first integer of the command's own message
            return channel
        session = self.sessions.find(exchange.address, exchange.command)
        if session is not None:
            try:
                return _opened(exchange, deadline, session)
            except (UnknownSessionError, AuthorizationError, ConnectionClosedError):
                self.sessions.drop(exchange.address, session)
        return self._new(exchange, deadline)

    def _new(self, exchange: Exchange, deadline: Deadline) -> Channel:
        channel = connect(exchange, deadline)
        try:
            session = begin_session(channel, self.policy, self.credentials)
        except BaseException:
            channel.close()
            raise
        if session is not None:
            self.sessions.store(exchange.address, exchange.command, session)
        return channel


def _opened(exchange: Exchange, deadline: Deadline, session: SecuritySession) -> Channel:
    channel = connect(exchange, deadline)
    try:
        resume_session(channel, session)
    except BaseException:
        channel.close()
        raise
    return channel
