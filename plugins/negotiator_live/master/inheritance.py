"""What condor_master passes on to the daemons that it starts.

Source: ``DaemonCore::Inherit`` and ``DaemonCore::Create_Process`` (``daemon_core.cpp``).
"""

from __future__ import annotations

import functools
import json
import os
import socket
from collections.abc import Mapping, MutableMapping
from typing import Final, Self

import attrs

from negotiator.plugin import PoolError
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.wire.addresses import AddressError, DaemonAddress

_INHERIT: Final = "CONDOR_INHERIT"
_PRIVATE: Final = "CONDOR_PRIVATE_INHERIT"
_COOKIE: Final = "CONDOR_PRIVATE_SHARED_PORT_COOKIE"
_SESSION: Final = "SessionKey:"
_SHARED_PORT: Final = "SharedPort:"
_END: Final = "0"
_TCP: Final = "1"
#: The file descriptor from which the program reads its inheritance after ``exec``: an environment could be seen by its children.
_DESCRIPTOR: Final = "_NEGOTIATOR_INHERITANCE"
_LONGEST: Final = 1 << 16  # bytes, which a pipe takes without a reader


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
    def parse(cls, inherited: str, ad_file: str) -> Self | None:
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
    process gets commands; None for nowhere.
    """

    master: DaemonAddress
    session: SecuritySession
    not_responding_timeout: int
    commands: CommandSocket | None = None

    @classmethod
    def parse(
        cls, inherited: str, private: str, not_responding_timeout: int, shared_port_ad_file: str = ""
    ) -> Self | None:
        """Return the inheritance of both variables; None if they are not those of this process, or incomplete."""
        parent, _, rest = inherited.partition(" ")
        texts = [each.removeprefix(_SESSION) for each in private.split() if each.startswith(_SESSION)]
        session = SecuritySession.of_capability(texts[0]) if texts else None
        if parent != str(os.getppid()) or session is None:
            return None
        try:
            master = DaemonAddress.parse(rest.partition(" ")[0])
        except AddressError:
            return None
        return cls(
            master, session, not_responding_timeout, CommandSocket.parse(inherited, shared_port_ad_file)
        )


def inherited_descriptors(environment: Mapping[str, str]) -> list[int]:
    """Return the open file descriptors that condor_master passed on, as far as this program uses them."""
    commands = CommandSocket.parse(environment.get(_INHERIT, ""), "")
    return [] if commands is None else [commands.descriptor]


def hand_on(
    environment: MutableMapping[str, str], not_responding_timeout: int, shared_port_ad_file: str = ""
) -> int:
    """Move what condor_master passed on from the environment to a pipe; return its descriptor, for the next program.

    :raises OSError: no pipe can be made, or the environment has more than it takes.
    """
    for each in inherited_descriptors(environment):
        os.set_inheritable(each, True)
    texts = [environment.pop(name, "") for name in (_INHERIT, _PRIVATE)]
    environment.pop(_COOKIE, None)
    content = json.dumps([*texts, not_responding_timeout, shared_port_ad_file]).encode()
    if len(content) > _LONGEST:
        raise OSError(f"{_INHERIT} and {_PRIVATE} have more than {_LONGEST} bytes")
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    os.set_inheritable(reading, True)
    environment[_DESCRIPTOR] = str(reading)
    return reading


@functools.cache
def inheritance() -> Inheritance | None:
    """Return what condor_master passed on to this process; None if it was not started by condor_master."""
    descriptor = os.environ.pop(_DESCRIPTOR, "")
    if not descriptor.isdecimal():
        return None
    try:
        with os.fdopen(int(descriptor), "rb") as pipe:
            inherited, private, timeout, ad_file = json.loads(pipe.read(_LONGEST))
    except (OSError, ValueError):
        return None
    return Inheritance.parse(inherited, private, timeout, ad_file)
