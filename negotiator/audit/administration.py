"""The audit records of administration: requests of administrators, and reloads of the bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    order: str,
    change: str,
    ok: bool,
    text: str,
    rule: str,
) -> Record:
    """Return the record of an administrator's request, granted or denied.

    :param change: the beginning of the requested change of the rows of ``order``.
    :param rule: the access rule that decided.
    """
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
        "order": bounded(order),
        "change": bounded(change, _TEXT),
        "ok": ok,
        "text": bounded(text, _TEXT),
        "rule": bounded(rule),
    }


def reload_record(
    *, now: float, bundle: str, trigger: str, new_bundle: str, problems: Sequence[Problem], accepted: bool
) -> Record:
    """Return the record of an attempt to load a changed bundle.

    :param bundle: the digest of the bundle in force until now.
    :param new_bundle: the digest of the changed one; it is in force from the next cycle if it was accepted.
    """
    return {
        "kind": "reload",
        "time": instant(now),
        "bundle": bundle,
        "trigger": bounded(trigger),
        "accepted": accepted,
        "new_bundle": new_bundle,
        "problems": [bounded(str(problem), _TEXT) for problem in problems[:_PROBLEMS]],
        "problems_left_out": max(0, len(problems) - _PROBLEMS),
    }


def drain_record(
    *,
    now: float,
    bundle: str,
    queue: str,
    since: float,
    users: Sequence[str],
    administrators: Sequence[str],
    program: str,
    failure: str,
) -> Record:
    """Return the record of a command that notified people of a draining queue.

    :param failure: why it failed; empty if it did not.
    """
    return {
        "kind": "drain_notice",
        "time": instant(now),
        "bundle": bundle,
        "queue": bounded(queue),
        "since": instant(since),
        "users": [bounded(each) for each in users[:_PROBLEMS]],
        "administrators": [bounded(each) for each in administrators[:_PROBLEMS]],
        "names_left_out": max(0, len(users) - _PROBLEMS) + max(0, len(administrators) - _PROBLEMS),
        "program": bounded(program),
        "ok": not failure,
        "failure": bounded(failure, _TEXT),
    }


def recovery_record(
    *,
    now: float,
    bundle: str,
    user: str,
    differences: Sequence[str],
    state_head: str,
    fault: Mapping[str, Any] | None,
) -> Record:
    """Return the record of an administrator's decision to continue although state and log do not agree.

    :param state_head: the head of the log that the state agreed with; empty if it had none.
    :param fault: the first fault of the log, with its file, line, number of the record and kind.
    """
    return {
        "kind": "recovery",
        "time": instant(now),
        "bundle": bundle,
        "user": bounded(user),
        "differences": [bounded(each, _TEXT) for each in differences],
        "state_head": state_head,
        "fault": fault,
    }
