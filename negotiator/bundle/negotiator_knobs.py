"""The settings of HTCondor's negotiator that decide who gets what, and that this program does not read.

Source: the HTCondor manual, "Configuration Macros", those of condor_negotiator, and the defaults that HTCondor 25.14 prints
(``condor_config_val -dump``). A setting that has its default value asks for nothing.
"""

from __future__ import annotations

import re
from typing import Final

DEFAULTS: Final = {
    "accountant_local_domain": "",
    "allow_pslot_preemption": "false",
    "default_prio_factor": "1000",
    "force_negotiator_slot_weight": "false",
    "group_accept_surplus": "false",
    "group_autoregroup": "false",
    "group_names": "",
    "group_quota_max_allocation_rounds": "3",
    "group_quota_round_robin_rate": "1.0e100",
    "group_sort_expr": 'ifThenElse(AccountingGroup=?="<none>",3.4e+38,ifThenElse(GroupQuota>0,'
    "GroupResourcesInUse/GroupQuota,3.3e+38))",
    "negotiator_allow_quota_oversubscription": "true",
    "negotiator_consider_early_preemption": "false",
    "negotiator_consider_preemption": "true",
    "negotiator_cross_slot_prios": "false",
    "negotiator_cycle_delay": "20",
    "negotiator_depth_first": "false",
    "negotiator_discount_suspended_resources": "false",
    "negotiator_ignore_job_ranks": "false",
    "negotiator_ignore_user_priorities": "false",
    "negotiator_inform_startd": "false",
    "negotiator_interval": "60",
    "negotiator_match_exprs": "",
    "negotiator_matchlist_caching": "true",
    "negotiator_max_time_per_cycle": "1200",
    "negotiator_max_time_per_piespin": "120",
    "negotiator_max_time_per_schedd": "120",
    "negotiator_max_time_per_submitter": "60",
    "negotiator_min_interval": "5",
    "negotiator_num_threads": "1",
    "negotiator_post_job_rank": "(RemoteOwner =?= UNDEFINED) * (ifthenElse(isUndefined(KFlops), 1000, Kflops) - SlotID - "
    "1.0e10*(Offline=?=True))",
    "negotiator_pre_job_rank": "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED)) - (100000 * Cpus) - Memory",
    "negotiator_prefetch_requests": "true",
    "negotiator_prefetch_requests_max_time": "60",
    "negotiator_read_config_before_cycle": "false",
    "negotiator_resource_request_list_size": "200",
    "negotiator_slot_poolsize_constraint": "",
    "negotiator_strict_enforce_quota": "true",
    "negotiator_trim_shutdown_threshold": "0",
    "negotiator_update_after_cycle": "false",
    "negotiator_update_interval": "300",
    "negotiator_use_slot_weights": "true",
    "negotiator_use_weighted_demand": "true",
    "nice_user_accounting_group_name": "nice-user",
    "nice_user_prio_factor": "1e10",
    "preemption_rank": "(RemoteUserPrio * 1000000) - ifThenElse(isUndefined(TotalJobRuntime), 0, TotalJobRuntime)",
    "preemption_rank_stable": "true",
    "preemption_requirements": "False",
    "preemption_requirements_stable": "true",
    "priority_halflife": "86400",
    "remote_prio_factor": "1e7",
    "slot_weight": "Cpus",
    "startd_ad_reeval_expr": "",
    "use_global_job_prios": "false",
    "use_resource_request_counts": "true",
}
EMPTY: Final = frozenset(
    {"negotiator_job_constraint", "negotiator_slot_constraint", "negotiator_submitter_constraint"}
)
"""Settings that are read here, and that are empty in HTCondor's defaults."""

_FAMILIES = re.compile(
    r"negotiator_\w+|group_(?:quota|quota_dynamic|prio_factor|accept_surplus|autoregroup|sort_expr)_.+"
    r"|concurrency_limit_default_.+|\w+_limit"
)
# Settings of every daemon, of connections, and of other daemons.
_OTHERS = re.compile(
    r"negotiator_(?:\w*_)?(?:log|debug|debug_wait|args|port|host|address_file|name|timeout|environment|fips_mode"
    r"|classad_lifetime|socket_cache_size|state_file|use_nonblocking_startd_contact|use_shared_port|super_address_file"
    r"|user_mapfile|max_file_descriptors|not_responding_timeout)|negotiator_max_num_\w+|max_negotiator_\w+"
    r"|arc_gahp_command_limit|detected_cpus_limit"
)
_HINTS = (
    (
        re.compile(r"concurrency_limit_default_.+|\w+_limit"),
        "write concurrency_limits: {{{name}: NUMBER}} in pool.yaml",
    ),
    (re.compile(r"group_.*"), "configure queues and their limits in queues.yaml"),
    (
        re.compile(r"negotiator_(?:(?:min_)?interval|cycle_delay)"),
        "use negotiator run --every SECONDS",
    ),
)


def is_decisive(name: str) -> bool:
    """True for the name, in lower case, of a setting by which HTCondor's negotiator decides."""
    return name in DEFAULTS or (_FAMILIES.fullmatch(name) is not None and not _OTHERS.fullmatch(name))


def is_default(name: str, value: str) -> bool:
    """True if a value is empty or HTCondor's default; blanks and case do not matter."""
    return not value.strip() or _plain(value) == _plain(DEFAULTS.get(name, ""))


def remedy(name: str) -> str:
    """Return what to write here instead of a setting; empty if there is nothing."""
    limit = re.sub(r"^concurrency_limit_default_|_limit$", "", name)
    return next((hint.format(name=limit) for pattern, hint in _HINTS if pattern.fullmatch(name)), "")


def _plain(value: str) -> str:
    return "".join(value.split()).lower()
