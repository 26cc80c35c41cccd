"""The settings of HTCondor's negotiator: which plugin reads them, or why they have no effect here.

Source: the HTCondor manual, "Negotiator Daemon Configuration Options"; the parameters that the source of condor_negotiator 25.14
reads, and their defaults in ``param_info.in``. Settings of other daemons, which condor_negotiator does not read, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from negotiator.plugin import KnownSetting
from negotiator_condor.settings_without_effect import WITHOUT_EFFECT

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
