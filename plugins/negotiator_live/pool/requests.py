"""The request ads of schedds as job ads of a pool: their owner is the submitter that the schedd names."""

from __future__ import annotations

from negotiator_live.pool.submitters import Submitter
from negotiator_live.wire.ads import WireAd, quoted


def job_id(request: WireAd) -> str:
    """Return the id of the job of a request: ``cluster.proc``."""
    return f"{request.integer('ClusterId')}.{request.integer('ProcId')}"


def job_text(request: WireAd, submitter: Submitter) -> str:
    """Return a request in long form, as a job of this submitter and schedd, whatever the user wrote into the job's ad."""
    identity = {
        "MyType": '"Job"',
        "GlobalJobId": quoted(f"{submitter.schedd}#{job_id(request)}#{request.integer('QDate') or 0}"),
    }
    if _submitter_of(request) != submitter.name.lower():
        identity["AccountingGroup"] = quoted(submitter.name)
    kept = {name: text for name, text in request.items() if name.lower() not in _REPLACED}
    return WireAd({**kept, **identity}).text() + "\n"


#: A request has no JobStatus: with one, the ad would be that of one job (``_condor_RESOURCE_COUNT`` is the user's then).
_REPLACED = frozenset({"mytype", "globaljobid", "jobstatus"})


def _submitter_of(request: WireAd) -> str:
    """Return the submitter that the ad itself names: the accounting group or the user, at the user's domain."""
    user = request.string("User") or request.string("Owner")
    name = request.string("AccountingGroup") or user
    domain = user.rpartition("@")[2]
    return (name if "@" in name or "@" not in user else f"{name}@{domain}").lower()
