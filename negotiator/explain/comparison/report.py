"""What differs between two decisions of one cycle, or of many: sums that can be added."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Self

import attrs

from negotiator.cycle.decisions import RuleReason


class ChangeKind(enum.StrEnum):
    """What became of a job."""

    GAINED = "gained"
    """It gets a slot now, and got none before."""
    LOST = "lost"
    """It got a slot before, and gets none now."""
    MOVED = "moved"
    """It gets another slot."""
    REASON = "reason"
    """It gets none as before, by another rule."""


@attrs.frozen
class MatchChanges:
    """Jobs that were matched before, and numbers of changed jobs by ``ChangeKind``."""

    before: int = 0
    gained: int = 0
    lost: int = 0
    moved: int = 0
    reason: int = 0

    @property
    def after(self) -> int:
        """The number of jobs that are matched now."""
        return self.before + self.gained - self.lost

    @property
    def changed(self) -> int:
        """The number of jobs that are changed."""
        return self.gained + self.lost + self.moved + self.reason

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.before + other.before,
            self.gained + other.gained,
            self.lost + other.lost,
            self.moved + other.moved,
            self.reason + other.reason,
        )


@attrs.frozen
class RuleChanges:
    """Jobs that one rule counts for: it denies them now, or denied them before.

    ``lost`` got a slot before, ``denies`` got none before by another rule; ``gained`` get a slot now, ``denied`` get none now by another
    rule. ``rule`` None counts jobs that take no part in the cycle.
    """

    rule: RuleReason | None
    lost: int = 0
    denies: int = 0
    gained: int = 0
    denied: int = 0

    @property
    def jobs(self) -> int:
        """The number of all these jobs."""
        return self.lost + self.denies + self.gained + self.denied

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.rule,
            self.lost + other.lost,
            self.denies + other.denies,
            self.gained + other.gained,
            self.denied + other.denied,
        )


@attrs.frozen
class ShareSums:
    """What one holder of a share was entitled to and used at the end, and its matches; sums over the cycles."""

    entitled: float = 0.0
    used: float = 0.0
    granted: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.entitled + other.entitled, self.used + other.used, self.granted + other.granted
        )


@attrs.frozen
class ShareChange:
    """The share of one holder, before and after; ``unit`` is that of the allocator."""

    holder: str
    unit: str
    before: ShareSums = ShareSums()
    after: ShareSums = ShareSums()

    def __add__(self, other: Self) -> Self:
        return type(self)(self.holder, self.unit, self.before + other.before, self.after + other.after)


@attrs.frozen
class ChangedJob:
    """A changed job. ``before`` and ``after`` are the slots that it gets; ``denied`` and ``denies`` the rules that leave it without."""

    cycle: int
    kind: ChangeKind
    schedd: str
    job: str
    user: str
    queue: str
    before: str = ""
    after: str = ""
    denied: RuleReason | None = None
    denies: RuleReason | None = None


@attrs.frozen
class CycleComparison:
    """What differs between two decisions of each of some cycles.

    ``users`` and ``queues`` have all that jobs were matched for, or changed. ``jobs`` are some of the changed ones, ``jobs_left_out`` counts the others.
    ``failures`` are those of plugins, before and after; ``stops`` counts time limits that were reached.
    """

    cycles: int = 0
    users: Mapping[str, MatchChanges] = attrs.field(factory=dict)
    queues: Mapping[str, MatchChanges] = attrs.field(factory=dict)
    rules: tuple[RuleChanges, ...] = ()
    shares: tuple[ShareChange, ...] = ()
    jobs: tuple[ChangedJob, ...] = ()
    jobs_left_out: int = 0
    failures: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    stops: tuple[int, int] = (0, 0)

    @property
    def total(self) -> MatchChanges:
        """The sums over all users."""
        return sum(self.users.values(), MatchChanges())


def merged(comparisons: Iterable[CycleComparison]) -> CycleComparison:
    """Return the sums of comparisons; the same bytes for the same comparisons in the same order."""
    users: dict[str, MatchChanges] = {}
    queues: dict[str, MatchChanges] = {}
    rules: dict[tuple[str, ...] | None, RuleChanges] = {}
    shares: dict[tuple[str, str], ShareChange] = {}
    jobs: list[ChangedJob] = []
    failures: tuple[dict[str, None], dict[str, None]] = ({}, {})
    cycles = left_out = before = after = 0
    for each in comparisons:
        for sums, own in ((users, each.users), (queues, each.queues)):
            for name, changes in own.items():
                sums[name] = sums.get(name, MatchChanges()) + changes
        for rule in each.rules:
            identity = rule.rule.identity if rule.rule else None
            rules[identity] = rules[identity] + rule if identity in rules else rule
        for share in each.shares:
            holder = share.holder, share.unit
            shares[holder] = shares[holder] + share if holder in shares else share
        for kept, texts in zip(failures, each.failures, strict=True):
            kept.update(dict.fromkeys(texts))
        jobs += each.jobs
        cycles, left_out = cycles + each.cycles, left_out + each.jobs_left_out
        before, after = before + each.stops[0], after + each.stops[1]
    return CycleComparison(
        cycles=cycles,
        users=users,
        queues=queues,
        rules=tuple(rules.values()),
        shares=tuple(shares.values()),
        jobs=tuple(jobs),
        jobs_left_out=left_out,
        failures=(tuple(failures[0]), tuple(failures[1])),
        stops=(before, after),
    )
