"""Resources about the audit log: its records, and decisions."""

from __future__ import annotations

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.decisions import DecisionPage, decision_page
from negotiator.service.api.records import AuditRecordQuery, AuditRecords, RecordQuery
from negotiator.service.api.resource import ApiRequest


def records(request: ApiRequest[AuditRecordQuery]) -> AuditRecords:
    """Return the newest records with the given properties."""
    given = request.given
    kinds = frozenset({given.kind}) if given.kind else frozenset()
    query = _query(given, kinds, given.text)
    found = audit_page(request.overviews.targets.audit_log, query, given.rows)
    return AuditRecords(found.records, found.before, found.searched)


def decisions(request: ApiRequest[RecordQuery]) -> DecisionPage:
    """Return the newest decisions with the given properties."""
    given = request.given
    return decision_page(request.overviews.targets.audit_log, _query(given), given.rows)


def _query(given: RecordQuery, kinds: frozenset[str] = frozenset(), text: str = "") -> AuditQuery:
    return AuditQuery(
        kinds=kinds,
        job=given.job,
        user=given.user,
        queue=given.queue,
        slot=given.slot,
        text=text,
        since=given.since,
        until=given.until,
        before=given.before,
    )
