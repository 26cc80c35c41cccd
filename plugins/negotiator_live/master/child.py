"""What condor_master expects of this process, whatever its pool is: signs of life, and a log that does not grow for ever."""

from __future__ import annotations

from typing import Final

from negotiator.plugin import PoolControl
from negotiator_live.master.background import repeat
from negotiator_live.master.handover import handover
from negotiator_live.master.inheritance import Inheritance
from negotiator_live.master.keep_alive import KeepAlive
from negotiator_live.master.log_file import LogFile

_LOG_PAUSE: Final = 1.0  # seconds between two looks at the size of the log


def begin(control: PoolControl) -> Inheritance | None:
    """Begin it, for as long as the process lives; return what condor_master passed on, None if it did not start this process."""
    received = handover()
    if received is None:
        return None
    if received.log:
        log = LogFile.of(received)
        repeat("log", _LOG_PAUSE, lambda: _look(log, control))
    inherited = Inheritance.of(received)
    if inherited is not None:
        sender = KeepAlive(inherited, control)
        repeat("keep_alive", sender.pause, sender.look)
    return inherited


def _look(log: LogFile, control: PoolControl) -> None:
    try:
        log.look()
    except OSError as error:
        control.notice(
            f"{log.path}: the log cannot be replaced: {error.strerror or error}: it goes on in the old one"
        )
