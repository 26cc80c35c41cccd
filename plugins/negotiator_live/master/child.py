"""What condor_master expects of this process, whatever its pool is: signs of life, and logs that do not grow for ever."""

from __future__ import annotations

from typing import Final

from negotiator.plugin import PoolControl
from negotiator_live.master.background import repeat
from negotiator_live.master.daemon_log import DaemonLog, daemon_log
from negotiator_live.master.handover import handover
from negotiator_live.master.inheritance import Inheritance
from negotiator_live.master.keep_alive import KeepAlive
from negotiator_live.master.log_file import LogFile

_LOG_PAUSE: Final = 1.0  # seconds between two looks at the size of the log


def begin(control: PoolControl) -> tuple[Inheritance | None, DaemonLog]:
    """Begin it, for as long as the process lives.

    Return what condor_master passed on, None if it did not start this process, and the log for lines of the pool.
    """
    received = handover()
    pool_log = daemon_log(received)
    if received is None:
        return None, pool_log
    logs = [LogFile.of(received)] if received.log else []
    if pool_log.match_log is not None:
        logs.append(pool_log.match_log)
    if logs:
        repeat("log", _LOG_PAUSE, lambda: _look(logs, control))
    inherited = Inheritance.of(received)
    if inherited is not None:
        sender = KeepAlive(inherited, control)
        repeat("keep_alive", sender.pause, sender.look)
    return inherited, pool_log


def _look(logs: list[LogFile], control: PoolControl) -> None:
    for log in logs:
        try:
            log.look()
        except OSError as error:
            control.notice(
                f"{log.path}: the log cannot be replaced: {error.strerror or error}: it goes on in the old one"
            )
