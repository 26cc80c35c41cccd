"""Checks, before a state and an audit log are continued, that each agrees with the other.

The state has a mark: the head of the log after the intent of the last cycle, and the id of the last match. The ``cycle``
record of each cycle with a saved state has that id too. The intent is on disk before the state is, so a crash leaves a log
that is at most one cycle ahead of the state; of that cycle nothing was handed out.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from negotiator.audit.administration import recovery_record
from negotiator.audit.errors import AuditError
from negotiator.audit.history import LogHistory, complete_files, fault_fields, read_history
from negotiator.audit.log import AuditLog
from negotiator.errors import StateError
from negotiator.runtime.state import AuditMark, StateStore

_ADVICE = (
    "to continue nevertheless, use --recover: matches that the state does not have may be handed out again, and the "
    "recovery is recorded"
)


class InconsistentLogError(AuditError):
    """The audit log was changed, or is not the one that the state agrees with."""


class InconsistentStateError(StateError):
    """The state was changed, emptied or replaced by an older copy."""


@attrs.frozen
class Recovery:
    """An administrator accepts the differences: who, when (seconds since the epoch), under which bundle (its digest)."""

    user: str
    now: float
    bundle: str


def check_consistency(
    store: StateStore | None, log: AuditLog | None, recovery: Recovery | None = None
) -> str:
    """Compare a state and an audit log, and let the state agree with the log from now on.

    Without a state, only the last file of the log is verified: nothing shows that the others were verified before.

    :param recovery: accepts all differences; they are recorded in the log.
    :return: the differences that were accepted; empty if there is none.
    :raises InconsistentLogError: the log was changed or replaced.
    :raises InconsistentStateError: the state was changed or replaced.
    """
    mark = store.mark() if store else None
    history = _history(store, log, mark)
    of_log = list(_of_log(log, history, mark)) if log else []
    of_state = list(_of_state(store, history if log else None, mark)) if store else []
    differences = "; ".join((*of_log, *of_state))
    if differences and recovery is None:
        error = InconsistentLogError if of_log else InconsistentStateError
        place = log.folder if of_log and log else store.name if store else ""
        raise error(f"{place}: {differences} ({_ADVICE})")
    if differences and recovery and log:
        log.append(
            [
                recovery_record(
                    now=recovery.now,
                    bundle=recovery.bundle,
                    user=recovery.user,
                    differences=(*of_log, *of_state),
                    state_head=mark.head if mark else "",
                    fault=fault_fields(history.fault),
                )
            ]
        )
        log.sync()
    if store:
        _accept(store, log, history, mark)
    return differences


def _history(store: StateStore | None, log: AuditLog | None, mark: AuditMark | None) -> LogHistory:
    if log is None:
        return LogHistory()
    known = (mark.files if mark else {}) if store else None
    return read_history(log.folder, log.seal, _seq(mark.head) if mark else 0, known)


def _of_log(log: AuditLog, history: LogHistory, mark: AuditMark | None) -> Iterator[str]:
    """Yield how the log differs from the one that was written."""
    if history.fault:
        yield f"{log.folder / history.fault.file}:{history.fault.line}: {history.fault.message}"
        return
    if mark is None:
        return
    seq = _seq(mark.head)
    if history.last.seq < seq:
        yield (
            f"the audit log ends with record {history.last.seq}, but the state knows record {seq}: the end of the log was "
            "cut off, or the log was moved away or replaced"
        )
    elif seq and str(history.at_mark) != mark.head:
        yield f"record {seq} of the audit log is not the one that the state knows: the log was rewritten or replaced"


def _of_state(store: StateStore, history: LogHistory | None, mark: AuditMark | None) -> Iterator[str]:
    """Yield how the state differs from the one that was written; ``history`` is None without a log."""
    if lost := store.difference():
        yield f"the state was changed by another program ({lost})"
    if history is None or history.fault:
        return
    if mark is None:
        if history.matches:
            yield (
                f"the audit log has cycles with a saved state (last match: {history.last_match or 'none'}), but this "
                "state has none: it was emptied, deleted or replaced"
            )
        return
    later = history.cycles_after(_seq(mark.head))
    if len(later) > 1 or history.outcomes.intersection(later):
        yield (
            f"the audit log has cycle {later[-1]} (last match: {history.last_match or 'none'}), but the last match of the "
            f"state is {mark.last_match or 'none'}: the state was replaced by an older copy"
        )
    recorded = history.last_match_until(_seq(mark.head))
    if recorded not in {None, mark.last_match}:
        yield f"the last match is {recorded} in the audit log, but {mark.last_match or 'none'} in the state"


def _accept(store: StateStore, log: AuditLog | None, history: LogHistory, mark: AuditMark | None) -> None:
    """Let the state agree with the end of the log. Without a log, the old mark stays."""
    if log is not None:
        last = history.last_match
        before = mark.last_match if mark else ""
        mark = AuditMark(log.head, before if last is None else last, complete_files(log.folder))
    store.accept(mark)


def _seq(head: str) -> int:
    return int(head.partition(":")[0])
