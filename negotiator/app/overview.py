"""Use case: everything that the HTTP interface shows of a pool at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from negotiator.app.health import Health, HealthReport, negotiator_health
from negotiator.app.pool_view import PoolView
from negotiator.app.usage import usage_report
from negotiator.bundle import Bundle
from negotiator.hooks.answers import HookFailure
from negotiator.records import Problem
from negotiator.runtime.pool_contents import ApplicationContents as ApplicationContents
from negotiator.runtime.pool_contents import HostContents as HostContents
from negotiator.runtime.pool_contents import PoolContents as PoolContents
from negotiator.runtime.pool_contents import RunningJob as RunningJob
from negotiator.runtime.pool_contents import pool_contents


@attrs.frozen(eq=False)
class PoolOverview:
    """A pool under its bundle at ``now``, in seconds since the epoch.

    ``users`` and ``groups`` are the entries of the usage reports. ``health`` is that of the negotiator that uses the state; None
    without a state. ``problems`` are those of the ads, ``failures`` of plugins: what they contribute is missing.
    """

    bundle: Bundle
    now: float
    contents: PoolContents
    users: tuple[Mapping[str, Any], ...]
    groups: tuple[Mapping[str, Any], ...]
    health: HealthReport | None
    problems: tuple[Problem, ...]
    failures: tuple[HookFailure, ...]

    @property
    def is_healthy(self) -> bool:
        """True if no plugin failed, and the negotiator runs and works."""
        return not self.failures and (self.health is None or self.health.health is Health.HEALTHY)


def pool_overview(view: PoolView) -> PoolOverview:
    """Return what a pool holds, and who uses it.

    :raises PoolError: the pool cannot be read.
    :raises StateError: the state cannot be read.
    """
    contents = pool_contents(view.snapshot, view.bundle, view.cycle_state, view.now)
    users, groups = usage_report(view, "users"), usage_report(view, "groups")
    state = view.targets.state
    failures = (*contents.failures, *view.group_failures, *users.failures, *groups.failures)
    return PoolOverview(
        view.bundle,
        view.now,
        contents,
        users.entries,
        groups.entries,
        None if state is None else negotiator_health(state, view.now),
        view.snapshot.problems,
        tuple(dict.fromkeys(failures)),
    )
