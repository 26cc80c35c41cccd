"""What ``negotiator-daemon`` hands on to the program that it becomes: by a pipe, for processes that it starts see its environment."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import MutableMapping
from typing import Final, Self

import attrs

_DESCRIPTOR: Final = "_NEGOTIATOR_HANDOVER"
_LONGEST: Final = 1 << 16  # bytes, which a pipe takes without a reader


@attrs.frozen(kw_only=True)
class Handover:
    """The variables of condor_master, ``inherited`` and ``private`` (which has keys), and settings of HTCondor.

    ``local_name`` is the daemon's name for settings of its own.
    ``not_responding_timeout`` are the seconds after which condor_master ends a process that hangs. ``shared_port_ad_file`` has the
    address of condor_shared_port. ``log`` is the file of standard output and error, empty for none; ``log_limit`` says when it is
    replaced, and ``logs_kept`` how many old ones remain.
    """

    local_name: str = ""
    inherited: str = ""
    private: str = attrs.field(default="", repr=False)
    not_responding_timeout: int = 3600
    shared_port_ad_file: str = ""
    log: str = ""
    log_limit: str = "0"
    logs_kept: int = 1

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
