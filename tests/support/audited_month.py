"""A month of audit records made up for reports: matches, denials by several rules, running jobs, and hostile names."""

from __future__ import annotations

from negotiator.audit.log import AuditLog
from negotiator.audit.values import instant

BEGUN = 1_793_491_200.0  # 2026-11-01, UTC
HOUR = 3600.0
DAY = 24 * HOUR
#: A user, and a rule, who try to be HTML.
HOSTILE = "<script>alert('x')</script>"


def reason(rule, plugin="limits", text="", source="queues.yaml:3:5"):
    origin = {"station": "charge", "plugin": plugin, "version": "1", "rule": rule, "source": source}
    return {"verdict": "waiting", "code": rule, "text": text or f"{rule} is reached", "provenance": origin}


def cycle(number, *, matches=(), denials=(), running=0, slots=100, time=None, **fields):
    """Return the records of a cycle: matches are users, denials are users with jobs and the reason."""
    common = {"cycle": number, "time": instant(BEGUN + number * HOUR if time is None else time)}
    return [
        *({"kind": "match", **common, "user": user, "queue": f"root.{user}"} for user in matches),
        *(
            {
                "kind": "denial",
                **common,
                "user": user,
                "jobs": jobs,
                "first_job": "1.0",
                "reasons": [found],
                "decisive": 0,
            }
            for user, jobs, found in denials
        ),
        {"kind": "discard", **common, "ads": "job", "count": running, "reason": {"code": "job_running"}},
        {"kind": "cycle", **common, "counts": {"slots": slots}, **fields},
    ]


def write_month(folder):
    """Write a log of 20 days with a cycle every four hours, of 30 users and 12 rules."""
    names = [HOSTILE, *(f"user{n}" for n in range(30))]
    rules = [reason(HOSTILE, text=f"no {HOSTILE}"), *(reason(f"rule{n}") for n in range(12))]
    with AuditLog.open(folder, rotate_bytes=100_000) as log:
        for number in range(0, 480, 4):
            given = [names[each * each % 31] for each in range(number % 17)]
            denied = [(names[n], 5 + n, rules[(n + number) % len(rules)]) for n in range(number % 7, 31, 3)]
            used = {name: 30 - place for place, name in enumerate(names[:25])}
            in_use = {"jobs": 500, "users": used, "queues": {"root.a": 300, "root.b": 200}}
            log.append(cycle(number, matches=given, denials=denied, in_use=in_use))
    return folder
