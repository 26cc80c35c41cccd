"""Use case: what was decided about a job or a slot, and under which text of which rule, from the audit log alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.decisions import Decision, DecisionPage, DecisionReason, decision_page, decision_reason
from negotiator.app.job_lookup import JOB_ID
from negotiator.app.record_words import Record
from negotiator.audit.denials import OTHER_JOBS
from negotiator.audit.rule_text import RuleText as RuleText
from negotiator.audit.rule_text import rule_text
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
    folder: Path, subject: str, since: float | None = None, until: float | None = None
) -> DecisionHistory:
    """Return what was decided about a job (``12.7``, ``schedd#12.7``, a cluster ``12``) or a slot; the chain is not verified.

    :param folder: the folder of the audit log.
    :param since: seconds since the epoch, included; ``until`` excluded.
    :raises AuditError: the log is missing or cannot be read.
    :raises InvalidCallError: several schedds have such a job; the message names them.
    :raises NotFoundError: no record names it.
    """
    bounds = AuditQuery(since=since, until=until)
    is_job = JOB_ID.fullmatch(subject) is not None
    found = (_of_job if is_job else _of_slot)(folder, subject, bounds)
    if not found.periods:
        unread = "" if found.is_complete else ", as far as it was searched: use --since and --until"
        raise NotFoundError(f"no decision in {folder} names {subject!r}{unread}")
    return attrs.evolve(found, periods=tuple(_with_text(folder, each) for each in found.periods))


def _of_job(folder: Path, subject: str, bounds: AuditQuery) -> DecisionHistory:
    schedd, _, job = subject.rpartition("#")
    page = decision_page(folder, attrs.evolve(bounds, job=job), _MOST)
    decisions = [each for each in page.decisions if not schedd or each.schedd.lower() == schedd.lower()]
    at = list(dict.fromkeys(each.schedd for each in decisions))
    if len(at) > 1:
        known = ", ".join(f"{printable(each)}#{job}" for each in at[:_NAMED])
        raise InvalidCallError(f"the log has job {job} of {len(at)} schedds: write {known}")
    newest = decisions[0] if decisions else None
    found = _history(folder, f"job {subject}", job, bounds, list(map(_decision_about_job, decisions)), page)
    return attrs.evolve(found, user=newest.user if newest else "", queue=newest.queue if newest else "")


def _of_slot(folder: Path, subject: str, bounds: AuditQuery) -> DecisionHistory:
    page = decision_page(folder, attrs.evolve(bounds, slot=subject), _MOST)
    return _history(
        folder, f"slot {subject}", subject, bounds, list(map(_decision_about_slot, page.decisions)), page
    )


def _history(
    folder: Path,
    subject: str,
    name: str,
    bounds: AuditQuery,
    decisions: list[DecisionPeriod],
    page: DecisionPage,
) -> DecisionHistory:
    """Return the history of decisions, and of the records in which the ad ``name`` was set aside."""
    discards = audit_page(folder, attrs.evolve(bounds, name=name, kinds=_DISCARDS), _MOST)
    found = sorted([*decisions, *map(_discard, discards.records)], key=lambda each: each.last, reverse=True)
    return DecisionHistory(
        subject=subject,
        periods=_folded(found),
        is_complete=page.before is None and discards.before is None,
    )


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
        str(record.get("time", "")),
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
