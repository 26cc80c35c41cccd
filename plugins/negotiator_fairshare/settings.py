"""The knobs of fair share, by their names in HTCondor's configuration, with its defaults.

Source: HTCondor manual, "Configuration Macros", condor_negotiator.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.plugin import (
    PRE_JOB_RANK,
    AdKind,
    DeclaredRule,
    EvaluatedWith,
    Expr,
    Expression,
    Mode,
    Problem,
    QueueConfig,
    RankExpression,
    ScalarText,
    Severity,
    SlotRanks,
    Source,
    parse,
    references,
)
from negotiator_fairshare.accounts.settings import AccountSettings
from negotiator_fairshare.compatibility import CompatibilitySettings, Compatible
from negotiator_fairshare.groups.knobs import GroupConfiguration, GroupKnobs, read_groups
from negotiator_fairshare.groups.settings import GroupQuirks
from negotiator_fairshare.pie.settings import USE_OF_REQUESTS, USE_OF_SLOTS, PieQuirks, PieSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from negotiator.plugin import Environment, Table
    from negotiator_fairshare.pie.slot_weights import PoolSize, WeightScale


def _cpus() -> Expression:
    return Expression(parse("Cpus"), "Cpus")


def _pre_job_rank() -> RankExpression:
    text = "(10000000 * My.Rank) + (1000000 * (RemoteOwner =?= UNDEFINED)) - (100000 * Cpus) - Memory"
    return RankExpression(PRE_JOB_RANK, text)


def _post_job_rank() -> RankExpression:
    text = (
        "(RemoteOwner =?= UNDEFINED) * (ifThenElse(isUndefined(KFlops), 1000, KFlops)"
        " - SlotID - 1.0e10 * (Offline =?= True))"
    )
    return RankExpression(parse(text), text)


#: Priorities of the users of slots are rounded to single precision: equal ones must not differ.
_BETTER_PRIORITY = "TARGET.SubmitterUserPrio < MY.RemoteUserPrio * 0.999999"

_SLOT_RANK = parse("MY.Rank")
_WANTS_JOINT_PREEMPTION = parse("TARGET.WantPslotPreemption")
#: The rank of an empty setting: all slots are equal.
_NO_RANK = parse("undefined")


def _no_preemption() -> Expression:
    return Expression(parse("False"), "False")


def _preemption_rank() -> RankExpression:
    text = "(RemoteUserPrio * 1000000) - ifThenElse(isUndefined(TotalJobRuntime), 0, TotalJobRuntime)"
    return RankExpression(parse(text), text)


#: What slots with a running job have in their ads, and what a cycle adds of its user.
_OF_CLAIMS: Final = frozenset(
    [
        "RemoteUserPrio",
        "RemoteUserFloor",
        "RemoteUserResourcesInUse",
        "RemoteGroup",
        "RemoteGroupQuota",
        "RemoteGroupResourcesInUse",
        "RemoteUser",
        "RemoteOwner",
        "RemoteNegotiatingGroup",
        "RemoteAutoregroup",
        "AccountingGroup",
        "ClientMachine",
        "JobId",
        "JobStart",
        "TotalJobRunTime",
        "TotalJobSuspendTime",
        "TotalClaimRunTime",
        "TotalClaimSuspendTime",
        "CurrentRank",
        "PreemptingRank",
        "PreemptingUser",
        "PreemptingOwner",
        "RetirementTimeRemaining",
        "Offline",
    ]
)
#: What a request gets when its submitter has a turn.
_OF_TURNS: Final = frozenset(
    [
        "SubmitterUserPrio",
        "SubmittorPrio",
        "SubmitterUserResourcesInUse",
        "SubmitterGroup",
        "SubmitterGroupQuota",
        "SubmitterGroupResourcesInUse",
        "SubmitterNegotiatingGroup",
        "SubmitterAutoregroup",
    ]
)
_PAIR: Final = EvaluatedWith(
    my=AdKind.STARTD, target=AdKind.JOB, my_computed=_OF_CLAIMS, target_computed=_OF_TURNS
)
_RANK: Final = attrs.evolve(_PAIR, is_condition=False)
_SLOT: Final = EvaluatedWith(my=AdKind.STARTD, my_computed=_OF_CLAIMS)

#: The ads of each expression, by setting; GROUP_SORT_EXPR reads the ads of groups.
EVALUATED: Final = {
    "GROUP_DYNAMIC_MACH_CONSTRAINT": _SLOT,
    "NEGOTIATOR_POST_JOB_RANK": _RANK,
    "NEGOTIATOR_PRE_JOB_RANK": _RANK,
    "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT": _SLOT,
    "PREEMPTION_RANK": _RANK,
    "PREEMPTION_REQUIREMENTS": _PAIR,
    "SLOT_WEIGHT": attrs.evolve(_SLOT, is_condition=False),
}


def _tree(rank: RankExpression | None) -> Expr:
    return _NO_RANK if rank is None else rank.tree


@attrs.frozen
class OfferQuirks:
    """The quirks of the slots that condor_negotiator considers, each reproduced or not.

    ``preemption_priority``: PREEMPTION_REQUIREMENTS alone compare the priorities of the two users.
    ``remote_group_quota``: slots show the quotas of the cycle before, and none in the first cycle.
    ``dynamic_slots_tried_once``: jobs in dynamic slots that one request could have ended are not ended for another in the same cycle.
    """

    preemption_priority: Compatible = Compatible.EXACT
    remote_group_quota: Compatible = Compatible.EXACT
    dynamic_slots_tried_once: Compatible = Compatible.EXACT


@attrs.frozen
class FairShareSettings(GroupKnobs):
    """What ``order: submitters`` reads of a bundle.

    None is an empty setting, as in condor_negotiator: no condition, or a rank that is the same for all slots.
    ``GROUP_DYNAMIC_MACH_CONSTRAINT`` counts where ``NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT`` is None.
    """

    NEGOTIATOR_CONSIDER_EARLY_PREEMPTION: bool = False
    ALLOW_PSLOT_PREEMPTION: bool = False
    NEGOTIATOR_CROSS_SLOT_PRIOS: bool = False
    STARTD_RESOURCE_PREFIX: str = ""
    PREEMPTION_REQUIREMENTS: Expression | None = attrs.field(factory=_no_preemption)
    PREEMPTION_REQUIREMENTS_STABLE: bool = True
    PREEMPTION_RANK: RankExpression | None = attrs.field(factory=_preemption_rank)
    PREEMPTION_RANK_STABLE: bool = True
    NEGOTIATOR_IGNORE_USER_PRIORITIES: bool = False
    SLOT_WEIGHT: Expression = attrs.field(factory=_cpus)
    FORCE_NEGOTIATOR_SLOT_WEIGHT: bool = False
    NEGOTIATOR_PRE_JOB_RANK: RankExpression | None = attrs.field(factory=_pre_job_rank)
    NEGOTIATOR_POST_JOB_RANK: RankExpression | None = attrs.field(factory=_post_job_rank)
    NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT: Expression | None = None
    GROUP_DYNAMIC_MACH_CONSTRAINT: Expression | None = None
    NEGOTIATOR_IGNORE_JOB_RANKS: bool = False
    NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES: bool = False
    NEGOTIATOR_DEPTH_FIRST: bool = False
    NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE: int = attrs.field(default=200, validator=attrs.validators.ge(1))
    MATCH_WORKING_CM_SLOTS: bool = False
    NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    USE_RESOURCE_REQUEST_COUNTS: bool = True
    USE_GLOBAL_JOB_PRIOS: bool = False
    NEGOTIATOR_MATCHLIST_CACHING: bool = True
    PRIORITY_HALFLIFE: float = attrs.field(default=86_400.0, validator=attrs.validators.gt(0))
    DEFAULT_PRIO_FACTOR: float = attrs.field(default=1e3, validator=attrs.validators.gt(0))
    NICE_USER_PRIO_FACTOR: float = attrs.field(default=1e10, validator=attrs.validators.gt(0))
    REMOTE_PRIO_FACTOR: float = attrs.field(default=1e7, validator=attrs.validators.gt(0))
    ACCOUNTANT_LOCAL_DOMAIN: str = ""
    accounting_group_mode: Mode = Mode.ENFORCE
    compatible: CompatibilitySettings | ScalarText = attrs.field(factory=CompatibilitySettings)

    @cached_property
    def groups(self) -> GroupConfiguration:
        """The accounting groups."""
        return read_groups(self, self.compatibility.quirks(GroupQuirks))

    @property
    def groups_negotiate(self) -> bool:
        """True if accounting groups divide the pool: there are some, and their quotas enforce."""
        return self.accounting_group_mode is Mode.ENFORCE and not self.groups.tree.is_flat

    @property
    def group_quotas_bound(self) -> bool:
        """True if quotas of accounting groups are hard limits, or would be in another mode."""
        fixed = self.groups.settings.quirks.group_overrun is Compatible.FIXED
        return self.NEGOTIATOR_STRICT_ENFORCE_QUOTA and (
            fixed or self.accounting_group_mode is not Mode.ENFORCE
        )

    def rules(self, root: QueueConfig) -> Iterator[DeclaredRule]:
        """Yield the quotas of accounting groups that are hard limits."""
        del root
        for name, source in self.groups.sources.items() if self.group_quotas_bound else ():
            group = self.groups.tree.nodes[name].group
            if not group.accept_surplus:
                text = f"{group.quota:g}{'' if group.static else ' of the group above'}"
                rule = f"quota of accounting group {name}"
                yield DeclaredRule(rule=rule, text=text, source=source, mode=self.accounting_group_mode)

    def weight_scale(self, env: Environment) -> WeightScale:
        """Return the weights of slots."""
        from negotiator_fairshare.pie.slot_weights import WeightScale

        return WeightScale(
            self.SLOT_WEIGHT.tree,
            env,
            use_weights=self.NEGOTIATOR_USE_SLOT_WEIGHTS,
            force_default=self.FORCE_NEGOTIATOR_SLOT_WEIGHT,
        )

    def pool_size(self, slots: Table, weights: NDArray[np.float64], env: Environment) -> PoolSize:
        """Return what the slots that take part in a cycle are to be divided."""
        from negotiator_fairshare.pie.slot_weights import PoolSize

        given = self.NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT or self.GROUP_DYNAMIC_MACH_CONSTRAINT
        constraint = None if given is None else given.tree
        return PoolSize.of(slots, weights, constraint, env, use_weights=self.NEGOTIATOR_USE_SLOT_WEIGHTS)

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of knobs that contradict each other or are not used as written."""
        yield from self.groups.problems
        yield from self._of_preemption()
        yield from self._of_old_constraint()
        if isinstance(self.compatible, ScalarText) and self.compatible.text not in list(Compatible):
            message = f"compatible must be exact or fixed, got {self.compatible.text}"
            hint = "or write a mapping with a switch for each quirk"
            yield Problem(Severity.ERROR, self.compatible.source, message, hint)

    def _of_preemption(self) -> Iterator[Problem]:
        """Warn of requirements that are empty: a job of any other user may be ended."""
        if self.PREEMPTION_REQUIREMENTS is None and self.NEGOTIATOR_CONSIDER_PREEMPTION:
            message = "PREEMPTION_REQUIREMENTS has no value: no condition protects the jobs of other users"
            hint = "write False to end no job by priority, or remove the line"
            source = self.sources.get("PREEMPTION_REQUIREMENTS", Source(""))
            yield Problem(Severity.WARNING, source, message, hint)

    def _of_old_constraint(self) -> Iterator[Problem]:
        old, new = "GROUP_DYNAMIC_MACH_CONSTRAINT", "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT"
        if self.GROUP_DYNAMIC_MACH_CONSTRAINT is None:
            return
        source = self.sources.get(old, Source(""))
        if self.NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT is None:
            yield Problem(Severity.NOTICE, source, f"{old} is obsolete", f"write {new}")
        else:
            message = f"{old} has no effect: {new} takes precedence"
            yield Problem(Severity.WARNING, source, message, "remove the line")

    @property
    def accounts(self) -> AccountSettings:
        """The knobs of the accounts."""
        groups = self.groups
        return AccountSettings(
            group_factors=groups.factors,
            group_of=groups.tree.group_of,
            groups=tuple(groups.tree.nodes),
            halflife=self.PRIORITY_HALFLIFE,
            default_factor=self.DEFAULT_PRIO_FACTOR,
            nice_factor=self.NICE_USER_PRIO_FACTOR,
            remote_factor=self.REMOTE_PRIO_FACTOR,
            local_domain=self.ACCOUNTANT_LOCAL_DOMAIN,
        )

    @cached_property
    def compatibility(self) -> CompatibilitySettings:
        """The switches of quirks; one word, ``exact`` or ``fixed``, is for all of them."""
        if not isinstance(self.compatible, ScalarText):
            return self.compatible
        fixed = self.compatible.text == Compatible.FIXED
        return CompatibilitySettings(default=Compatible.FIXED if fixed else Compatible.EXACT)

    @property
    def offer_quirks(self) -> OfferQuirks:
        """Which quirks of the slots that are offered are reproduced."""
        return self.compatibility.quirks(OfferQuirks)

    @cached_property
    def preemption_requirements(self) -> Expr | None:
        """The expression that a match by priority needs to be true; None if it needs none."""
        given = self.PREEMPTION_REQUIREMENTS
        if self.offer_quirks.preemption_priority is Compatible.EXACT:
            return None if given is None else given.tree
        if given is None:
            return parse(_BETTER_PRIORITY)
        return parse(f"(({given.text}\n) =?= true) && {_BETTER_PRIORITY}")

    @property
    def preemption_rank(self) -> Expr:
        """The rank of slots that run a job."""
        return _tree(self.PREEMPTION_RANK)

    @property
    def ranks(self) -> SlotRanks:
        """The pool's own order of slots."""
        before, after = _tree(self.NEGOTIATOR_PRE_JOB_RANK), _tree(self.NEGOTIATOR_POST_JOB_RANK)
        of_job = not self.NEGOTIATOR_IGNORE_JOB_RANKS
        return SlotRanks(before, after, of_job=of_job, reads=tuple(self._preemption_reads()))

    def _preemption_reads(self) -> Iterator[Expr]:
        """Yield the expressions that decide which jobs a match may end."""
        if self.NEGOTIATOR_CONSIDER_PREEMPTION:
            yield _SLOT_RANK
            yield self.preemption_rank
            if self.preemption_requirements is not None:
                yield self.preemption_requirements
            if self.ALLOW_PSLOT_PREEMPTION:
                yield _WANTS_JOINT_PREEMPTION

    def reads_any(self, names: frozenset[str]) -> bool:
        """Return whether PREEMPTION_REQUIREMENTS or a rank refers to one of some attributes, in lower case."""
        read = (self.ranks.before, self.ranks.after, self.preemption_rank, self.preemption_requirements)
        return any(_reads(each, names) for each in read)

    @property
    def pie(self) -> PieSettings:
        """The knobs of the pie."""
        return PieSettings(
            consider_preemption=self.NEGOTIATOR_CONSIDER_PREEMPTION,
            use_weights=self.NEGOTIATOR_USE_SLOT_WEIGHTS,
            ignore_priorities=self.NEGOTIATOR_IGNORE_USER_PRIORITIES,
            use_counts=self.USE_RESOURCE_REQUEST_COUNTS and self.NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE > 1,
            keep_candidates=self.NEGOTIATOR_MATCHLIST_CACHING,
            requirements_stable=self.PREEMPTION_REQUIREMENTS_STABLE,
            rank_stable=self.PREEMPTION_RANK_STABLE,
            requirements_change=_reads(self.preemption_requirements, USE_OF_REQUESTS | USE_OF_SLOTS),
            quirks=self.compatibility.quirks(PieQuirks),
        )


def _reads(expr: Expr | None, names: frozenset[str]) -> bool:
    """Return whether an expression refers to one of some attributes, in lower case."""
    if expr is None:
        return False
    found = references(expr)
    return not names.isdisjoint(found.my | found.target | found.unscoped)
