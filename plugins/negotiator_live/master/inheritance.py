"""What condor_master passes on to the daemons that it starts.

Source: ``DaemonCore::Inherit`` and ``DaemonCore::Create_Process`` (``daemon_core.cpp``).
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import MutableMapping
from typing import Final, Self

import attrs

from negotiator_live.security.sessions import SecuritySession
from negotiator_live.wire.addresses import AddressError, DaemonAddress

_INHERIT: Final = "CONDOR_INHERIT"
_PRIVATE: Final = "CONDOR_PRIVATE_INHERIT"
_COOKIE: Final = "CONDOR_PRIVATE_SHARED_PORT_COOKIE"
_SESSION: Final = "SessionKey:"
#: The file descriptor from which the program reads its inheritance after ``exec``: an environment could be seen by its children.
_DESCRIPTOR: Final = "_NEGOTIATOR_INHERITANCE"
_LONGEST: Final = 1 << 16  # bytes, which a pipe takes without a reader


@attrs.frozen
class Inheritance:
    """The address of condor_master, and the session in which it accepts commands of this process.

    ``not_responding_timeout`` are the seconds after which condor_master ends a process that hangs.
    """

    master: DaemonAddress
    session: SecuritySession
    not_responding_timeout: int

    @classmethod
    def parse(cls, inherited: str, private: str, not_responding_timeout: int) -> Self | None:
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
        return cls(master, session, not_responding_timeout)


def hand_on(environment: MutableMapping[str, str], not_responding_timeout: int) -> int:
    """Move what condor_master passed on from the environment to a pipe; return its descriptor, for the next program.

    :raises OSError: no pipe can be made, or the environment has more than it takes.
    """
    texts = [environment.pop(name, "") for name in (_INHERIT, _PRIVATE)]
    environment.pop(_COOKIE, None)
    content = json.dumps([*texts, not_responding_timeout]).encode()
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
            inherited, private, timeout = json.loads(pipe.read(_LONGEST))
    except (OSError, ValueError):
        return None
    return Inheritance.parse(inherited, private, timeout)
