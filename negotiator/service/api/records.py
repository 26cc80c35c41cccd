"""What the resources answer with, and their parameters."""

from __future__ import annotations

import enum
from typing import Annotated, Final

import attrs
from msgspec import Meta

from negotiator.app.health import HealthReport
from negotiator.app.limits import LimitKind
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

    number: Annotated[int, Meta(ge=1, le=2**53, description="The number that the request was answered with.")]


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
