"""The request ads of schedds as job ads of a pool: their submitter is the one that the schedd was asked about."""

from __future__ import annotations

from typing import Final

from negotiator.plugin import PoolAds
from negotiator_live.pool.submitters import Submitter
from negotiator_live.wire.ads import WireAd, quoted

_COUNT: Final = "_condor_RESOURCE_COUNT"
#: A request has no JobStatus: with one, the ad would be that of one job (its count is the user's then).
_REPLACED: Final = frozenset({"mytype", "globaljobid", "jobstatus", _COUNT.lower()})


def job_id(request: WireAd) -> str:
    """Return the id of the job of a request: ``cluster.proc``; the proc of a request for no job is negative."""
    return f"{request.integer('ClusterId')}.{request.integer('ProcId')}"


def job_count(request: WireAd) -> int:
    """Return the number of jobs that a request stands for. That of a parallel job has none: it is sent again for each node."""
    return request.integer(_COUNT) or 1


def job_text(request: WireAd, submitter: Submitter) -> str:
    """Return a request in long form, as one of this submitter and schedd, whatever the user wrote into the job's ad."""
    identity = {
        "MyType": '"Job"',
        "GlobalJobId": quoted(f"{submitter.schedd}#{job_id(request)}#{request.integer('QDate') or 0}"),
        _COUNT: str(job_count(request)),
        PoolAds.SUBMITTER: quoted(submitter.name),
    }
    kept = {name: text for name, text in request.items() if name.lower() not in _REPLACED}
    return WireAd({**kept, **identity}).text() + "\n"
