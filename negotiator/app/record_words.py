"""Records of the audit log in words: who, what, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs

from negotiator.audit.denials import OTHER_JOBS, decisive_reason

#: A record of the audit log; those of earlier versions lack some fields.
Record: TypeAlias = Mapping[str, Any]

_IDS: Final = 3  # of jobs that are named


@attrs.frozen
class RecordWords:
    """A record in words: whom it is about, what happened, why, and the place of the rule that decided, empty if there is none."""

    who: str = ""
    what: str = ""
    why: str = ""
    source: str = ""


def record_words(record: Record) -> RecordWords:
    """Return a record in words; of an unknown kind there are none."""
    make = _WORDS.get(str(record.get("kind")))
    return RecordWords() if make is None else make(record)


def job_names(ids: Sequence[str]) -> str:
    """Return the first ids of jobs: ``31.3-8, 32.3-8, 33.3-8 and further ones``."""
    return ", ".join(ids[:_IDS]) + (" and further ones" if len(ids) > _IDS else "")


def _jobs(record: Record) -> str:
    ids = _list(record, "job_ids") or [_text(record, "first_job") or _text(record, "job")]
    return job_names(list(map(str, ids)))


def _source(reason: Record) -> str:
    """Return where the rule of a reason is, empty if it is in no file."""
    return _text(_mapping(reason.get("provenance")), "source")


def _match(record: Record) -> RecordWords:
    preempts = _mapping(record.get("preempts"))
    ended = ""
    if preempts:
        slots = _list(preempts, "slots")
        ended = f", where {f'{len(slots)} jobs' if len(slots) > 1 else 'a job'} of {preempts.get('user')} {'end' if len(slots) > 1 else 'ends'}"
    reason = _mapping(record.get("reason"))
    what = f"job {_jobs(record)} got {_text(record, 'slot')}{_in_queue(record)}{ended}"
    return RecordWords(_user(record), what, _text(reason, "text"), _source(reason))


def _denial(record: Record) -> RecordWords:
    reason = _mapping(decisive_reason(record))
    what = f"{_count(record, 'jobs', 'job')} got no slot{_in_queue(record)}: {_jobs(record)}"
    why = _text(reason, "text") or OTHER_JOBS
    return RecordWords(_user(record), what, why, _source(reason))


def _placement(record: Record) -> RecordWords:
    queue, steps = _text(record, "queue"), _list(record, "steps")
    last = _mapping(steps[-1]) if steps else {}
    jobs = _count(record, "jobs", "job")
    what = f"{jobs} placed in {queue}" if queue else f"{jobs} rejected: no rule places {_jobs(record)}"
    return RecordWords(_user(record), what, _text(last, "text"), _text(last, "source"))


def _discard(record: Record) -> RecordWords:
    reason = _mapping(record.get("reason"))
    examples = ", ".join(map(str, _list(record, "examples")[:_IDS]))
    what = f"{_count(record, 'count', 'ad')} of kind {_text(record, 'ads')} set aside: {examples}"
    return RecordWords("", what, _text(reason, "text"), _source(reason))


def _failure(record: Record) -> RecordWords:
    what = f"plugin {_text(record, 'plugin')} failed in {_text(record, 'hook')}"
    return RecordWords("", what, _text(record, "message"))


def _time_stop(record: Record) -> RecordWords:
    reason = _mapping(record.get("reason"))
    what = f"the time limit of the {_text(record, 'limit')} stopped the cycle"
    return RecordWords(_text(record, "submitter"), what, _text(reason, "text"), _source(reason))


def _overrun(record: Record) -> RecordWords:
    reason, change = _mapping(record.get("reason")), _text(record, "change")
    words = {
        "begun": "breaks a rule",
        "ended": "no longer breaks a rule",
        "evict": "is to end, since it breaks a rule",
    }
    subject = _text(record, "subject")
    what = f"{subject} {words.get(change, change)}"
    return RecordWords(_user(record) or subject, what, _text(reason, "text"), _source(reason))


def _overfill(record: Record) -> RecordWords:
    """Return the words of a record of an earlier version: a limit in each cycle that began with it exceeded."""
    reason = _mapping(record.get("reason"))
    what = f"{_text(record, 'resource') or 'the count'} is over its limit"
    return RecordWords(_text(record, "subject"), what, _text(reason, "text"), _source(reason))


def _cycle(record: Record) -> RecordWords:
    matches, denials = _count(record, "matches", "match"), _count(record, "denials", "denial")
    return RecordWords("", f"cycle {record.get('cycle')} decided: {matches}, {denials}")


def _outcome(record: Record) -> RecordWords:
    names = ("delivered", "printed", "failed", "unknown", "withheld")
    counts = [
        f"{len(found)} {name}"
        for name in names
        if isinstance(found := record.get(name), (list, dict)) and found
    ]
    ended = _list(record, "evicted")
    more = f"; {len(ended)} running jobs asked to end" if ended else ""
    return RecordWords("", f"matches of cycle {record.get('cycle')}: {', '.join(counts) or 'none'}{more}")


def _admin(record: Record) -> RecordWords:
    action = _text(record, "action").replace("_", " ")
    about = " ".join(filter(None, (_text(record, "application"), _text(record, "queue"))))
    answer = "done" if record.get("ok") else "refused"
    what = ": ".join(filter(None, (f"{action} {about}".strip(), answer, _text(record, "note"))))
    rule = _text(record, "rule")
    return RecordWords(_user(record), what, _text(record, "text") + (f" (rule {rule})" if rule else ""))


def _reload(record: Record) -> RecordWords:
    result = "loaded" if record.get("accepted") else "refused"
    problems = _list(record, "problems")
    what = f"bundle {_text(record, 'new_bundle')[:12]} {result} ({_text(record, 'trigger')})"
    return RecordWords("", what, str(problems[0]) if problems else "")


def _queue_change(record: Record) -> RecordWords:
    return RecordWords("", f"queue {_text(record, 'queue')}: {_text(record, 'change')}")


def _drain_notice(record: Record) -> RecordWords:
    result = "notified" if record.get("ok") else "not notified"
    users = len(_list(record, "users"))
    return RecordWords(
        "", f"queue {_text(record, 'queue')} drains: {users} users {result}", _text(record, "failure")
    )


def _recovery(record: Record) -> RecordWords:
    what = "state and audit log differed, and an administrator continued"
    return RecordWords(_user(record), what, "; ".join(map(str, _list(record, "differences"))))


def _repair(record: Record) -> RecordWords:
    return RecordWords("", f"{record.get('bytes')} bytes of a torn line were cut off {_text(record, 'file')}")


def _shadow_report(record: Record) -> RecordWords:
    differences = _list(record, "differences")
    return RecordWords("", f"compared with the pool's own negotiator: {len(differences)} differences")


_WORDS: Final[Mapping[str, Callable[[Record], RecordWords]]] = {
    "match": _match,
    "denial": _denial,
    "placement": _placement,
    "discard": _discard,
    "overrun": _overrun,
    "overfill": _overfill,
    "time_stop": _time_stop,
    "failure": _failure,
    "cycle": _cycle,
    "outcome": _outcome,
    "admin": _admin,
    "reload": _reload,
    "queue_change": _queue_change,
    "drain_notice": _drain_notice,
    "shadow_report": _shadow_report,
    "recovery": _recovery,
    "repair": _repair,
}
#: The kinds of records, those first that are searched most.
KINDS: Final = tuple(_WORDS)


def _user(record: Record) -> str:
    return _text(record, "user") or _text(record, "submitter")


def _in_queue(record: Record) -> str:
    queue = _text(record, "queue")
    return f" in {queue}" if queue else ""


def _count(record: Record, key: str, noun: str) -> str:
    number = record.get(key)
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    return "" if value is None else str(value)


def _list(record: Record, key: str) -> list[Any]:
    value = record.get(key)
    return value if isinstance(value, list) else []


def _mapping(value: object) -> Record:
    return value if isinstance(value, Mapping) else {}
