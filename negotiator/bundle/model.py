"""What an administrator said, as one checked object."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from negotiator.bundle.constraints import BoundConstraint
from negotiator.classad import Expr, JobExpression, bind, parse
from negotiator.hooks.loading import PluginSettings
from negotiator.hooks.manager import HookManager
from negotiator.hooks.records import Expression
from negotiator.placement import Chain
from negotiator.queues import PartitionConfig
from negotiator.records import Problem


class DecisionSelection(enum.StrEnum):
    """Which decisions go into the audit log, where no expression selects them."""

    ALL = "all"
    NONE = "none"


@attrs.frozen
class AuditSettings:
    """The ``audit:`` part of ``pool.yaml``.

    An expression selects with MY = the job's ad and TARGET = the slot's (denials: MY = the request's ad alone); what
    it makes true is recorded, and what it makes undefined or error too, so that a slip never empties the log.
    """

    matches: DecisionSelection | Expression = DecisionSelection.ALL
    denials: DecisionSelection | Expression = DecisionSelection.ALL
    rotate_bytes: int = attrs.field(default=100_000_000, validator=attrs.validators.ge(1))


def _bound(expression: Expression) -> Expression:
    return attrs.evolve(expression, tree=bind(expression.tree))


def _of_job(text: str) -> Expression:
    return Expression(parse(text), text)


@attrs.frozen
class PlacementSettings:
    """The ``placement:`` part of ``pool.yaml``: what the queue configuration calls user, queue and so on, in job ads.

    Each expression sees the job's ad alone. ``groups`` gives a string of names separated by commas; where it is anything
    else plugins are asked. ``forced`` must not be left to users: a forced application needs no access.
    ``resources`` tells how what a job asks for is read from it, in the units of queues.yaml; ``memory`` and ``vcore``
    are RequestMemory and RequestCpus unless it says else, and any other resource is ``RequestName``.
    ``fallback`` is a queue for what no rule places. An application that is not seen for ``forget_after`` seconds has
    left its queue; a match that the pool does not show within ``claim_timeout`` seconds no longer counts.
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
        """The same where ``MY`` is the job's ad itself: a job with an attribute of that name is not somebody else's."""
        return attrs.evolve(
            self,
            resources={name: _bound(expression) for name, expression in self.resources.items()},
            user=_bound(self.user),
            groups=_bound(self.groups),
            queue=_bound(self.queue),
            forced=_bound(self.forced),
        )


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
    )  # lower case; None: a plugin did not declare, every job is its own request
    audit: AuditSettings
    plugins: PluginSettings
    partition: PartitionConfig
    chain: Chain | None  # None: no plugin brings placement rules, and jobs have no queues
    placement: PlacementSettings = attrs.field(factory=PlacementSettings)
    resources: Mapping[str, Expr] = attrs.field(factory=dict)  # how each is read from a job's ad
    told: frozenset[str] = frozenset()  # the resources that a job has to tell, if they are limited
    problems: tuple[Problem, ...] = ()  # warnings and notices; with an error there is no Bundle

    @cached_property
    def said(self) -> Mapping[str, JobExpression]:
        """How what a job asks for is read from it alone, by resource."""
        return {name: JobExpression(tree) for name, tree in self.resources.items()}
