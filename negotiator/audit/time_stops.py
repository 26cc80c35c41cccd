"""The records of time limits that were reached: what a replay of the cycle needs to decide the same."""

from __future__ import annotations

from collections.abc import Iterable

from negotiator.audit.values import Record, bounded, reason_fields
from negotiator.cycle.cycle_time import ReachedLimit, TimeStop
from negotiator.hooks.turn_time import TimeLimit

#: The kind of these records.
KIND = "time_stop"


def stop_fields(reached: ReachedLimit) -> Record:
    """Return the fields of a limit that was reached."""
    stop = reached.stop
    return {
        "limit": str(stop.limit),
        "submitter": bounded(stop.submitter),
        "schedd": bounded(stop.schedd),
        "turn": stop.turn,
        "reason": reason_fields(reached.reason),
    }


def recorded_stops(records: Iterable[Record]) -> tuple[TimeStop, ...]:
    """Return the stops among the records of one cycle, for ``RecordedTime``.

    :raises KeyError, ValueError: a record does not have the fields that this version writes.
    """
    return tuple(
        TimeStop(TimeLimit(each["limit"]), each["submitter"], each["schedd"], each["turn"])
        for each in records
        if each["kind"] == KIND
    )
