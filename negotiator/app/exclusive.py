"""Opens the state and the audit log of a negotiator, which nobody else may use meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from negotiator.audit.errors import AuditBusyError
from negotiator.audit.key import read_key
from negotiator.audit.log import AuditLog
from negotiator.errors import StateError
from negotiator.hooks.state_location import StateLocation
from negotiator.runtime.state import BackupSummary as BackupSummary
from negotiator.runtime.state import StateStore

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
