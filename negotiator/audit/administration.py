"""What administrators did, as records of the audit log: acts on applications, and changes of the bundle."""

from __future__ import annotations

from collections.abc import Sequence

from negotiator.audit.values import Record, bounded, instant
from negotiator.records import Problem

_PROBLEMS = 50
_TEXT = 500


def act_record(
    *,
    now: float,
    digest: str,
    number: int,
    act: str,
    by: str,
    asked: float,
    application: str,
    queue: str,
    note: str,
    ok: bool,
    text: str,
    rule: str,
) -> Record:
    """One act that an administrator asked for, done or not: ``rule`` of the access policy decided."""
    return {
        "kind": "act",
        "time": instant(now),
        "digest": digest,
        "number": number,
        "act": bounded(act),
        "by": bounded(by),
        "asked": instant(asked),
        "application": bounded(application),
        "queue": bounded(queue),
        "note": bounded(note, _TEXT),
        "ok": ok,
        "text": bounded(text, _TEXT),
        "rule": bounded(rule),
    }


def reload_record(
    *, now: float, how: str, before: str, digest: str, problems: Sequence[Problem], accepted: bool
) -> Record:
    """Another bundle was looked at: from the next cycle on it holds, or it was refused and the one before stays."""
    return {
        "kind": "reload",
        "time": instant(now),
        "how": bounded(how),
        "accepted": accepted,
        "before": before,
        "digest": digest,
        "problems": [bounded(str(problem), _TEXT) for problem in problems[:_PROBLEMS]],
        "problems_left_out": max(0, len(problems) - _PROBLEMS),
    }
