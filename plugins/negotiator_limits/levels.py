"""What one match is charged: on each queue from the leaf to the root, for its user and for its group.

Source: "User and Group Quota Enforcement", Hierarchy traversal. This list is all there is to enforcement: it is what a
cycle's admission is given, what ``Tracking`` charges, and what headroom is the smallest of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from negotiator.plugin import (
    CounterKey,
    EffectiveLimit,
    LimitIndex,
    Source,
    SubjectKind,
    format_quantity,
    upwards,
)
from negotiator_limits.keys import applications_key, resource_key

#: What a label has in the place of a resource, where running applications are counted.
APPLICATIONS = ""


@attrs.frozen
class Label:
    """Whose usage a charge counts, of what and where; and the limit that holds for it, if there is one."""

    whom: SubjectKind
    holder: str
    queue: str
    resource: str
    holding: EffectiveLimit | None

    @property
    def rule(self) -> str:
        """``limit of user * at root.a``; empty without a limit."""
        return str(self.holding or "")

    @property
    def source(self) -> Source | None:
        """Where the limit is written."""
        return self.holding.source if self.holding else None

    def sentence(self, needed: int, used: int, limit: int) -> str:
        """Why a match is refused, for people, with the numbers and the place of the limit."""
        if self.resource == APPLICATIONS:
            has, more, most = (f"{number} running applications" for number in (used, used + needed, limit))
        else:
            has, more, most = (
                f"{self.resource} {format_quantity(self.resource, number)}"
                for number in (used, used + needed, limit)
            )
        what = f"{self.whom} {self.holder} has {has} in {self.queue} and would have {more}"
        if self.holding is None:
            return f"{what}: more than {most} can't be counted"
        return f"{what}: the {self.rule} is {most} ({self.source})"


@attrs.frozen
class LimitLevel:
    """One queue on the way up, for the user or the group of a match."""

    whom: SubjectKind
    holder: str
    path: str
    holding: EffectiveLimit | None

    def most(self, resource: str) -> int | None:
        """The limit of a resource, None without one."""
        return self.holding.resources.get(resource) if self.holding else None

    @property
    def is_by_wildcard(self) -> bool:
        """Whether the limit is the wildcard's, and holds for somebody else."""
        return self.holding is not None and self.holding.name != self.holder

    @property
    def limited(self) -> Iterable[str]:
        """The resources that have a limit."""
        return self.holding.resources if self.holding else ()

    @property
    def most_applications(self) -> int | None:
        """The limit of running applications, None without one."""
        return (self.holding.applications or None) if self.holding else None

    def key(self, resource: str) -> CounterKey:
        """The counter of a resource."""
        return resource_key(self.whom, self.holder, self.path, resource)

    @property
    def applications(self) -> CounterKey:
        """The set of running applications."""
        return applications_key(self.whom, self.holder, self.path)

    def label(self, resource: str) -> Label:
        """What to say of a charge on a resource, or on ``APPLICATIONS``."""
        return Label(self.whom, self.holder, self.path, resource, self.holding)


def levels(scope: LimitIndex, user: str, group: str, path: str) -> tuple[LimitLevel, ...]:
    """All queues from a leaf to the root, for a user, then for a group; an empty group counts nothing.

    :param path: of the leaf, in lower case.
    """
    return tuple(
        _levels(scope, [(SubjectKind.USER, user), *([(SubjectKind.GROUP, group)] if group else [])], path)
    )


def _levels(scope: LimitIndex, holders: Iterable[tuple[SubjectKind, str]], path: str) -> Iterator[LimitLevel]:
    for whom, holder in holders:
        for each in upwards(path):
            yield LimitLevel(whom, holder, each, scope.limit(whom, holder, each))
