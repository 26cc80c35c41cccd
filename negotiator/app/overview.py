"""Use case: everything that the HTTP interface shows of a pool at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator.app.health import HealthReport, negotiator_health
from negotiator.app.pool_view import PoolView, pool_paths
from negotiator.app.queue_values import QueueValues
from negotiator.app.reports import CollectedReport, collect_reports
from negotiator.app.targets import bundle_folder, current_time
from negotiator.app.usage import usage_report
from negotiator.bundle import Bundle
from negotiator.errors import InvalidCallError, StateError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Problem
from negotiator.runtime.collector import exempt_reachable as exempt_reachable
from negotiator.runtime.cycle_history import HISTORY_FILE
from negotiator.runtime.pool_contents import ACCEPTED as ACCEPTED
from negotiator.runtime.pool_contents import RUNNING as RUNNING
from negotiator.runtime.pool_contents import ApplicationContents as ApplicationContents
from negotiator.runtime.pool_contents import HostContents as HostContents
from negotiator.runtime.pool_contents import PoolContents as PoolContents
from negotiator.runtime.pool_contents import RunningJob as RunningJob
from negotiator.runtime.pool_contents import pool_contents
from negotiator.runtime.state import StateStore
from negotiator.runtime.status_file import STATUS_FILE

#: Endings of the names of files without contents of their own: locks, and the index that readers of the database share.
_NO_CONTENTS: Final = (".lock", "-shm")


@attrs.frozen(eq=False)
class PoolOverview:
    """A pool under its bundle at ``now``, in seconds since the epoch.

    ``users``, ``groups`` and ``concurrency`` (limits) are the entries of the usage reports. ``health`` is that of the negotiator that
    uses the state; None without a state. ``problems`` are those of the ads. ``reports`` are those of plugins, ``failures`` of plugins
    too: what they contribute is missing.
    """

    bundle: Bundle
    now: float
    contents: PoolContents
    users: tuple[Mapping[str, Any], ...]
    groups: tuple[Mapping[str, Any], ...]
    concurrency: tuple[Mapping[str, Any], ...]
    health: HealthReport | None
    problems: tuple[Problem, ...]
    reports: tuple[CollectedReport, ...]
    failures: tuple[HookFailure, ...]

    @cached_property
    def queue_values(self) -> QueueValues:
        """What cycles make of the settings of the queues."""
        return QueueValues.of(self.contents.queues, self.bundle)


def inputs(targets: CommandTargets) -> object:
    """Return a value that changes with what an overview is made of: the bundle, the pool, the state without its status."""
    try:
        bundle = bundle_folder(targets)
    except (StateError, InvalidCallError):  # who reads the pool then reports it
        bundle = None
    folders = [path for path in (bundle, targets.state, *pool_paths(targets)) if path is not None]
    files = {file for folder in folders for file in _files(folder)}
    return *_changes(targets), *sorted((str(file), *_version(file)) for file in files)


def _changes(targets: CommandTargets) -> tuple[object, ...]:
    """Return a value that changes with a state in a database; one in a file is among the files."""
    if targets.state_database is None:
        return ()
    try:
        with StateStore.read(targets.required_state) as store:
            return store.changes()
    except StateError as error:  # who reads the state then reports it
        return (str(error),)


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder that have contents: a status and locks are none, nor are files that are being written."""
    if not path.is_dir():
        yield path
        return
    for file in path.rglob("*"):
        if (
            file.name not in {STATUS_FILE, HISTORY_FILE}
            and not file.name.startswith(".")
            and not file.name.endswith(_NO_CONTENTS)
        ):
            yield file


def _version(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError:  # it is gone
        return 0, 0
    return found.st_mtime_ns, found.st_size


def with_present_health(overview: PoolOverview, targets: CommandTargets) -> PoolOverview:
    """Return an overview with the negotiator's health of now; the same one if that has not changed.

    :raises StateError: the state cannot be read.
    """
    health = _health(targets, current_time(targets))
    return overview if health == overview.health else attrs.evolve(overview, health=health)


def _health(targets: CommandTargets, now: float) -> HealthReport | None:
    location = targets.state_location
    return None if location is None else negotiator_health(location, now)


def pool_overview(view: PoolView) -> PoolOverview:
    """Return what a pool holds, and who uses it.

    :raises PoolError: the pool cannot be read.
    :raises StateError: the state cannot be read.
    """
    contents = pool_contents(view.snapshot, view.bundle, view.cycle_state, view.now)
    users, groups, concurrency = (usage_report(view, name) for name in ("users", "groups", "limits"))
    failures = [*contents.failures, *view.group_failures]
    reports, report_failures = collect_reports(view)
    failures += report_failures
    failures += (each for report in (users, groups, concurrency) for each in report.failures)
    return PoolOverview(
        view.bundle,
        view.now,
        contents,
        users.entries,
        groups.entries,
        concurrency.entries,
        _health(view.targets, view.now),
        view.snapshot.problems,
        reports,
        tuple(dict.fromkeys(failures)),
    )
