"""Use case: whether the negotiator of a state runs and works, for administrators and monitoring."""

from __future__ import annotations

import enum
from typing import Final

import attrs

from negotiator.exit_codes import ExitCode
from negotiator.hooks.state_location import StateLocation
from negotiator.runtime.state import StateStore
from negotiator.runtime.status_file import NegotiatorStatus as NegotiatorStatus
from negotiator.runtime.status_file import is_locked, read_status

#: Seconds by which a cycle may begin or end late: a busy machine, or the reading of a large pool.
LATE: Final = 300.0


class Health(enum.StrEnum):
    """How a negotiator is; ``exit_code`` is that of ``negotiator status``."""

    HEALTHY = "healthy"
    STANDBY = "standby"
    NOT_RUNNING = "not running"
    OVERDUE = "overdue"
    NO_CYCLE = "no cycle"
    UNANSWERED = "unanswered"
    PLUGIN_FAILED = "plugin failed"
    PLUGIN_CALL = "plugin call goes on"

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code."""
        return _CODES[self]

    @property
    def is_sound(self) -> bool:
        """True if nothing is wrong: the negotiator works, or is ready to take over from the one that does."""
        return self.exit_code is ExitCode.DONE


_CODES: Final = {
    Health.HEALTHY: ExitCode.DONE,
    Health.STANDBY: ExitCode.DONE,
    Health.NOT_RUNNING: ExitCode.NOT_DONE,
    Health.OVERDUE: ExitCode.NOT_DONE,
    Health.NO_CYCLE: ExitCode.POOL,
    Health.UNANSWERED: ExitCode.POOL,
    Health.PLUGIN_FAILED: ExitCode.PLUGIN,
    Health.PLUGIN_CALL: ExitCode.PLUGIN,
}


@attrs.frozen
class HealthReport:
    """The health of the negotiator of a state. ``status`` is the last one that it wrote; None if none has run yet."""

    health: Health
    text: str
    status: NegotiatorStatus | None


def negotiator_health(location: StateLocation, now: float) -> HealthReport:
    """Return the health of the negotiator of a state.

    :param now: the time in seconds since the epoch.
    A shared state is not looked at: the files in the folder are of the negotiator of this host.

    :raises StateError: there is no state in the folder, or it cannot be read.
    """
    if location.database is None:
        StateStore.require(location)
    status = read_status(location.folder)
    locked = is_locked(location.folder)
    runs = status is not None and status.is_alive if locked is None else locked
    if status is None:
        return HealthReport(Health.NOT_RUNNING, "no negotiator has written its status yet", None)
    if not runs:
        return HealthReport(Health.NOT_RUNNING, "no negotiator uses this state", status)
    health, text = _of_running(status, now)
    return HealthReport(health, text, status)


def _of_running(status: NegotiatorStatus, now: float) -> tuple[Health, str]:
    call = status.plugin_call
    if call is not None:
        about = f" ({call.about})" if call.about else ""
        return Health.PLUGIN_CALL, f"{call.call} has run for {now - call.since:.0f} s{about}"
    if status.cycle_since is not None and now > status.cycle_since + status.cycle_limit + LATE:
        return Health.OVERDUE, f"the present cycle has not ended in {now - status.cycle_since:.0f} s"
    if status.cycle_since is None and status.next_cycle is not None and now > status.next_cycle + LATE:
        return Health.OVERDUE, f"the next cycle is {now - status.next_cycle:.0f} s late"
    if status.failure:
        return Health.NO_CYCLE, status.failure
    if status.standby:
        return Health.STANDBY, status.standby
    last = status.last
    if last is not None and last.unanswered:
        return Health.UNANSWERED, "; ".join(last.unanswered)
    if last is not None and last.plugins:
        return Health.PLUGIN_FAILED, f"failed in the last cycle: {', '.join(last.plugins)}"
    if last is None and status.cycle_since is not None:
        return Health.HEALTHY, f"the first cycle runs since {max(0.0, now - status.cycle_since):.0f} s"
    return Health.HEALTHY, "" if last else "no cycle has begun yet"
