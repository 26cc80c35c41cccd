"""The settings of HTCondor's negotiator: which plugin reads them, or why they have no effect here.

Source: the HTCondor manual, "Negotiator Daemon Configuration Options"; the parameters that the source of condor_negotiator 25.14
reads, and their defaults in ``param_info.in``. Settings of other daemons, which condor_negotiator does not read, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from negotiator.plugin import KnownSetting

_LOG_OPTIONS: Final = "without condor_master use the options --log-format and --log-level"
_NETWORK: Final = "it tunes the connections of condor_negotiator, which this program does not make"
_MASTER: Final = "negotiator-daemon reads it from HTCondor's own configuration"
_DAEMON: Final = "it configures the process condor_negotiator"
_AD: Final = "the Negotiator ad is sent when the program starts and after each cycle"
_READ_AT_ONCE: Final = "all requests are read before the cycle"
_ALIKE: Final = "which jobs are alike depends on all attributes that expressions read"

#: Settings by which condor_negotiator decides which job gets which slot.
_DECIDING: Final = (
    KnownSetting(
        name="STARTD_AD_REEVAL_EXPR", reason="each cycle uses the slot ads of the pool as they are then"
    ),
)

#: Settings of the daemon: its files, connections, logs and reports.
_OF_THE_DAEMON: Final = tuple(
    KnownSetting(name=name, default=default, reason=reason, hint=hint, decides=False)
    for name, default, reason, hint in (
        ("ACCOUNTANT_DATABASE_FILE", "$(SPOOL)/Accountantnew.log", "accounts are part of the state",
         "read the file once with negotiator userprio --import FILE"),
        ("ACCOUNTANT_HOST", "", "accounts are part of the state", ""),
        ("COLLECTOR_HOST_FOR_NEGOTIATOR", "$(FULL_HOSTNAME)", "the pool is named on the command line", ""),
        ("INSERT_NEGOTIATOR_CYCLE_TEST_DURATION", "0", "it is for tests of HTCondor", ""),
        ("MAX_ACCOUNTANT_DATABASE_SIZE", "1000000", "accounts are part of the state", ""),
        ("MAX_NEGOTIATOR_*", "$(MAX_DEFAULT_LOG)", _MASTER, _LOG_OPTIONS),
        ("MAX_NUM_NEGOTIATOR_*", "", _MASTER, _LOG_OPTIONS),
        ("NEGOTIATION_CYCLE_STATS_LENGTH", "3", "the Negotiator ad describes the last 3 cycles", "all are in the audit log"),
        ("NEGOTIATOR", "$(SBIN)/condor_negotiator", _DAEMON, ""),
        ("NEGOTIATOR_*_LOG", "", _MASTER, _LOG_OPTIONS),
        ("NEGOTIATOR_ADDRESS_FILE", "$(LOG)/.negotiator_address", _DAEMON, ""),
        ("NEGOTIATOR_ADVERTISE_ACCOUNTING", "true", "Accounting ads are sent after each cycle", ""),
        ("NEGOTIATOR_ARGS", "", _DAEMON, ""),
        ("NEGOTIATOR_AUDIT_LOG", "$(SPOOL)/negotiator-audit", _MASTER, ""),
        ("NEGOTIATOR_BUNDLE", "", _MASTER, ""),
        ("NEGOTIATOR_CLASSAD_LIFETIME", "", _AD, ""),
        ("NEGOTIATOR_CLASSAD_USER_MAP_NAMES", "", "who may set priority factors is configured in the bundle",
         "write scheduleracl into pool.yaml"),
        ("NEGOTIATOR_DEBUG", "D_MATCH", _MASTER, _LOG_OPTIONS),
        ("NEGOTIATOR_DEBUG_WAIT", "false", _DAEMON, ""),
        ("NEGOTIATOR_ENVIRONMENT", "", _DAEMON, ""),
        ("NEGOTIATOR_FLAG", "", _DAEMON, ""),
        ("NEGOTIATOR_HOST", "", _DAEMON, ""),
        ("NEGOTIATOR_LOCK", "", _DAEMON, ""),
        ("NEGOTIATOR_LOG", "$(LOG)/NegotiatorLog", _MASTER, _LOG_OPTIONS),
        ("NEGOTIATOR_LOG_KEEP_OPEN", "", _DAEMON, ""),
        ("NEGOTIATOR_MATCH_LOG", "$(LOG)/MatchLog", _MASTER, "without condor_master matches are in the audit log"),
        ("NEGOTIATOR_MAX_FILE_DESCRIPTORS", "", _DAEMON, ""),
        ("NEGOTIATOR_NAME", "", _MASTER, "without condor_master write name below htcondor in pool.yaml"),
        ("NEGOTIATOR_NOT_RESPONDING_TIMEOUT", "", _DAEMON, ""),
        ("NEGOTIATOR_NUM_THREADS", "1", "the number of threads is not configured", ""),
        ("NEGOTIATOR_PORT", "", _DAEMON, ""),
        ("NEGOTIATOR_PREFETCH_REQUESTS", "true", _READ_AT_ONCE, ""),
        ("NEGOTIATOR_PREFETCH_REQUESTS_MAX_TIME", "60", _READ_AT_ONCE, ""),
        ("NEGOTIATOR_PREFETCH_REQUESTS_TIMEOUT", "$(NEGOTIATOR_TIMEOUT)", _READ_AT_ONCE, ""),
        ("NEGOTIATOR_READ_CONFIG_BEFORE_CYCLE", "false", "bundles are read again at SIGHUP",
         "use negotiator run --watch to read a bundle again when it changes"),
        ("NEGOTIATOR_SOCKET_CACHE_SIZE", "500", _NETWORK, ""),
        ("NEGOTIATOR_STATE", "$(SPOOL)/negotiator", _MASTER, ""),
        ("NEGOTIATOR_STATE_FILE", "", "it belongs to condor_had", ""),
        ("NEGOTIATOR_SUPER_ADDRESS_FILE", "", _DAEMON, ""),
        ("NEGOTIATOR_TIMEOUT", "30", _NETWORK, ""),
        ("NEGOTIATOR_UPDATE_AFTER_CYCLE", "false", _AD, ""),
        ("NEGOTIATOR_UPDATE_INTERVAL", "300", _AD, ""),
        ("NEGOTIATOR_USE_NONBLOCKING_STARTD_CONTACT", "true", _NETWORK, ""),
        ("NEGOTIATOR_USE_SHARED_PORT", "", _NETWORK, ""),
        ("NEG_SLEEP", "0", "it is for tests of HTCondor", ""),
        ("NICE_USER_ACCOUNTING_GROUP_NAME", "nice-user", "condor_submit reads it; accounts of nice users begin with nice-user",
         ""),
        ("REMOVE_SIGNIFICANT_ATTRIBUTES", "CpusUsage,DiskUsage,GPUsUsage,MemoryUsage,ResidentSetSize", _ALIKE, ""),
        ("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX", "^Slot[0-9]*_", _ALIKE, ""),
        ("SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION", "true", "matches have the claim ids of startds, without sessions of their own",
         ""),
        ("SPOOL", "$(LOCAL_DIR)/spool", "accounts are part of the state", ""),
        ("STARTD_JOB_ATTRS", "", _ALIKE, ""),
        ("STARTD_JOB_EXPRS", "", _ALIKE, ""),
        ("SYSTEM_STARTD_JOB_ATTRS",
         ("ImageSize, ExecutableSize, JobUniverse, NiceUser, CPUsUsage, ResidentSetSize, ProportionalSetSizeKb, MemoryUsage, "
          "DiskUsage, StdoutMtime, StderrMtime, ScratchDirFileCount"), _ALIKE, ""),
        ("TRUNC_NEGOTIATOR_LOG_ON_OPEN", "false", _DAEMON, ""),
        ("USERPRIO_USE_NEGOTIATOR_MODULAR_QUERY", "true", "it belongs to condor_userprio", ""),
    )
)  # fmt: skip

#: Settings of other daemons that look like misspelled limits of a name.
_LIMITS_OF_OTHERS: Final = tuple(
    KnownSetting(name=name, default=default, reason="it belongs to other daemons", decides=False)
    for name, default in (
        ("CLAIM_RECYCLING_CONSIDER_LIMITS", "true"),
        ("SCHEDD_ENABLE_PER_USER_MATCH_LIMITS", ""),
        ("SEC_IMPERSONATION_TOKEN_LIMITS", ""),
        ("SEC_TOKEN_REQUEST_LIMITS", ""),
        ("STARTD_ENFORCE_DISK_LIMITS", "false"),
    )
)

#: Names that no other entry has.
_UNKNOWN: Final = (
    KnownSetting(name="NEGOTIATOR_*", reason="HTCondor's negotiator has no setting of this name"),
)

WITHOUT_EFFECT: Final = (*_DECIDING, *_OF_THE_DAEMON, *_LIMITS_OF_OTHERS, *_UNKNOWN)


#: The defaults of the settings that plugins read, by plugin.
_READ: Final[Mapping[str, Mapping[str, str]]] = {
    "the core": {
        "NEGOTIATOR_CYCLE_DELAY": "20",
        "NEGOTIATOR_INTERVAL": "60",
        "NEGOTIATOR_MATCH_EXPRS": "",
        "NEGOTIATOR_MAX_TIME_PER_CYCLE": "1200",
        "NEGOTIATOR_MAX_TIME_PER_PIESPIN": "120",
        "NEGOTIATOR_MAX_TIME_PER_SCHEDD": "120",
        "NEGOTIATOR_MAX_TIME_PER_SUBMITTER": "60",
        "NEGOTIATOR_MIN_INTERVAL": "5",
    },
    "expressions": {
        "NEGOTIATOR_JOB_CONSTRAINT": "",
        "NEGOTIATOR_SLOT_CONSTRAINT": "",
        "NEGOTIATOR_SUBMITTER_CONSTRAINT": "",
    },
    "condor": {
        "CONCURRENCY_LIMIT_DEFAULT": "2308032",
        "CONCURRENCY_LIMIT_DEFAULT_*": "",
        "*_LIMIT": "",
    },
    "live": {"NEGOTIATOR_INFORM_STARTD": "false"},
    "fairshare": {
        "ACCOUNTANT_LOCAL_DOMAIN": "",
        "ALLOW_PSLOT_PREEMPTION": "false",
        "DEFAULT_PRIO_FACTOR": "1000",
        "FORCE_NEGOTIATOR_SLOT_WEIGHT": "false",
        "GROUP_ACCEPT_SURPLUS": "false",
        "GROUP_ACCEPT_SURPLUS_*": "",
        "GROUP_AUTOREGROUP": "false",
        "GROUP_AUTOREGROUP_*": "",
        "GROUP_DYNAMIC_MACH_CONSTRAINT": "",
        "GROUP_NAMES": "",
        "GROUP_PRIO_FACTOR_*": "",
        "GROUP_QUOTA_*": "",
        "GROUP_QUOTA_DYNAMIC_*": "",
        "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS": "3",
        "GROUP_QUOTA_ROUND_ROBIN_RATE": "1.0e100",
        "GROUP_SORT_EXPR": 'ifThenElse(AccountingGroup=?="<none>",3.4e+38,ifThenElse(GroupQuota>0,'
        "GroupResourcesInUse/GroupQuota,3.3e+38))",
        "HFS_MAX_ALLOCATION_ROUNDS": "3",
        "HFS_ROUND_ROBIN_RATE": "",
        "MATCH_WORKING_CM_SLOTS": "false",
        "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION": "true",
        "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION": "false",
        "NEGOTIATOR_CONSIDER_PREEMPTION": "true",
        "NEGOTIATOR_CROSS_SLOT_PRIOS": "false",
        "NEGOTIATOR_DEPTH_FIRST": "false",
        "NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES": "false",
        "NEGOTIATOR_IGNORE_JOB_RANKS": "false",
        "NEGOTIATOR_IGNORE_USER_PRIORITIES": "false",
        "NEGOTIATOR_MATCHLIST_CACHING": "true",
        "NEGOTIATOR_POST_JOB_RANK": "(RemoteOwner =?= UNDEFINED) * (ifthenElse(isUndefined(KFlops), 1000, Kflops) - SlotID - "
        "1.0e10*(Offline=?=True))",
        "NEGOTIATOR_PRE_JOB_RANK": "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED)) - (100000 * Cpus) - Memory",
        "NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE": "200",
        "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT": "",
        "NEGOTIATOR_STRICT_ENFORCE_QUOTA": "true",
        "NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD": "0",
        "NEGOTIATOR_USE_SLOT_WEIGHTS": "true",
        "NEGOTIATOR_USE_WEIGHTED_DEMAND": "true",
        "NICE_USER_PRIO_FACTOR": "1e10",
        "PREEMPTION_RANK": "(RemoteUserPrio * 1000000) - ifThenElse(isUndefined(TotalJobRuntime), 0, TotalJobRuntime)",
        "PREEMPTION_RANK_STABLE": "true",
        "PREEMPTION_REQUIREMENTS": "False",
        "PREEMPTION_REQUIREMENTS_STABLE": "true",
        "PRIORITY_HALFLIFE": "86400",
        "REMOTE_PRIO_FACTOR": "1e7",
        "SLOT_WEIGHT": "Cpus",
        "STARTD_RESOURCE_PREFIX": "",
        "USE_GLOBAL_JOB_PRIOS": "false",
        "USE_RESOURCE_REQUEST_COUNTS": "true",
    },
}


def _all() -> Iterator[KnownSetting]:
    for plugin, defaults in _READ.items():
        for name, default in defaults.items():
            yield KnownSetting(name=name, default=default, plugin=plugin)
    yield from WITHOUT_EFFECT


KNOWN: Final = tuple(_all())
