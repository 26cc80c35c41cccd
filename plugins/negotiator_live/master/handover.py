"""What ``negotiator-daemon`` hands on to the program that it becomes: by a pipe, for processes that it starts see its environment."""

from __future__ import annotations

import functools
import json
import os
import socket
from collections.abc import MutableMapping
from typing import Final, Self

import attrs

_DESCRIPTOR: Final = "_NEGOTIATOR_HANDOVER"
_DAEMON_USERS: Final = ("root", "condor")
_LONGEST: Final = 1 << 16  # bytes, which a pipe takes without a reader


@attrs.frozen(kw_only=True)
class Handover:
    """The variables of condor_master, ``inherited`` and ``private`` (which has keys), and settings of HTCondor.

    ``local_name`` is the daemon's name for settings of its own.
    ``not_responding_timeout`` are the seconds after which condor_master ends a process that hangs. ``shared_port_ad_file`` has the
    address of condor_shared_port. ``log`` is the file of standard output and error, empty for none; ``log_limit`` says when it is
    replaced, and ``logs_kept`` how many old ones remain; ``match_log`` is the same of MatchLog. ``debug`` (``NEGOTIATOR_DEBUG``),
    ``debug_time_format`` and ``logs_use_timestamp`` are the form of lines. ``program`` is the file that condor_master started,
    ``local_name`` its name for settings. ``host`` is the full name of this host, ``name`` the configured one of the daemon.
    """

    local_name: str = ""
    inherited: str = ""
    private: str = attrs.field(default="", repr=False)
    not_responding_timeout: int = 3600
    shared_port_ad_file: str = ""
    log: str = ""
    log_limit: str = "0"
    logs_kept: int = 1
    match_log: str = ""
    match_log_limit: str = "0"
    match_logs_kept: int = 1
    debug: str = ""
    debug_time_format: str = ""
    logs_use_timestamp: bool = False
    program: str = "negotiator-daemon"
    host: str = ""
    name: str = ""

    def send(self, environment: MutableMapping[str, str]) -> int:
        """Write it to a pipe that the environment names; return the descriptor, which stays open for the next program.

        :raises OSError: no pipe can be made, or it would be full.
        """
        content = json.dumps(attrs.asdict(self)).encode()
        if len(content) > _LONGEST:
            raise OSError(f"CONDOR_INHERIT and CONDOR_PRIVATE_INHERIT have more than {_LONGEST} bytes")
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        os.set_inheritable(reading, True)
        environment[_DESCRIPTOR] = str(reading)
        return reading

    @classmethod
    def receive(cls, environment: MutableMapping[str, str]) -> Self | None:
        """Return what was written to the pipe that the environment names, and close it; None if it names none."""
        descriptor = environment.pop(_DESCRIPTOR, "")
        if not descriptor.isdecimal():
            return None
        try:
            with os.fdopen(int(descriptor), "rb") as pipe:
                return cls(**json.loads(pipe.read(_LONGEST)))
        except (OSError, ValueError, TypeError):
            return None


@functools.cache
def handover() -> Handover | None:
    """Return what was handed on to this process; None if ``negotiator-daemon`` did not start it."""
    return Handover.receive(os.environ)


def host_name() -> str:
    """Return the full name of this host, as the pool's daemons have it."""
    received = handover()
    return (received.host if received is not None else "") or socket.getfqdn()


def daemon_name() -> str:
    """Return the name of this daemon by HTCondor's rules: that of the host unless ``NEGOTIATOR_NAME`` has another one.

    A name without host, and a daemon that another user runs, get the host after an ``@``. Source: ``build_valid_daemon_name``
    and ``default_daemon_name`` (``get_daemon_name.cpp``).
    """
    received, host = handover(), host_name()
    name = received.name if received is not None else ""
    if not name:
        try:
            import pwd  # noqa: PLC0415 - missing on Windows

            user = pwd.getpwuid(os.getuid()).pw_name
        except (ImportError, KeyError):
            return host
        return host if user in _DAEMON_USERS else f"{user}@{host}"
    return name if "@" in name or name == host else f"{name}@{host}"
