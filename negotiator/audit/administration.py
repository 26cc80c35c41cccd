"""What administrators did, as records of the audit log: acts on applications, and changes of the bundle."""

from __future__ import annotations

from collections.abc import Sequence

from negotiator.audit.values import Record, bounded, instant
from negotiator.records import Problem

_PROBLEMS = 50
_TEXT = 500


def admin_record(
    *,
    now: float,
    bundle: str,
    request: int,
    action: str,
    user: str,
    requested_at: float,
    application: str,
    queue: str,
    note: str,
    ok: bool,
    text: str,
    rule: str,
) -> Record:
    """One act that an administrator asked for, done or not: ``rule`` of the access policy decided."""
    return {
        "kind": "admin",
        "time": instant(now),
        "bundle": bundle,
        "request": request,
        "action": bounded(action),
        "user": bounded(user),
        "requested_at": instant(requested_at),
        "application": bounded(application),
        "queue": bounded(queue),
        "note": bounded(note, _TEXT),
        "ok": ok,
        "text": bounded(text, _TEXT),
        "rule": bounded(rule),
    }


def reload_record(
    *,
    now: float,
    trigger: str,
    previous_bundle: str,
    bundle: str,
    problems: Sequence[Problem],
    accepted: bool,
) -> Record:
    """Another bundle was looked at: from the next cycle on it holds, or it was refused and the one before stays."""
    return {
        "kind": "reload",
        "time": instant(now),
        "trigger": bounded(trigger),
        "accepted": accepted,
        "previous_bundle": previous_bundle,
        "bundle": bundle,
        "problems": [bounded(str(problem), _TEXT) for problem in problems[:_PROBLEMS]],
        "problems_left_out": max(0, len(problems) - _PROBLEMS),
    }
