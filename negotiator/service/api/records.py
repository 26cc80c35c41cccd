"""What the resources answer with, and their parameters."""

from __future__ import annotations

from typing import Annotated

import attrs
from msgspec import Meta

from negotiator.app.health import HealthReport
from negotiator.app.limits import LimitKind
from negotiator.hooks.answers import PluginStatus
from negotiator.service.api.resource import LONGEST_NAME, Page


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
