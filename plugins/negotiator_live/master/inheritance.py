"""What condor_master passes on to the daemons that it starts.

Source: ``DaemonCore::Inherit`` and ``DaemonCore::Create_Process`` (``daemon_core.cpp``).
"""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
from typing import Final, Self

import attrs

from negotiator.plugin import PoolError
from negotiator_live.master.handover import Handover
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.wire.addresses import AddressError, DaemonAddress

_INHERIT: Final = "CONDOR_INHERIT"
_PRIVATE: Final = "CONDOR_PRIVATE_INHERIT"
_COOKIE: Final = "CONDOR_PRIVATE_SHARED_PORT_COOKIE"
_SESSION: Final = "SessionKey:"
_FAMILY: Final = "FamilySessionKey:"
_SHARED_PORT: Final = "SharedPort:"
_END: Final = "0"
_TCP: Final = "1"


@attrs.frozen
class CommandSocket:
    """The socket that condor_master has opened for the commands of this process.

    It is a TCP port, or, with a ``shared_port_id``, where condor_shared_port passes on connections for that name.
    ``ad_file`` then has the address of condor_shared_port.
    """

    descriptor: int
    shared_port_id: str = ""
    ad_file: str = ""

    @classmethod
    def parse(cls, inherited: str, ad_file: str = "") -> Self | None:
        """Return the socket that the variable names; None without one."""
        words = iter(inherited.split(" ")[2:])
        while (word := next(words, _END)) != _END:  # connections, which this program does not expect
            next(words, "")
        word = next(words, _END)
        if word.startswith(_SHARED_PORT):
            name, _, rest = word.removeprefix(_SHARED_PORT).partition("*")
            descriptor, shared_port_id = rest.partition("*")[0], name.rpartition("/")[2]
        elif word == _TCP:
            descriptor, shared_port_id = next(words, "").partition("*")[0], ""
        else:
            return None
        if not descriptor.isdecimal():
            return None
        return cls(int(descriptor), shared_port_id, ad_file)

    def copy(self) -> socket.socket:
        """Return the socket with a descriptor of its own.

        :raises PoolError: it is not open.
        """
        try:
            return socket.socket(fileno=os.dup(self.descriptor))
        except OSError as error:
            raise PoolError(
                f"the socket that condor_master opened: {error}: restart condor_master"
            ) from error


@attrs.frozen
class Inheritance:
    """The address of condor_master, and the session in which it accepts commands of this process.

    ``not_responding_timeout`` are the seconds after which condor_master ends a process that hangs. ``commands`` is where this
    process gets commands; None for nowhere. In the session ``family`` all daemons of condor_master may send them.
    """

    master: DaemonAddress
    session: SecuritySession
    not_responding_timeout: int
    commands: CommandSocket | None = None
    family: SecuritySession | None = None

    @classmethod
    def of(cls, handover: Handover) -> Self | None:
        """Return the inheritance of the variables; None if they are not those of this process, or incomplete."""
        parent, _, rest = handover.inherited.partition(" ")
        session = _session(handover.private, _SESSION)
        if parent != str(os.getppid()) or session is None:
            return None
        try:
            master = DaemonAddress.parse(rest.partition(" ")[0])
        except AddressError:
            return None
        commands = CommandSocket.parse(handover.inherited, handover.shared_port_ad_file)
        family = _session(handover.private, _FAMILY)
        return cls(master, session, handover.not_responding_timeout, commands, family)


def _session(private: str, kind: str) -> SecuritySession | None:
    """Return the session of a kind; None without one."""
    texts = (each.removeprefix(kind) for each in private.split() if each.startswith(kind))
    return SecuritySession.of_capability(next(texts, ""))


def take_variables(environment: MutableMapping[str, str]) -> tuple[str, str]:
    """Remove what condor_master passed on from the environment; return it for a ``Handover``."""
    environment.pop(_COOKIE, None)
    return environment.pop(_INHERIT, ""), environment.pop(_PRIVATE, "")
