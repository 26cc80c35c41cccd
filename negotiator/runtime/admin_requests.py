"""What administrators ask of a negotiator: noted in its state, and done at once where none is running."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import attrs

from negotiator.audit.errors import AuditError
from negotiator.audit.key import read_key
from negotiator.audit.log import AuditLog
from negotiator.bundle import Bundle, BundleError
from negotiator.classad import Table
from negotiator.pool import ClaimVault
from negotiator.pool.snapshot import Snapshot
from negotiator.runtime.run import Runtime
from negotiator.runtime.settle import Offline
from negotiator.runtime.state import AdminAction, AdminAnswer, AdminRequest, StateStore


@attrs.frozen
class AdminEnvironment:
    """Where what is asked for is done, if no negotiator is running. ``load`` may raise BundleError."""

    load: Callable[[], Bundle]
    audit_log: Path
    key_file: Path | None = None


def submit(store: StateStore, request: AdminRequest, environment: AdminEnvironment) -> int:
    """Note a request, and give its number; be the negotiator for a moment, where none is running.

    So it is answered when this returns, unless a negotiator is running, or the state is not the caller's own. What can't
    be recorded is not left for later, but for the change of a file: that was written, or denied, already.

    :raises StateError: the state can't be written.
    :raises BundleError: the bundle has errors; only where no negotiator is running.
    :raises AuditError: it could not be recorded; only where no negotiator is running.
    """
    number = store.request(request)
    if store.is_own and store.hold_lock():
        try:
            _answer_all(store, environment)
        except (AuditError, BundleError):
            if request.action is not AdminAction.CHANGE:
                store.answer(number, AdminAnswer(ok=False, text="it could not be recorded"))
            raise
    return number


def _answer_all(store: StateStore, environment: AdminEnvironment) -> None:
    bundle = environment.load()
    key = read_key(environment.key_file) if environment.key_file else None
    with AuditLog.open(environment.audit_log, key=key, rotate_bytes=bundle.audit.rotate_bytes) as log:
        Runtime(bundle, _no_pool, time.time, Offline(), log, store).between_cycles()


def _no_pool() -> tuple[Snapshot, ClaimVault]:
    nothing = Table.from_ads(())
    return Snapshot(nothing, nothing, nothing, nothing), ClaimVault()
