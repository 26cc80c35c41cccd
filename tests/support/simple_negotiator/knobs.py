"""The configuration of a pool, by names without regard to case."""

DEFAULTS = {
    "NEGOTIATOR_CONSIDER_PREEMPTION": "true",
    "PREEMPTION_REQUIREMENTS": "False",
    "PREEMPTION_RANK": "(RemoteUserPrio * 1000000)"
    " - ifThenElse(isUndefined(TotalJobRuntime), 0, TotalJobRuntime)",
    "NEGOTIATOR_PRE_JOB_RANK": "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED))"
    " - (100000 * Cpus) - Memory",
    "NEGOTIATOR_POST_JOB_RANK": "(RemoteOwner =?= UNDEFINED)"
    " * (ifthenElse(isUndefined(KFlops), 1000, Kflops) - SlotID - 1.0e10*(Offline=?=True))",
    "PREEMPTION_REQUIREMENTS_STABLE": "true",
    "PREEMPTION_RANK_STABLE": "true",
    "NEGOTIATOR_MATCHLIST_CACHING": "true",
    "PRIORITY_HALFLIFE": "86400",
    "DEFAULT_PRIO_FACTOR": "1000",
    "NICE_USER_PRIO_FACTOR": "1e10",
    "REMOTE_PRIO_FACTOR": "1e7",
    "NEGOTIATOR_USE_SLOT_WEIGHTS": "true",
    "SLOT_WEIGHT": "Cpus",
    "NEGOTIATOR_USE_WEIGHTED_DEMAND": "true",
    "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION": "true",
    "NEGOTIATOR_STRICT_ENFORCE_QUOTA": "true",
    "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS": "3",
    "GROUP_QUOTA_ROUND_ROBIN_RATE": "1e100",
    "GROUP_SORT_EXPR": 'ifThenElse(AccountingGroup=?="<none>",3.4e+38,'
    "ifThenElse(GroupQuota>0,GroupResourcesInUse/GroupQuota,3.3e+38))",
    "CONCURRENCY_LIMIT_DEFAULT": "2308032",
    "USE_RESOURCE_REQUEST_COUNTS": "true",
    "NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE": "200",
}


class Knobs:
    """The knobs of a pool over the defaults."""

    def __init__(self, given):
        own = {name.upper(): str(text) for name, text in given.items()}
        self._texts = DEFAULTS | own

    def text(self, name):
        """Return the text of a knob, None if it has none."""
        return self._texts.get(name.upper()) or None

    def true(self, name, default=None):
        """Return whether a knob is true; the default if it is not given."""
        text = self.text(name)
        return default if text is None else text.strip().lower() == "true"

    def requests_count(self):
        """Return whether a request stands for several jobs: if not, jobs are asked for one by one (23)."""
        return (
            self.true("USE_RESOURCE_REQUEST_COUNTS")
            and self.number("NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE") > 1
        )

    def number(self, name, default=None):
        """Return the number of a knob; the default if it is not given."""
        text = self.text(name)
        return default if text is None else float(text)
