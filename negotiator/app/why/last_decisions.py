"""The last decisions about a job or a slot, from the audit log beside a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.pool_view import PoolView
from negotiator.audit.folder import AuditError


def last_decisions(view: PoolView, query: AuditQuery, limit: int) -> Sequence[Mapping[str, Any]]:
    """Return the newest records that a query accepts; none without a state or a log, such as for a pool of files."""
    if view.targets.state_location is None:
        return ()
    try:
        return audit_page(view.targets.audit_log, query, limit).records
    except AuditError:
        return ()
