"""The state and the audit log of a negotiator, which nobody else may use while they are open; what a state has, its backup, and its restoration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import attrs

from negotiator.audit.folder import AuditBusyError
from negotiator.audit.key import read_key
from negotiator.audit.log import AuditLog
from negotiator.errors import CommandError, StateError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.state_location import StateLocation
from negotiator.runtime.state import BackupSummary as BackupSummary
from negotiator.runtime.state import Leader, StateStore

LOCK_TIMEOUT: Final = 10.0
"""Seconds to wait for an admin command that holds the state or the audit log."""

_POLL: Final = 0.2


def open_state(location: StateLocation) -> StateStore:
    """Open a state, and lock it.

    :raises StateError: it cannot be used, or another negotiator uses it.
    """
    store = StateStore.open(location)
    try:
        hold_lock(store.hold_lock, f"{location}: another negotiator uses this state")
    except BaseException:
        store.close()
        raise
    return store


def hold_lock(take: Callable[[], bool], refusal: str) -> None:
    """Take a lock that an admin command may have for a moment.

    :raises StateError: another process keeps it; with the message ``refusal``.
    """
    end = time.monotonic() + LOCK_TIMEOUT
    while not take():
        if time.monotonic() >= end:
            raise StateError(refusal)
        time.sleep(_POLL)


def open_audit_log(folder: Path, key_file: Path | None, rotate_bytes: int) -> AuditLog:
    """Open an audit log, and lock it.

    :param key_file: the file of the key of its hashes; None for none.
    :raises AuditError: it cannot be used, or another process writes it.
    """
    key = read_key(key_file) if key_file else None
    end = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            return AuditLog.open(folder, key=key, rotate_bytes=rotate_bytes)
        except AuditBusyError:  # it may be an admin command, for a moment
            if time.monotonic() >= end:
                raise
        time.sleep(_POLL)


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
