"""Use case: the usage of users, groups or other subjects, beside their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from negotiator.app.pool_view import PoolView
from negotiator.hooks import specs
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.hook import per_plugin

#: The reports of the program's own plugins; an empty one is an answer too.
REPORTS = ("users", "users-spec", "groups", "groups-spec", "quotas", "limits", "accounting-groups")


@attrs.frozen
class UsageReport:
    """The entries of a report, as plugins return them; with ``failures`` of plugins, entries may be missing.

    ``is_known`` is false if no plugin has an entry of the report, and it is none of the program's own.
    """

    report: str
    entries: tuple[Mapping[str, Any], ...]
    failures: tuple[HookFailure, ...] = ()
    is_known: bool = True


def entry_name(entry: Mapping[str, Any]) -> str:
    """Return the name of the subject of an entry: its first value."""
    return str(next(iter(entry.values()), ""))


def usage_report(view: PoolView, report: str, name: str | None = None) -> UsageReport:
    """Count the usage and call the plugins for a report.

    :param report: ``users``, ``groups``, or another one that a plugin knows.
    :param name: return the entry of this user or group alone.
    :raises PoolError: the pool cannot be read.
    :raises StateError: the state cannot be read.
    """
    usage = view.usage
    answers = view.bundle.hooks.ask(
        specs.negotiator_usage,
        report=report,
        used=per_plugin(usage.of),
        queues=usage.queues,
        settings=view.bundle.settings,
    )
    entries = (attributed.record for attributed in answers.records)
    chosen = tuple(entry for entry in entries if name in {None, entry_name(entry)})
    is_known = bool(answers.records) or report in REPORTS
    return UsageReport(report, chosen, (*usage.failures, *answers.failures), is_known)
