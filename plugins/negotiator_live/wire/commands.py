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
    QUERY_ANY_ADS = 48
    UPDATE_NEGOTIATOR_AD = 49
    QUERY_NEGOTIATOR_ADS = 50
    INVALIDATE_NEGOTIATOR_ADS = 51
    QUERY_MULTIPLE_ADS = 53
    QUERY_MULTIPLE_PVT_ADS = 54
    MERGE_STARTD_AD = 73
    SHARED_PORT_CONNECT = 75
    UPDATE_ACCOUNTING_AD = 77
    QUERY_ACCOUNTING_ADS = 78
    INVALIDATE_ACCOUNTING_ADS = 79
    NEGOTIATE = 416
    NO_MORE_JOBS = 418
    JOB_INFO = 419
    RESCHEDULE = 421
    END_NEGOTIATE = 425
    REJECTED = 426
    MATCH_INFO = 440
    SET_PRIORITY = 449
    GET_PRIORITY = 451
    CONFIG_VAL = 457
    RESET_USAGE = 458
    SET_PRIORITYFACTOR = 459
    RESET_ALL_USAGE = 460
    GET_RESLIST = 463
    VACATE_CLAIM = 465
    PERMISSION_AND_AD = 472
    VACATE_CLAIM_FAST = 475
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
    MANAGE_CEILING = 532
    MANAGE_FLOOR = 533
    MANAGE_PRIORITY_FACTOR = 534
    DC_CONFIG_PERSIST = 60002
    DC_CONFIG_RUNTIME = 60003
    DC_RECONFIG = 60004
    DC_OFF_GRACEFUL = 60005
    DC_OFF_FAST = 60006
    DC_CONFIG_VAL = 60007
    DC_CHILDALIVE = 60008
    DC_AUTHENTICATE = 60010
    DC_NOP = 60011
    DC_RECONFIG_FULL = 60012
    DC_FETCH_LOG = 60013
    DC_OFF_PEACEFUL = 60015
    DC_NOP_READ = 60020
    DC_NOP_WRITE = 60021
    DC_NOP_NEGOTIATOR = 60022
    DC_NOP_ADMINISTRATOR = 60023
    DC_NOP_OWNER = 60024
    DC_NOP_CONFIG = 60025
    DC_NOP_DAEMON = 60026
    DC_NOP_ADVERTISE_STARTD = 60027
    DC_NOP_ADVERTISE_SCHEDD = 60028
    DC_NOP_ADVERTISE_MASTER = 60029
    DC_SEC_QUERY = 60040
    DC_OFF_FORCE = 60042
    DC_QUERY_INSTANCE = 60045


_LEVELS: Final = {
    "NEGOTIATOR": (
        DaemonCommand.QUERY_STARTD_PVT_ADS,
        DaemonCommand.QUERY_MULTIPLE_PVT_ADS,
        DaemonCommand.UPDATE_NEGOTIATOR_AD,
        DaemonCommand.MERGE_STARTD_AD,
        DaemonCommand.UPDATE_ACCOUNTING_AD,
        DaemonCommand.INVALIDATE_NEGOTIATOR_ADS,
        DaemonCommand.INVALIDATE_ACCOUNTING_ADS,
        DaemonCommand.NEGOTIATE,
    ),
    "DAEMON": (DaemonCommand.RESCHEDULE, DaemonCommand.DC_CHILDALIVE),
    "WRITE": (DaemonCommand.SET_PRIORITYFACTOR,),
    "ADMINISTRATOR": (
        DaemonCommand.VACATE_CLAIM,
        DaemonCommand.VACATE_CLAIM_FAST,
        DaemonCommand.SET_PRIORITY,
        DaemonCommand.SET_CEILING,
        DaemonCommand.SET_FLOOR,
        DaemonCommand.MANAGE_CEILING,
        DaemonCommand.MANAGE_FLOOR,
        DaemonCommand.MANAGE_PRIORITY_FACTOR,
        DaemonCommand.SET_ACCUMUSAGE,
        DaemonCommand.SET_BEGINTIME,
        DaemonCommand.SET_LASTTIME,
        DaemonCommand.RESET_USAGE,
        DaemonCommand.RESET_ALL_USAGE,
        DaemonCommand.DELETE_USER,
    ),
}
_LEVEL_OF: Final = {command: level for level, commands in _LEVELS.items() for command in commands}


def authorization(command: DaemonCommand) -> str:
    """Return the authorization level with which daemons register a command; READ if none is higher."""
    return _LEVEL_OF.get(command, "READ")
