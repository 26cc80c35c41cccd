"""What observers see: the whole result of a cycle; and the reports that plugins make of a pool (``negotiator_reports``), for the HTTP interface and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.administration import PluginUsage, StoredRows
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.overruns import Overrun
from negotiator.hooks.records import Match
from negotiator.records import Reason


@attrs.frozen
class ReportParameter:
    """A parameter of a report: a name, a sentence, and the value if none is given; ``choices`` are all values, if they are known."""

    name: str
    text: str
    default: str = ""
    choices: tuple[str, ...] = ()


@attrs.frozen(eq=False, kw_only=True)
class ReportSource:
    """The pool that a report is made of.

    ``usage`` is that of the plugin's own quotas. ``order_rows`` returns the rows that an order remembers, none without a state; it may
    raise StateError. ``now`` is in seconds since the epoch.
    """

    usage: PluginUsage
    order_rows: Callable[[str], StoredRows]
    now: float


@attrs.frozen(eq=False, kw_only=True)
class Report:
    """A table about a pool: ``row`` is the class of its rows.

    It is a class of attrs; its fields are strings, integers, finite floats, booleans, None, tuples of these, or such classes. ``rows``
    is called with what ``collect`` returned and with the values of all parameters, which are strings of at most 1,000 characters;
    it may raise InvalidCallError. Both are functions without effects.

    ``collect`` is called once each time that the pool was read. It returns what ``rows`` needs of it, and no more: that is kept until
    the pool is read again.

    ``texts`` are other forms of the report by media type, such as ``application/xml``: functions that are called as ``rows`` is and
    return a text.
    """

    name: str
    summary: str
    row: type
    collect: Callable[[ReportSource], Any]
    rows: Callable[[Any, Mapping[str, str]], Iterable[Any]]
    parameters: tuple[ReportParameter, ...] = ()
    texts: Mapping[str, Callable[[Any, Mapping[str, str]], str]] = attrs.field(factory=dict)


def _no_seconds() -> Mapping[str, float]:
    return MappingProxyType({})


@attrs.frozen
class ReasonCount:
    """One reason, and the number of slots that it removed from a request.

    ``removed`` counts the slots that were still candidates then. ``rejected`` counts all admitted slots that the reason
    rejects, independent of the others.
    """

    reason: Reason
    removed: int
    rejected: int


@attrs.frozen
class Denial:
    """A request with jobs that got no slot, and all reasons.

    ``jobs`` is the number of these jobs, ``first_job`` the id ("cluster.proc") of the first.
    """

    submitter: str
    schedd: str
    user: str
    queue: str
    jobs: int
    first_job: str
    reasons: tuple[ReasonCount, ...]

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all reasons."""
        return frozenset(each.reason.code for each in self.reasons)


@attrs.frozen
class Rejection:
    """Jobs of one request that got no slot, and the decisive reason: the rejection that a schedd gets.

    ``jobs`` counts them; ``first_job`` is the id ("cluster.proc") of the first.
    """

    submitter: str
    schedd: str
    jobs: int
    first_job: str
    reason: Reason


@attrs.frozen
class DiscardCount:
    """One reason why ads of one kind were discarded: how many, and the names of the first few."""

    kind: AdKind
    reason: Reason
    count: int
    examples: tuple[str, ...]


@attrs.frozen(kw_only=True)
class CycleStatistics:
    """The sizes of a cycle and its times, as condor_negotiator counts them; 0 if unknown.

    ``begun`` and ``ended`` are seconds since the epoch: when the pool began to be read, and when the outcome was recorded.
    ``cpu_seconds`` is what the process used in between. ``slots`` are those that were read, ``offered_slots`` those that took part
    and that a match could get. ``rejections`` counts the requests with jobs that got no slot. The submitters in ``share_limited``
    used up their share of the pool; those in ``submitters_out_of_time``, and the schedds in ``schedds_out_of_time``, reached a
    time limit.
    """

    number: int = 0
    begun: float = 0.0
    ended: float = 0.0
    cpu_seconds: float = 0.0
    slots: int = 0
    offered_slots: int = 0
    rejections: int = 0
    pies: int = 0
    spins: int = 0
    share_limited: tuple[str, ...] = ()
    submitters_out_of_time: tuple[str, ...] = ()
    schedds_out_of_time: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class CycleSummary:
    """The result of a cycle.

    ``matches`` are those that were delivered, for a pool of files all. ``overruns`` are the rules that something in use broke when it
    began: limits, the most exceeded ones first, then running jobs that a policy would deny, rule by rule. ``overruns_begun`` and
    ``overruns_ended`` are what changed since the cycle before, ``unjudged`` the running jobs that not every rule could judge.
    ``seconds`` has the time that each part and each station of the cycle took, by its name; it is measured outside the cycle, so that
    the same input still gives the same result. ``processor_seconds`` are those of the processor in the same parts.
    """

    matches: tuple[Match, ...] = ()
    denials: tuple[Denial, ...] = ()
    discarded: tuple[DiscardCount, ...] = ()
    failures: tuple[HookFailure, ...] = ()
    overruns: tuple[Overrun, ...] = ()
    overruns_begun: tuple[Overrun, ...] = ()
    overruns_ended: tuple[Overrun, ...] = ()
    unjudged: int = 0
    seconds: Mapping[str, float] = attrs.field(factory=_no_seconds)
    processor_seconds: Mapping[str, float] = attrs.field(factory=_no_seconds)
    statistics: CycleStatistics = CycleStatistics()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The matches as (id of the job, name of the slot)."""
        return tuple((match.job, match.slot) for match in self.matches)
