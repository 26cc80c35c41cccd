"""Use cases of an operator: what a state has, its backup, and its restoration."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import attrs

from negotiator.app.exclusive import open_state
from negotiator.errors import CommandError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.state import BackupSummary as BackupSummary
from negotiator.runtime.state import Leader, StateStore


@attrs.frozen
class StateSummary:
    """Where a state is, the version of its tables, the number of rows by table, and who leads with a shared one."""

    place: str
    version: int
    rows: Mapping[str, int]
    leader: Leader | None = None


def state_summary(targets: CommandTargets) -> StateSummary:
    """Return what a state has; nothing is written.

    :raises StateError: it is missing or cannot be read.
    """
    with StateStore.read(targets.required_state) as store:
        return StateSummary(store.name, store.version, store.count_rows(), store.leader)


def back_up(targets: CommandTargets, file: Path) -> BackupSummary:
    """Write a backup of a state, also while a negotiator uses it.

    :raises StateError: it is missing or cannot be read.
    :raises CommandError: the file cannot be written.
    """
    with StateStore.read(targets.required_state) as store:
        try:
            return store.back_up(file, time.time())
        except OSError as error:
            raise CommandError(f"{file}: cannot write the backup: {error.strerror or error}") from None


def restore(targets: CommandTargets, file: Path, *, replace: bool) -> BackupSummary:
    """Replace a state by a backup; make the state if it is missing.

    :param replace: also a state that is not empty.
    :raises StateError: a negotiator uses the state, it is not empty, or the backup cannot be used; nothing was changed.
    """
    with open_state(targets.required_state) as store:
        return store.restore(file, replace=replace)
