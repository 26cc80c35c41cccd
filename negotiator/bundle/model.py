"""A policy bundle as one checked object."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator import classad
from negotiator.bundle.constraints import BoundConstraint
from negotiator.bundle.site_commands import SiteCommands
from negotiator.bundle.time_limits import CycleIntervals, TimeLimits
from negotiator.classad import Expr, bind, parse
from negotiator.hooks.answers import Attributed
from negotiator.hooks.declarations import Expression, Section
from negotiator.hooks.loading import PluginSettings
from negotiator.hooks.manager import HookManager
from negotiator.hooks.order_type import DEFAULT_RANKS, RequestOrderType, SlotRanks
from negotiator.hooks.overruns import OverrunAction, Reuse
from negotiator.hooks.pool_source import PoolSource
from negotiator.placement import Chain
from negotiator.queues import PartitionConfig
from negotiator.records import Problem


class DecisionSelection(enum.StrEnum):
    """Which decisions are recorded in the audit log, unless an expression selects them."""

    ALL = "all"
    NONE = "none"


@attrs.frozen
class AuditSettings:
    """The ``audit:`` part of ``pool.yaml``.

    An expression selects with MY = the job's ad and TARGET = the slot's (denials: MY = the request's ad alone). A
    decision is recorded if it is true, and also if it is undefined or error, so that a typo never empties the log.
    ``write``: ``negotiator run`` writes the log although neither a folder for it nor a state is given.
    """

    matches: DecisionSelection | Expression = DecisionSelection.ALL
    denials: DecisionSelection | Expression = DecisionSelection.ALL
    rotate_bytes: int = attrs.field(default=100_000_000, validator=attrs.validators.ge(1))
    write: bool = False


@attrs.frozen
class AccountingSettings:
    """The ``accounting:`` part of ``pool.yaml``: which names the owners of jobs may use as ``AccountingGroup``.

    Groups are free. ``names`` permits names of other users, by owner; ``*`` stands for every owner and for every name.
    ``trust_names`` is HTCondor's trust: a job is its accounting name's alone, whoever owns it.
    """

    trust_names: bool = False
    names: dict[str, tuple[str, ...]] = attrs.field(factory=dict)


def _bound(expression: Expression) -> Expression:
    return attrs.evolve(expression, tree=bind(expression.tree))


def _of_job(text: str) -> Expression:
    return Expression(parse(text), text)


@attrs.frozen
class PlacementSettings:
    """The ``placement:`` part of ``pool.yaml``: how user, queue, groups and resources are read from a job's ad.

    Each expression is evaluated for the job's ad alone. ``groups`` gives a string of names separated by commas; for any
    other value plugins are called. ``forced`` must not depend on what users write: a forced application needs no access.
    ``resources`` reads each requested resource in the units of queues.yaml; the defaults are RequestMemory for
    ``memory``, RequestCpus for ``vcore`` and ``RequestName`` for any other resource.
    ``fallback`` is the queue of applications that no rule places. An application that is not seen for ``forget_after``
    seconds has left its queue. A match that the pool does not show within ``claim_timeout`` seconds no longer counts.
    """

    partition: str = "default"
    resources: dict[str, Expression] = attrs.field(factory=dict)
    user: Expression = attrs.field(factory=lambda: _of_job("MY.Owner"))
    groups: Expression = attrs.field(factory=lambda: _of_job("undefined"))
    queue: Expression = attrs.field(factory=lambda: _of_job("MY.Queue"))
    forced: Expression = attrs.field(factory=lambda: _of_job("false"))
    fallback: str = ""
    claim_timeout: int = attrs.field(default=600, validator=attrs.validators.ge(0))
    forget_after: int = attrs.field(default=600, validator=attrs.validators.ge(0))

    def bound(self) -> PlacementSettings:
        """Return the settings with ``MY`` bound to the job's ad, so that a job's own attribute ``MY`` has no effect."""
        return attrs.evolve(
            self,
            resources={name: _bound(expression) for name, expression in self.resources.items()},
            user=_bound(self.user),
            groups=_bound(self.groups),
            queue=_bound(self.queue),
            forced=_bound(self.forced),
        )


#: The order of the core: by the names of owners and submitters.
NAMES: Final = "names"


@attrs.frozen
class Ordering:
    """Who decides whose turn it is.

    ``chosen`` is the order that the bundle names, None for owners and submitters by name; ``settings`` are those of its
    plugin, and ``ranks`` the pool's own order of slots. ``known`` has the orders of all plugins by name.
    """

    chosen: Attributed[RequestOrderType] | None = None
    settings: Any = None
    ranks: SlotRanks = DEFAULT_RANKS
    known: Mapping[str, Attributed[RequestOrderType]] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """The name of the order, as in ``order:``."""
        return NAMES if self.chosen is None else self.chosen.record.name


@attrs.frozen
class ChosenSource:
    """Where the ads of a live pool come from: the type that the bundle chooses, and the settings of its plugin.

    ``job_attributes`` are those that gates and placement read of jobs, in lower case; None if they cannot be found.
    """

    chosen: Attributed[PoolSource] | None = None
    settings: Any = None
    job_attributes: frozenset[str] | None = frozenset()


class MatchMode(enum.StrEnum):
    """How many jobs of a request get one partitionable slot in a cycle."""

    ONE = "one"  # one job; the schedd divides the rest of the slot
    FILL = "fill"  # as many as it holds


@attrs.frozen
class OverrunSettings:
    """What becomes of running jobs that a policy would deny: the keys ``overruns`` and ``overrun_grace`` of pool.yaml.

    ``grace`` are the seconds from the cycle that found an overrun to its end. A rule may have its own of both.
    """

    action: OverrunAction = OverrunAction.REPORT
    grace: float = 300


@attrs.frozen
class Bundle:
    """A policy bundle that passed every check."""

    folder: Path
    digest: str  # sha256 over names and contents of its files, hexadecimal
    hooks: HookManager
    settings: Mapping[str, Any]  # by plugin name: an instance of its Section.schema
    constraints: tuple[BoundConstraint, ...]
    job_attributes: (
        frozenset[str] | None
    )  # lower case; None: a plugin declares none, so that every job is a request of its own
    audit: AuditSettings
    plugins: PluginSettings
    partition: PartitionConfig
    chain: Chain | None  # None: no plugin brings placement rules, so that jobs have no queues
    placement: PlacementSettings = attrs.field(factory=PlacementSettings)
    accounting: AccountingSettings = attrs.field(factory=AccountingSettings)
    ordering: Ordering = attrs.field(factory=Ordering)
    source: ChosenSource = attrs.field(factory=ChosenSource)
    match: MatchMode = MatchMode.ONE
    overruns: OverrunSettings = attrs.field(factory=OverrunSettings)
    reuse: Reuse | None = None  # None: what keeps the promise in the pool as it is
    time_limits: TimeLimits = attrs.field(factory=TimeLimits)
    cycle_intervals: CycleIntervals = attrs.field(factory=CycleIntervals)
    site_commands: SiteCommands = attrs.field(factory=SiteCommands)
    match_expressions: Mapping[str, Expr] = attrs.field(factory=dict)  # that each slot gets, by attribute
    resources: Mapping[str, Expr] = attrs.field(factory=dict)  # reads each resource from a job's ad
    sections: tuple[Attributed[Section], ...] = attrs.field(default=(), repr=False)  # of the plugins
    required_resources: frozenset[str] = frozenset()  # a job must specify these if they are limited
    problems: tuple[Problem, ...] = ()  # warnings and notices
    differences: tuple[
        Problem, ...
    ] = ()  # of these, between the bundle's settings and the pool's configuration
    files: Mapping[str, bytes] = attrs.field(factory=dict, repr=False)  # all that the digest covers, by name

    @cached_property
    def resource_expressions(self) -> Mapping[str, classad.JobExpression]:
        """The expressions that read requested resources from a job alone, by resource."""
        return {name: classad.JobExpression(tree) for name, tree in self.resources.items()}
