"""The commands of HTCondor's daemons that a negotiator sends or serves, and the authorization that each needs.

Source: ``condor_commands.h``; the levels are those with which each daemon registers the command.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class DaemonCommand(IntEnum):
    """A command, or a message within one."""

    QUERY_STARTD_ADS = 5
    QUERY_SCHEDD_ADS = 6
    QUERY_STARTD_PVT_ADS = 10
    QUERY_SUBMITTOR_ADS = 12
    UPDATE_NEGOTIATOR_AD = 25
    QUERY_NEGOTIATOR_ADS = 45
    QUERY_ANY_ADS = 48
    QUERY_MULTIPLE_ADS = 53
    QUERY_MULTIPLE_PVT_ADS = 54
    SHARED_PORT_CONNECT = 75
    GET_PRIORITY_AD = 78
    NEGOTIATE = 416
    NO_MORE_JOBS = 418
    JOB_INFO = 419
    RESCHEDULE = 421
    END_NEGOTIATE = 425
    REJECTED = 426
    SET_PRIORITY = 449
    GET_PRIORITY = 451
    RESET_USAGE = 458
    SET_PRIORITYFACTOR = 459
    RESET_ALL_USAGE = 460
    GET_RESLIST = 463
    PERMISSION_AND_AD = 472
    REJECTED_WITH_REASON = 476
    DELETE_USER = 482
    SET_ACCUMUSAGE = 494
    SET_BEGINTIME = 495
    SET_LASTTIME = 496
    GET_PRIORITY_ROLLUP = 514
    QUERY_JOB_ADS = 516
    SEND_RESOURCE_REQUEST_LIST = 518
    SET_CEILING = 525
    SET_FLOOR = 530
    DC_AUTHENTICATE = 60010
    DC_SEC_QUERY = 60040


_LEVELS: Final = {
    DaemonCommand.QUERY_STARTD_PVT_ADS: "NEGOTIATOR",
    DaemonCommand.QUERY_MULTIPLE_PVT_ADS: "NEGOTIATOR",
    DaemonCommand.UPDATE_NEGOTIATOR_AD: "NEGOTIATOR",
    DaemonCommand.NEGOTIATE: "NEGOTIATOR",
}


def authorization(command: DaemonCommand) -> str:
    """Return the authorization level that a daemon requires for a command that a negotiator sends."""
    return _LEVELS.get(command, "READ")
