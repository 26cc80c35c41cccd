"""Use case: the decisions about a job, a user, a queue or a slot, as the audit log has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.audit.denials import decisive_reason

_MATCH: Final = "match"
#: The kinds of the records of decisions.
DECISIONS: Final = frozenset({_MATCH, "denial"})


@attrs.frozen(kw_only=True)
class DecisionReason:
    """A reason: its kind, a sentence, and the rule with its place in the bundle.

    ``removed`` are the slots that it took and that were candidates until then, ``rejected`` those that it rejects independently of other
    reasons; both of a denial.
    """

    verdict: str
    mode: str
    code: str
    text: str
    station: str
    plugin: str
    rule: str
    source: str
    removed: int
    rejected: int


@attrs.frozen(kw_only=True)
class Decision:
    """A match (``slot`` is the slot), or the denial of jobs (``slot`` is empty).

    ``record`` is the number of the audit record, ``time`` that of the cycle (RFC 3339), ``bundle`` the digest of the policy bundle.
    ``jobs`` counts the jobs, ``job_ids`` are their ids as ranges; ``matched`` counts the jobs of the same request that got slots. ``reason`` is the one that decided: of a denial the one that took the
    last slots, null if other jobs took them. ``reasons`` are all of a denial, those that removed most slots first; of a match those that
    would have denied it, of rules in mode warn or dryrun. ``reasons_left_out`` counts those that were not recorded.
    """

    record: int
    kind: str
    cycle: int
    time: str
    bundle: str
    user: str
    submitter: str
    schedd: str
    queue: str
    slot: str
    jobs: int
    job_ids: tuple[str, ...]
    candidates: int
    matched: int
    reason: DecisionReason | None
    reasons: tuple[DecisionReason, ...]
    reasons_left_out: int


@attrs.frozen
class DecisionPage:
    """Some decisions, the newest first; ``before`` and ``searched`` are those of an ``AuditPage``."""

    decisions: tuple[Decision, ...]
    before: int | None
    searched: bool


def decision_page(folder: Path, query: AuditQuery, limit: int) -> DecisionPage:
    """Return the newest decisions that a query accepts, of any kind.

    :param folder: the folder of the audit log.
    :raises AuditError: the log is missing or cannot be read.
    """
    found = audit_page(folder, attrs.evolve(query, kinds=DECISIONS), limit)
    return DecisionPage(tuple(map(decision_of, found.records)), found.before, found.searched)


def decision_of(record: Mapping[str, Any]) -> Decision:
    """Return the decision of a record; earlier versions of the program wrote fewer fields."""
    is_match = record.get("kind") == _MATCH
    written = record.get("warnings" if is_match else "reasons") or ()
    reasons = tuple(map(decision_reason, written))
    job = _text(record, "job" if is_match else "first_job")
    # One of the reasons themselves: pages mark it among them.
    decisive = decisive_reason(record)
    among = (reason for each, reason in zip(written, reasons, strict=True) if each is decisive)
    return Decision(
        record=_count(record, "seq"),
        kind=_text(record, "kind"),
        cycle=_count(record, "cycle"),
        time=_text(record, "time"),
        bundle=_text(record, "bundle"),
        user=_text(record, "user"),
        submitter=_text(record, "submitter"),
        schedd=_text(record, "schedd"),
        queue=_text(record, "queue"),
        slot=_text(record, "slot"),
        jobs=1 if is_match else _count(record, "jobs"),
        job_ids=tuple(map(str, record.get("job_ids") or (job,))),
        candidates=_count(record, "candidates"),
        matched=_count(record, "matched"),
        reason=decision_reason(record["reason"]) if record.get("reason") else next(among, None),
        reasons=reasons,
        reasons_left_out=_count(record, "reasons_left_out"),
    )


def decision_reason(values: Mapping[str, Any]) -> DecisionReason:
    """Return the reason of a record."""
    provenance = values.get("provenance") or {}
    return DecisionReason(
        verdict=_text(values, "verdict"),
        mode=_text(values, "mode"),
        code=_text(values, "code"),
        text=_text(values, "text"),
        station=_text(provenance, "station"),
        plugin=_text(provenance, "plugin"),
        rule=_text(provenance, "rule"),
        source=_text(provenance, "source"),
        removed=_count(values, "removed"),
        rejected=_count(values, "rejected"),
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return "" if value is None else str(value)


def _count(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) else 0
