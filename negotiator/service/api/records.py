"""What the resources answer with, and their parameters."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Final

import attrs
from msgspec import Meta

from negotiator.app.cycles import CycleEntry, HolderShare, PluginUse, RuleActivity, RuleEffect
from negotiator.app.health import HealthReport
from negotiator.app.limits import LimitKind
from negotiator.app.why.answer import WhyTable
from negotiator.app.why.idle import IdleBy, SplitClasses
from negotiator.app.why.subject import WhyKind
from negotiator.defaults import MAX_NOTE
from negotiator.hooks.answers import PluginStatus
from negotiator.hooks.reports import ReportParameter
from negotiator.service.api.resource import LONGEST_NAME, Page

_LONGEST_NOTE: Final = 480  # with what is added here it is short enough for the audit log


@attrs.frozen
class ErrorAnswer:
    """An error: its HTTP status, and a sentence; ``description`` is the same sentence."""

    status_code: int
    message: str
    description: str


@attrs.frozen
class ServiceStatus:
    """The service, and the negotiator of its state; times are in seconds since the epoch.

    ``bundle`` is the digest of the policy bundle. ``failure`` is why the pool cannot be read now, empty if it can; what is shown was
    read at ``read`` (null before the first time). ``negotiator`` is null without a state.
    """

    version: str
    bundle: str
    read: float | None
    failure: str
    negotiator: HealthReport | None


@attrs.frozen
class Plugin:
    """A plugin of the bundle, with its hooks; ``origin`` is its entry point, its file or its module."""

    name: str
    version: str
    origin: str
    status: PluginStatus
    hooks: tuple[str, ...]


@attrs.frozen
class Plugins:
    """The plugins in the order of their calls."""

    plugins: tuple[Plugin, ...]


_Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
#: The number of a record, or of a request.
_Number = Annotated[int, Meta(ge=1, le=2**53)]
#: Seconds since the epoch, up to the year 9999.
_Time = Annotated[float, Meta(ge=0, le=253_402_300_000)]


@attrs.frozen
class LimitQuery(Page):
    """Which limits are listed."""

    kind: Annotated[LimitKind | None, Meta(description="Limits of this kind.")] = None
    name: Annotated[_Name, Meta(description="Limits of this user, group or concurrency limit.")] = ""
    queue: Annotated[_Name, Meta(description="Limits in this queue.")] = ""
    exceeded: Annotated[bool, Meta(description="Only limits of which more is used than they permit.")] = False


@attrs.frozen
class Limit:
    """A limit and what is used of it, in the units of queues.yaml (memory in bytes, vcore in thousandths).

    ``name`` is the user, group or concurrency limit, empty for the maximum of a queue. ``resource`` is ``applications`` for running
    applications. ``share`` is 1 if all of it is used; null if something is used of nothing.
    """

    kind: LimitKind
    name: str
    queue: str
    resource: str
    used: float
    limit: float
    share: float | None


@attrs.frozen
class Limits:
    """Limits, the fullest first: ``total`` and ``exceeded`` count all that were selected."""

    total: int
    exceeded: int
    limits: tuple[Limit, ...]


@attrs.frozen
class JobQuestion:
    """Which job an answer is about."""

    name: Annotated[
        str,
        Meta(
            max_length=LONGEST_NAME,
            pattern=r"^([^#]+#)?[0-9]{1,15}(\.[0-9]{1,15})?$",
            description="A job, CLUSTER.PROC or SCHEDD#CLUSTER.PROC; of a CLUSTER the first idle one.",
        ),
    ]


@attrs.frozen
class NameQuestion:
    """Which user, queue or slot an answer is about."""

    name: Annotated[
        str,
        Meta(max_length=LONGEST_NAME, description="Its name; of a queue the path, or its last part."),
    ]


@attrs.frozen
class Explanation:
    """Why a job, or the idle jobs of a user or a queue, get no slot, or a slot no job.

    ``sentences`` and ``tables`` are for people, the decisive reason first. ``facts`` are the same as values, as ``negotiator why --json``
    prints them, with the last decision as ``/decisions`` has it. ``asof`` is when the pool was read, in seconds since the epoch.
    """

    kind: WhyKind
    name: str
    asof: float
    sentences: tuple[str, ...]
    tables: tuple[WhyTable, ...]
    facts: dict[str, Any]


@attrs.frozen
class IdleQuery(Page):
    """Which idle jobs are counted, and by what."""

    by: Annotated[IdleBy, Meta(description="What the jobs are added up by.")] = IdleBy.REASON
    user: Annotated[_Name, Meta(description="Only the jobs of this user.")] = ""
    queue: Annotated[_Name, Meta(description="Only the jobs in this queue and those below it.")] = ""


@attrs.frozen
class IdleJobGroup:
    """Jobs with the same reason, user or queue, its ``name``: how many, and the reason of most of them.

    ``reasons`` counts the different reasons of the group.
    """

    name: str
    jobs: int
    reasons: int
    reason: dict[str, Any]


@attrs.frozen
class IdleJobGroups:
    """The idle jobs that a cycle now would give no slot, the largest group first; ``matched`` is how many jobs it would match.

    ``sentences`` are for people. ``total`` counts all groups, ``jobs`` their jobs. ``split_classes`` is the attribute that makes many
    classes of alike jobs, null if they are few. ``asof`` is when the pool was read, in seconds since the epoch.
    """

    asof: float
    matched: int
    jobs: int
    total: int
    sentences: tuple[str, ...]
    split_classes: SplitClasses | None
    groups: tuple[IdleJobGroup, ...]


@attrs.frozen
class ReportInfo:
    """A report of a plugin, the path that has it, its parameters, and the media types of its answer."""

    name: str
    path: str
    plugin: str
    summary: str
    parameters: tuple[ReportParameter, ...]
    media_types: tuple[str, ...]


@attrs.frozen
class Reports:
    """All reports."""

    reports: tuple[ReportInfo, ...]


@attrs.frozen
class Action:
    """What every action may have."""

    note: Annotated[str, Meta(max_length=_LONGEST_NOTE, description="The reason, for the audit log.")] = ""
    wait: Annotated[float, Meta(ge=0, le=10, description="Seconds to wait for the negotiator's answer.")] = (
        2.0
    )


@attrs.frozen(kw_only=True)
class ApplicationAction(Action):
    """An action on an application, ``SCHEDD#CLUSTER``, or ``CLUSTER`` if only one schedd has it."""

    application: Annotated[str, Meta(min_length=1, max_length=MAX_NOTE)]


@attrs.frozen(kw_only=True)
class Move(ApplicationAction):
    """The move of an application to a queue, an existing leaf."""

    queue: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


@attrs.frozen
class RequestNumber:
    """Which request is meant."""

    number: Annotated[_Number, Meta(description="The number that the request was answered with.")]


class ActionState(enum.StrEnum):
    """Whether a request of an administrator was carried out."""

    DONE = "done"
    REFUSED = "refused"
    WAITING = "waiting"


@attrs.frozen
class ActionAnswer:
    """A request of an administrator: its number, and the answer of the negotiator, or why there is none yet."""

    number: int
    state: ActionState
    text: str


@attrs.frozen
class CycleList:
    """The last cycles, the newest first: ``total`` counts those that are kept."""

    total: int
    cycles: tuple[CycleEntry, ...]


@attrs.frozen
class PolicyEffects:
    """What each rule did in the cycle ``number``, which ended at ``ended``; those first that were decisive for most jobs.

    ``rules`` are those of the bundle with the cycles in which they did something, those first that did nothing for the most cycles;
    ``rules_total`` counts all of them.
    """

    number: int
    ended: float
    total: int
    policies: tuple[RuleEffect, ...]
    rules_total: int
    rules: tuple[RuleActivity, ...]


@attrs.frozen
class CycleShares:
    """What submitters or queues were entitled to in the cycle ``number``, in the order of their turns."""

    number: int
    ended: float
    total: int
    shares: tuple[HolderShare, ...]


@attrs.frozen
class CyclePlugins:
    """The calls of the plugins of the negotiator until the cycle ``number`` ended."""

    number: int
    ended: float
    total: int
    plugins: tuple[PluginUse, ...]


@attrs.frozen
class RecordQuery:
    """Which records are wanted: those with all of these properties."""

    user: Annotated[_Name, Meta(description="The owner of the jobs, or a submitter.")] = ""
    queue: Annotated[_Name, Meta(description="The full path of a queue.")] = ""
    slot: Annotated[_Name, Meta(description="The name of a slot.")] = ""
    since: Annotated[_Time | None, Meta(description="Records of this time and later.")] = None
    until: Annotated[_Time | None, Meta(description="Records before this time.")] = None
    before: Annotated[
        _Number | None, Meta(description="Records before the one of this number: the next page.")
    ] = None
    rows: Annotated[int, Meta(ge=1, le=500, description="The most records of the answer.")] = 100
    job: Annotated[
        str, Meta(pattern=r"^([0-9]{1,15}(\.[0-9]{1,15})?)?$", description="A job or a cluster.")
    ] = ""


@attrs.frozen
class AuditRecordQuery(RecordQuery):
    """Which records of the audit log are wanted."""

    kind: Annotated[_Name, Meta(description="The kind of the records, such as match or admin.")] = ""
    text: Annotated[_Name, Meta(description="Any part of a record.")] = ""


@attrs.frozen
class AuditRecords:
    """Records of the audit log, the newest first, each as its line has it.

    ``before`` is the parameter of the next page; null if there is none. ``searched`` is false if the page ended because 256 MiB of the
    log were searched: a later page may have further records, even if this one has none.
    """

    records: tuple[dict[str, Any], ...]
    before: int | None
    searched: bool
