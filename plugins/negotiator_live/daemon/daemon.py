"""The daemon: a port of this program with the commands that the pool's tools and schedds send."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final, Self

import attrs

from negotiator.plugin import PoolControl, PoolError
from negotiator_live.daemon.access import FAMILY, CommandAccess
from negotiator_live.daemon.commands import LEVELS, RESUMABLE
from negotiator_live.daemon.listener import (
    CommandServer,
    Listener,
    bound_socket,
    serving_passed,
    shared_port_address,
)
from negotiator_live.daemon.request import AdsReader
from negotiator_live.master.inheritance import CommandSocket
from negotiator_live.security.policy import AuthMethod, Requirement
from negotiator_live.security.server.handshake import SecureServer
from negotiator_live.security.server.methods import FilesystemVerifier, ServerPolicy, Verifiers
from negotiator_live.security.server.peer import Level, Peer
from negotiator_live.security.server.sessions import ServedSessions
from negotiator_live.security.server.signing_keys import SigningKeys
from negotiator_live.security.server.tokens import TokenVerifier
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.settings import DEFAULT_SIGNING_KEYS, ConfiguredPool
from negotiator_live.wire.addresses import DaemonAddress, Endpoint

#: The daemons of one condor_master, as HTCondor names them (``CONDOR_FAMILY_FQU``).
_FAMILY: Final = Peer("condor@family", FAMILY)
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound


@attrs.frozen(eq=False)
class DaemonListener:
    """A daemon that has its port, and accepts connections from ``begin`` on. ``address`` is what the Negotiator ad publishes."""

    address: DaemonAddress
    _listener: Listener
    _served: ServedSessions

    @property
    def sessions(self) -> int:
        """The number of security sessions of peers."""
        return len(self._served)

    @classmethod
    def open(
        cls, pool: ConfiguredPool, control: PoolControl, own_host: str, negotiator_ads: AdsReader
    ) -> Self:
        """Listen where the settings say.

        :param negotiator_ads: returns the ads of this program, for queries; called by any thread after ``begin``.
        :param own_host: the address of this host towards the pool, published if the port is open on all of them.
        :raises PoolError: the port cannot be used.
        """
        host, port = pool.keys.listen_endpoint
        try:
            listening = bound_socket(host, port)
        except OSError as error:
            raise PoolError(
                f"htcondor: listen: {pool.keys.listen}: {error.strerror or error}; does another negotiator run here?"
            ) from error
        return cls.over(listening, pool, control, own_host, negotiator_ads)

    @classmethod
    def over(
        cls,
        listening: socket.socket,
        pool: ConfiguredPool,
        control: PoolControl,
        own_host: str,
        negotiator_ads: AdsReader,
    ) -> Self:
        """Listen on a socket that listens already, and take it over."""
        return cls._at_port(listening, _server(pool, control, negotiator_ads), own_host)

    @classmethod
    def _at_port(cls, listening: socket.socket, server: CommandServer, own_host: str) -> Self:
        listener = Listener(listening, server.serve)
        host, port = listener.endpoint
        endpoint = Endpoint(own_host if host in _EVERYWHERE else host, port)
        address = DaemonAddress(endpoint, {"noUDP": ""})  # else schedds send RESCHEDULE by UDP
        return cls(address, listener, server.secure.sessions)

    @classmethod
    def inherited(
        cls,
        commands: CommandSocket,
        family: SecuritySession | None,
        pool: ConfiguredPool,
        control: PoolControl,
        own_host: str,
        negotiator_ads: AdsReader,
    ) -> Self:
        """Listen on the socket that condor_master has opened for this program; it stays open after the end.

        :param family: a session of all daemons of condor_master.

        :raises PoolError: condor_shared_port has no address yet.
        """
        server = _server(pool, control, negotiator_ads, commands.shared_port_id)
        if family is not None:
            server.secure.sessions.add_lasting(family.id, family.key, _FAMILY)
        if not commands.shared_port_id:
            return cls._at_port(commands.copy(), server, own_host)
        address = shared_port_address(commands.ad_file, commands.shared_port_id)
        listener = Listener(commands.copy(), serving_passed(server.serve))
        return cls(address, listener, server.secure.sessions)

    def begin(self) -> None:
        """Accept connections from now on.

        :raises PoolError: the machine refuses the threads.
        """
        try:
            self._listener.begin()
        except RuntimeError as error:
            self.close()
            raise PoolError(
                f"htcondor: listen: {error}; raise the limit of threads (TasksMax of systemd, ulimit -u)"
            ) from error

    def close(self) -> None:
        """Close the port and all connections."""
        self._listener.close()


def _server(
    pool: ConfiguredPool, control: PoolControl, negotiator_ads: AdsReader, shared_port_id: str = ""
) -> CommandServer:
    keys = SigningKeys(Path(pool.keys.signing_keys))
    secure, access = _secure_server(pool, keys, shared_port_id), command_access(pool)
    accepts_tokens = any(AuthMethod.IDTOKENS in each.methods for each in secure.policies.values())
    if accepts_tokens and pool.keys.signing_keys != DEFAULT_SIGNING_KEYS and keys.problem():
        control.notice(f"htcondor: signing_keys: {keys.problem()}: no token is accepted")
    return CommandServer(secure, access, control, control.notice, negotiator_ads, pool.keys.timeout)


def command_access(pool: ConfiguredPool) -> CommandAccess:
    """Return who may send which command."""
    required = frozenset(level for level in Level if pool.requirements(level)[0] is Requirement.REQUIRED)
    return CommandAccess(LEVELS, pool.authorization, RESUMABLE, required, pool.keys_of_levels)


def _secure_server(pool: ConfiguredPool, keys: SigningKeys, shared_port_id: str) -> SecureServer:
    policies = {level: ServerPolicy(*pool.requirements(level), pool.methods(level)) for level in Level}
    domain = pool.uid_domain or socket.getfqdn().partition(".")[2] or socket.getfqdn()
    verifiers = Verifiers(
        FilesystemVerifier(domain, shared_port_id=shared_port_id),
        TokenVerifier(keys, pool.trust_domain or domain),
        accepts_claims=any(AuthMethod.CLAIMTOBE in each.methods for each in policies.values()),
    )
    by_command: dict[int, ServerPolicy] = {command: policies[level] for command, level in LEVELS.items()}
    return SecureServer(policies[Level.ALLOW], verifiers, policies=by_command)
