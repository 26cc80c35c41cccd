"""Use case: what was decided about a job or a slot, and under which text of which rule, from the audit log alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.decisions import DECISIONS, Decision, DecisionReason, decision_of, decision_reason
from negotiator.app.job_lookup import JOB_ID
from negotiator.app.record_words import Record
from negotiator.audit.denials import OTHER_JOBS
from negotiator.audit.rule_text import RuleText as RuleText
from negotiator.audit.rule_text import rule_text
from negotiator.audit.search import records_in_order
from negotiator.errors import InvalidCallError, NotFoundError
from negotiator.records.text import printable

_MOST: Final = 100_000  # records
_NAMED: Final = 5  # schedds in a message
_MATCHED: Final = "matched"
_SET_ASIDE: Final = "set aside"
_DISCARDS: Final = frozenset({"discard"})


@attrs.frozen(kw_only=True)
class DecisionPeriod:
    """The decisions of one kind, by one rule of one bundle; ``last`` and what follows are of the newest one.

    ``decision`` is ``matched``, ``set aside``, or the verdict of a denial. ``times`` counts the records, between ``first`` and ``last`` (RFC 3339). ``slot`` is the one
    that a job got; ``jobs`` names the user and the queue of the jobs that got a slot. ``why`` is the reason, ``code`` the same for programs. ``source`` is the place of the rule, and ``text`` its lines in
    the bundle.
    """

    decision: str
    times: int
    first: str
    last: str
    cycle: int
    slot: str = ""
    jobs: str = ""
    why: str
    code: str
    plugin: str
    rule: str
    source: str
    bundle: str
    text: RuleText | None = None


@attrs.frozen(kw_only=True)
class DecisionHistory:
    """What was decided about a job or a slot: the periods, that with the newest decision first.

    ``is_complete`` is False if the log was not read to its beginning.
    """

    subject: str
    user: str = ""
    queue: str = ""
    periods: tuple[DecisionPeriod, ...]
    is_complete: bool


def decision_history(
    folder: Path, subject: str, query: AuditQuery | None = None, limit: int | None = None
) -> DecisionHistory:
    """Return what was decided about a job (``12.7``, ``schedd#12.7``, a cluster ``12``) or a slot; the chain is not verified.

    :param folder: the folder of the audit log.
    :param query: what else the records must have.
    :param limit: how many records count at most, the newest ones; None is 100,000.
    :raises AuditError: the log is missing or cannot be read.
    :raises InvalidCallError: several schedds have such a job, the message names them; or the query has another job or slot.
    :raises NotFoundError: no record names it.
    """
    most = limit or _MOST
    pages = [audit_page(folder, each, most) for each in _queries(subject, query or AuditQuery())]
    found = sorted(chain.from_iterable(page.records for page in pages), key=_time, reverse=True)
    is_complete = len(found) <= most and all(page.before is None for page in pages)
    if not found:
        unread = "" if is_complete else ", as far as it was searched: use --since and --until"
        raise NotFoundError(f"no decision in {folder} names {subject!r}{unread}")
    return _history(folder, subject, found[:most], is_complete=is_complete)


def records_about(folder: Path, subject: str, query: AuditQuery) -> Iterator[Record]:
    """Yield all records that ``decision_history`` adds up, the oldest one first; without a subject, all that the query accepts.

    :raises AuditError: the log is missing or cannot be read.
    :raises InvalidCallError: the query has another job or slot.
    """
    return records_in_order(folder, _queries(subject, query) if subject else (query,))


def _queries(subject: str, query: AuditQuery) -> Iterator[AuditQuery]:
    """Yield the query of the decisions about a job or a slot, and that of the records in which its ad was set aside."""
    if JOB_ID.fullmatch(subject):
        schedd, _, name = subject.rpartition("#")
        other, decisions = query.job, attrs.evolve(query, job=name, schedd=schedd)
    else:
        name = subject
        other, decisions = query.slot, attrs.evolve(query, slot=name)
    if other not in {"", name}:
        raise InvalidCallError(f"{subject} and {other} are both given: use one of them")
    for kinds, each in ((DECISIONS, decisions), (_DISCARDS, attrs.evolve(query, name=name))):
        if wanted := kinds & (query.kinds or kinds):
            yield attrs.evolve(each, kinds=wanted)


def _history(folder: Path, subject: str, records: Sequence[Record], *, is_complete: bool) -> DecisionHistory:
    decisions = [decision_of(each) for each in records if each.get("kind") in DECISIONS]
    is_job = JOB_ID.fullmatch(subject) is not None
    if is_job:
        _check_schedd(subject, decisions)
    about = _decision_about_job if is_job else _decision_about_slot
    periods = [
        about(decision_of(each)) if each.get("kind") in DECISIONS else _discard(each) for each in records
    ]
    newest = decisions[0] if is_job and decisions else None
    return DecisionHistory(
        subject=f"{'job' if is_job else 'slot'} {subject}",
        user=newest.user if newest else "",
        queue=newest.queue if newest else "",
        periods=tuple(_with_text(folder, each) for each in _folded(periods)),
        is_complete=is_complete,
    )


def _check_schedd(job: str, decisions: Iterable[Decision]) -> None:
    """Check that a job without a schedd is one job."""
    at = list(dict.fromkeys(each.schedd for each in decisions))
    if len(at) > 1 and "#" not in job:
        known = ", ".join(f"{printable(each)}#{job}" for each in at[:_NAMED])
        raise InvalidCallError(f"the log has job {job} of {len(at)} schedds: write {known}")


def _time(record: Record) -> str:
    return str(record.get("time") or "")


def _decision_about_job(decision: Decision) -> DecisionPeriod:
    reason = decision.reason
    name = _MATCHED if decision.slot else reason.verdict if reason else "waiting"
    found = _period(name, decision.time, decision.cycle, decision.bundle, reason)
    return attrs.evolve(found, slot=decision.slot, why=found.why or OTHER_JOBS)


def _decision_about_slot(decision: Decision) -> DecisionPeriod:
    in_queue = f" in {decision.queue}" if decision.queue else ""
    return attrs.evolve(
        _decision_about_job(decision),
        slot="",
        jobs=f"jobs of {decision.user or decision.submitter}{in_queue}",
        why=f"the last one was {decision.job_ids[0]}",
    )


def _discard(record: Record) -> DecisionPeriod:
    reason = decision_reason(record.get("reason") or {})
    return _period(
        _SET_ASIDE,
        _time(record),
        int(record.get("cycle", 0)),
        str(record.get("bundle", "")),
        reason,
    )


def _period(
    decision: str, time: str, cycle: int, bundle: str, reason: DecisionReason | None
) -> DecisionPeriod:
    """Return the period of one decision."""
    return DecisionPeriod(
        decision=decision,
        times=1,
        first=time,
        last=time,
        cycle=cycle,
        why=reason.text if reason else "",
        code=reason.code if reason else "",
        plugin=reason.plugin if reason else "",
        rule=reason.rule if reason else "",
        source=reason.source if reason else "",
        bundle=bundle,
    )


def _folded(decisions: Iterable[DecisionPeriod]) -> tuple[DecisionPeriod, ...]:
    """Return the periods of decisions, which come the newest one first."""
    found: dict[Hashable, DecisionPeriod] = {}
    for each in decisions:
        key = (
            each.decision,
            each.plugin,
            each.rule,
            each.code,
            each.source,
            each.bundle,
            each.jobs,
        )
        newer = found.get(key)
        found[key] = (
            each if newer is None else attrs.evolve(newer, times=newer.times + each.times, first=each.first)
        )
    return tuple(found.values())


def _with_text(folder: Path, period: DecisionPeriod) -> DecisionPeriod:
    return attrs.evolve(period, text=rule_text(folder, period.bundle, period.source))
