"""Submits requests of administrators: through the state folder, or at once if no negotiator runs."""

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
from negotiator.pool.snapshot import Snapshot
from negotiator.runtime.bundle_identity import BundleChangedError, check_bundle
from negotiator.runtime.consistency import InconsistentStateError, check_consistency
from negotiator.runtime.cycle_pool import FilePool
from negotiator.runtime.run import Runtime
from negotiator.runtime.state import AdminAnswer, AdminRequest, StateStore


@attrs.frozen
class AdminEnvironment:
    """What carrying out a request needs if no negotiator runs. ``load`` returns the bundle or raises BundleError."""

    load: Callable[[], Bundle]
    audit_log: Path
    key_file: Path | None = None


def submit(store: StateStore, request: AdminRequest, environment: AdminEnvironment) -> int:
    """Write a request to the state, and return its number; carry it out if no negotiator runs.

    Afterwards it is answered, unless a negotiator runs or the state belongs to another user. A request that could not be
    recorded is answered with an error; only the change of a file waits, since the file was written (or the change
    denied) before.

    :raises StateError: the state cannot be written.
    :raises BundleError: no negotiator runs, and the bundle has errors.
    :raises AuditError: no negotiator runs, and the request could not be recorded.
    :raises BundleChangedError: no negotiator runs, and the state belongs to another bundle.
    """
    number = store.request(request)
    if store.is_own and store.hold_lock():
        try:
            _answer_all(store, environment)
        except (AuditError, BundleError, BundleChangedError, InconsistentStateError):
            if not request.action.is_change:
                store.answer(number, AdminAnswer(ok=False, text="the request could not be recorded"))
            raise
    return number


def _answer_all(store: StateStore, environment: AdminEnvironment) -> None:
    bundle = environment.load()
    check_bundle(store, bundle)
    key = read_key(environment.key_file) if environment.key_file else None
    with AuditLog.open(environment.audit_log, key=key, rotate_bytes=bundle.audit.rotate_bytes) as log:
        check_consistency(store, log)
        Runtime(bundle, FilePool(_no_ads), time.time, log, store).between_cycles()


def _no_ads() -> Snapshot:
    nothing = Table.from_ads(())
    return Snapshot(nothing, nothing, nothing, nothing)
